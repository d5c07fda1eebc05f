//! Files on a drive, read through a block cache: [`crate::cluster`] says what, an order of the
//! [`crate::queue`] when, and the link between drive and memory carries it, which a network may share.

mod memory;
mod parts;
#[cfg(test)]
mod tests;

pub use memory::{Memory, Place};
pub use parts::Parts;

use crate::cluster::{ClusterRules, Wanted};
use crate::drive::{Drive, OutsideError, Request, Service};
use crate::events::Events;
use crate::queue::{Order, Waiting};
use crate::station::Station;
use std::ops::Range;

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// A file, whose blocks lie behind one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its first sector.
    pub sector: u64,
    /// Its blocks.
    pub blocks: u64,
}

/// What happens in a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreEvent {
    /// A block of a read has come from the drive.
    Block {
        /// The read.
        read: usize,
        /// Whether it is the last one.
        last: bool,
    },
    /// All blocks of a read are in memory.
    Here(usize),
}

/// A task whose block is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The task.
    pub task: usize,
    /// What it waited for.
    pub parts: Parts,
}

/// Files, a cache and a drive.
pub struct Store {
    files: Vec<File>,
    memory: Memory,
    rules: ClusterRules,
    order: Box<dyn Order>,
    drive: Drive,
    busy: bool,
    reads: Vec<Reading>,
    free: Vec<usize>,
    ahead: Vec<Range<u64>>,
    /// What drive and network share.
    pub link: Station,
    /// Nanoseconds of it for a block.
    per_block: u64,
}

/// A read of the drive, and who waits for it.
#[derive(Clone, Debug)]
struct Reading {
    file: u64,
    blocks: Range<u64>,
    came: u64,
    service: Service,
    waiting: Vec<Waiter>,
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    task: usize,
    since: u64,
    /// What is to be asked for again then: the block was under way already.
    again: Option<Wanted>,
}

impl Store {
    /// Nothing of these files is in memory. A block takes the link for `per_block` nanoseconds.
    pub fn new(
        files: Vec<File>,
        rules: ClusterRules,
        order: Box<dyn Order>,
        drive: Drive,
        per_block: u64,
    ) -> Result<Self, OutsideError> {
        for file in &files {
            let sectors = file.blocks * rules.block / SECTOR;
            let end = drive.mechanism().geometry().sectors();
            Request { sector: file.sector, sectors, write: false }.check(end)?;
        }
        Ok(Self {
            memory: Memory::new(files.iter().map(|file| file.blocks)),
            files,
            rules,
            order,
            drive,
            busy: false,
            reads: Vec::new(),
            free: Vec::new(),
            ahead: Vec::new(),
            link: Station::new(1),
            per_block,
        })
    }

    /// Let a task ask for a block; whether it is there. If not, the task is told when it is.
    pub fn ask<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        wanted: Wanted,
        task: usize,
        events: &mut Events<E>,
    ) -> bool {
        let place = self.memory.place(wanted.file, wanted.block);
        let (read, again) = match place {
            Place::UnderWay(read) => (Some(read), Some(wanted)),
            _ => (self.read(now, &wanted, events), None),
        };
        let Some(read) = read else { return true };
        self.reads[read].waiting.push(Waiter { task, since: now, again });
        false
    }

    /// Let something happen; tasks whose block is there now are added to `ready`.
    pub fn happen<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        event: StoreEvent,
        events: &mut Events<E>,
        ready: &mut Vec<Ready>,
    ) {
        match event {
            StoreEvent::Block { read, last } => {
                let turn = self.link.take(now, self.per_block);
                if last {
                    events.add(turn.end, StoreEvent::Here(read).into());
                    self.busy = false;
                    self.start(now, events);
                }
            }
            StoreEvent::Here(read) => self.here(now, read, events, ready),
        }
    }

    /// What a read of a block reads; the read that brings it, if it was not there.
    fn read<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        wanted: &Wanted,
        events: &mut Events<E>,
    ) -> Option<usize> {
        if self.memory.is_last(wanted.file, wanted.block) {
            // `ffs_read` reads a file's last block by itself.
            let own = wanted.block..wanted.block + 1;
            let missing = self.memory.place(wanted.file, wanted.block) == Place::Drive;
            return missing.then(|| self.submit(now, wanted.file, own, events));
        }
        let mut ahead = std::mem::take(&mut self.ahead);
        let waited = self.rules.read(wanted, &mut self.memory, &mut ahead);
        let read = waited.map(|blocks| self.submit(now, wanted.file, blocks, events));
        for blocks in ahead.drain(..) {
            self.submit(now, wanted.file, blocks, events);
        }
        self.ahead = ahead;
        read
    }

    fn submit<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        file: u64,
        blocks: Range<u64>,
        events: &mut Events<E>,
    ) -> usize {
        let sectors = self.rules.block / SECTOR;
        let request = Request {
            sector: self.files[file as usize].sector + blocks.start * sectors,
            sectors: (blocks.end - blocks.start) * sectors,
            write: false,
        };
        let number = self.free.pop().unwrap_or(self.reads.len());
        let service = Service::default();
        let reading =
            Reading { file, blocks: blocks.clone(), came: now, service, waiting: Vec::new() };
        if number == self.reads.len() {
            self.reads.push(reading);
        } else {
            let waiting = std::mem::take(&mut self.reads[number].waiting);
            self.reads[number] = Reading { waiting, ..reading };
        }
        for block in blocks {
            self.memory.put(file, block, Place::UnderWay(number));
        }
        self.order.push(Waiting { number, since: now, request });
        self.start(now, events);
        number
    }

    /// Give the drive what is next, if it is idle.
    fn start<E: From<StoreEvent>>(&mut self, now: u64, events: &mut Events<E>) {
        if self.busy {
            return;
        }
        let Some(waiting) = self.order.pop(now, &self.drive) else { return };
        // That all files are on the drive was checked.
        let mut service = self.drive.serve(waiting.request, now).unwrap_or_default();
        let end = now + service.response();
        let passing = service.transfer + service.bus;
        service.queue += now - waiting.since;
        self.busy = true;
        let reading = &mut self.reads[waiting.number];
        reading.service = service;
        let blocks = reading.blocks.end - reading.blocks.start;
        for left in (0..blocks).rev() {
            let at = end - passing * left / blocks;
            let event = StoreEvent::Block { read: waiting.number, last: left == 0 };
            events.add(at, event.into());
        }
    }

    fn here<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        read: usize,
        events: &mut Events<E>,
        ready: &mut Vec<Ready>,
    ) {
        let reading = &mut self.reads[read];
        for block in reading.blocks.clone() {
            self.memory.put(reading.file, block, Place::Here);
        }
        let (came, service) = (reading.came, reading.service);
        let link = now - came - service.response();
        let mut waiting = std::mem::take(&mut reading.waiting);
        for waiter in waiting.drain(..) {
            if let Some(wanted) = waiter.again {
                self.read(now, &wanted, events);
            }
            let parts = Parts::of_read(&service, link, waiter.since - came);
            ready.push(Ready { task: waiter.task, parts });
        }
        self.reads[read].waiting = waiting;
        self.free.push(read);
    }
}
