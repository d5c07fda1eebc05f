//! The disk as the kernel uses it: writes under way, waiting writes, and the clock.

use super::counters::{Counters, Kind};
use crate::disk::{Disk, Request, Statistics};
use std::collections::VecDeque;

pub use crate::disk::Ticket;

/// Bytes of writes under way at which writers wait, and at which they go on (`hirunningspace` and
/// `lorunningspace`).
const MOST_RUNNING: u64 = 1 << 20;
const LEAST_RUNNING: u64 = 512 << 10;
/// Seconds between polls of writes under way when nothing else happens.
const LOOK: f64 = 0.01;

/// A run of fragments, and its contents.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// The first fragment.
    pub address: u32,
    /// How many.
    pub fragments: u32,
    /// Its contents.
    pub kind: Kind,
    /// Its owner.
    pub owner: u32,
}

/// The writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// The operation, which goes on.
    Operation,
    /// The operation, which waits.
    Waiting,
    /// A daemon.
    Daemon,
}

/// A disk, and the clock.
#[derive(Debug)]
pub struct Device {
    drive: Option<Disk>,
    fsize: u64,
    /// Seconds since the trace began.
    pub now: f64,
    /// What was read and written.
    pub counters: Counters,
    running: Vec<(Ticket, u32)>,
    running_bytes: u64,
    waiting: VecDeque<Request>,
    /// Seconds that operations waited for.
    pub waited: f64,
}

impl Device {
    /// A device with fragments of `fsize` bytes. Without a drive nothing takes time.
    pub fn new(drive: Option<Disk>, fsize: u32, counters: Counters) -> Device {
        Device {
            drive,
            fsize: fsize.into(),
            now: 0.0,
            counters,
            running: Vec::new(),
            running_bytes: 0,
            waiting: VecDeque::new(),
            waited: 0.0,
        }
    }

    /// Starts a read.
    pub fn read(&mut self, extent: Extent) -> Option<Ticket> {
        let request = self.request(extent, false);
        let now = self.now;
        self.drive.as_mut().map(|drive| drive.submit(request, now))
    }

    /// Waits for a read or a write.
    pub fn wait(&mut self, ticket: Option<Ticket>) {
        if let (Some(drive), Some(ticket)) = (&mut self.drive, ticket) {
            let done = drive.wait(ticket).max(self.now);
            self.waited += done - self.now;
            self.now = done;
        }
    }

    /// Writes, at once or when there is room.
    pub fn write(&mut self, extent: Extent, writer: Writer) {
        let request = self.request(extent, true);
        if self.drive.is_none() {
            return;
        }
        if writer == Writer::Daemon {
            self.waiting.push_back(request);
            return self.pump();
        }
        let ticket = self.submit(request);
        if writer == Writer::Waiting {
            self.wait(ticket);
        }
        if self.running_bytes > MOST_RUNNING {
            while self.running_bytes > LEAST_RUNNING && !self.running.is_empty() {
                let first = self.running[0].0;
                self.wait(Some(first));
                self.retire();
            }
        }
    }

    /// What the drive did.
    pub fn statistics(&self) -> Option<Statistics> {
        self.drive.as_ref().map(Disk::statistics)
    }

    /// Advances to a time, and submits waiting writes.
    pub fn advance(&mut self, to: f64) {
        self.pump();
        while !self.waiting.is_empty() && self.now + LOOK < to {
            self.now += LOOK;
            self.pump();
        }
        self.now = self.now.max(to);
    }

    /// Submits waiting writes, as far as there is room.
    #[inline]
    pub fn pump(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        self.retire();
        while self.running_bytes <= MOST_RUNNING {
            let Some(request) = self.waiting.pop_front() else { break };
            self.submit(request);
        }
    }

    fn submit(&mut self, request: Request) -> Option<Ticket> {
        let ticket = self.drive.as_mut()?.submit(request, self.now);
        self.running.push((ticket, request.bytes));
        self.running_bytes += u64::from(request.bytes);
        Some(ticket)
    }

    fn retire(&mut self) {
        let Some(drive) = &mut self.drive else { return };
        drive.run_until(self.now);
        self.running.retain(|&(ticket, bytes)| {
            let done = drive.is_done(ticket);
            self.running_bytes -= if done { u64::from(bytes) } else { 0 };
            !done
        });
    }

    fn request(&mut self, extent: Extent, write: bool) -> Request {
        let start = u64::from(extent.address) * self.fsize;
        let bytes = u64::from(extent.fragments) * self.fsize;
        self.counters.count(start, bytes, write, extent.kind, extent.owner);
        Request { start, bytes: bytes as u32, write }
    }
}
