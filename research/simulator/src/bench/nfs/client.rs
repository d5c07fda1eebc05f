//! The client: processes that read, and threads that read ahead for them.

use super::window::Window;
use super::{Calls, Event, Nfs};
use crate::bench::Setup;
use birthmark_storage::events::Events;
use birthmark_storage::station::Station;
use rand_xoshiro::rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use std::collections::VecDeque;

/// Greatest stagger of processes, in nanoseconds.
const START: u64 = 1_000_000;

/// A slice of the processor's time, in nanoseconds: `roundrobin` of FreeBSD 4 has ten a second.
const SLICE: u64 = 100_000_000;

/// The client.
pub struct Client<'a> {
    nfs: &'a Nfs,
    random: Random,
    pub processor: Station,
    readers: Vec<Reader>,
    strides: u64,
    /// Calls of a file.
    calls: u64,
    asked: Vec<Asked>,
    idle: usize,
    /// Calls that wait for a thread.
    handed: VecDeque<usize>,
    /// Processes that wait to hand a call over.
    sleeping: VecDeque<usize>,
    window: Window,
    /// Finishing times of processes.
    pub ends: Vec<u64>,
    /// Number of retransmitted calls.
    pub resent: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Reader {
    /// Number of blocks that it has received.
    had: u64,
    waiting: Option<usize>,
}

/// Progress of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    No,
    ByThread,
    ByReader,
    Got,
}

impl<'a> Client<'a> {
    /// A client whose processes start.
    pub fn new(setup: &Setup, nfs: &'a Nfs, events: &mut Events<Event>) -> Self {
        let mut random = setup.random(2);
        let readers = setup.readers as usize;
        for reader in 0..readers {
            events.add(random.next_u64() % START, Event::Step(reader));
        }
        let window = Window::new(nfs.transport, random.next_u64());
        if let Some(tick) = window.next_tick(0) {
            events.add(tick, Event::Tick);
        }
        Self {
            nfs,
            random,
            processor: Station::new(1),
            readers: vec![Reader::default(); readers],
            strides: setup.strides,
            calls: setup.file_bytes() / nfs.call_bytes,
            asked: vec![Asked::No; (setup.bytes / nfs.call_bytes) as usize],
            idle: nfs.iods,
            handed: VecDeque::new(),
            sleeping: VecDeque::new(),
            window,
            ends: Vec::new(),
            resent: 0,
        }
    }

    /// Process an event of the client.
    pub fn happen(
        &mut self,
        now: u64,
        event: Event,
        calls: &mut Calls,
        events: &mut Events<Event>,
    ) {
        match event {
            Event::Step(reader) => self.step(reader, now, calls, events),
            Event::Woken(call) => self.send(call, now, events),
            Event::Send(call) => {
                calls.spent(call, now, |parts| &mut parts.processor);
                if self.window.send(call) {
                    self.leave(call, now, calls, events);
                }
            }
            Event::Tick => {
                for leaving in self.window.tick() {
                    if leaving.again {
                        self.resent += 1;
                        events.add(now + self.nfs.latency, Event::Again(leaving.call));
                    } else {
                        self.leave(leaving.call, now, calls, events);
                    }
                }
                let more = self.ends.len() < self.readers.len();
                if let Some(tick) = self.window.next_tick(now).filter(|_| more) {
                    events.add(tick, Event::Tick);
                }
            }
            Event::Answer(call) => {
                calls.spent(call, now, |parts| &mut parts.network);
                let end = self.processor.take(now, self.nfs.client_receive).end;
                events.add(end, Event::Got(call));
            }
            Event::Stray => {
                self.processor.take(now, self.nfs.client_receive);
            }
            Event::Got(call) => {
                calls.spent(call, now, |parts| &mut parts.processor);
                self.got(call, now, events);
            }
            _ => {}
        }
    }

    /// Let a process go on with its next block, and read the one after it ahead.
    fn step(&mut self, reader: usize, now: u64, calls: &mut Calls, events: &mut Events<Event>) {
        let had = self.readers[reader].had;
        if had == self.calls {
            self.ends.push(now);
            return;
        }
        if self.strides == 1 && had + 1 < self.calls && self.nfs.iods > 0 {
            let next = self.call(reader, had + 1);
            if self.asked[next] == Asked::No && !self.hand_over(next, now, calls, events) {
                self.sleeping.push_back(reader);
                return;
            }
        }
        let call = self.call(reader, had);
        match self.asked[call] {
            Asked::Got => self.copy(reader, now, events),
            Asked::No => {
                self.asked[call] = Asked::ByReader;
                self.readers[reader].waiting = Some(call);
                calls.begin(call, now);
                self.send(call, now, events);
            }
            _ => self.readers[reader].waiting = Some(call),
        }
    }

    /// The call for the block that a process reads after `had` others.
    fn call(&self, reader: usize, had: u64) -> usize {
        let part = self.calls / self.strides;
        let block = had % self.strides * part + had / self.strides;
        reader * self.calls as usize + block as usize
    }

    /// Hand a call over to a thread; return whether there is room for it.
    fn hand_over(
        &mut self,
        call: usize,
        now: u64,
        calls: &mut Calls,
        events: &mut Events<Event>,
    ) -> bool {
        if self.idle > 0 {
            self.idle -= 1;
            let at = now + self.drawn(self.nfs.iod_delay);
            events.add(at, Event::Woken(call));
        } else if self.handed.len() < 2 * self.nfs.iods {
            self.handed.push_back(call);
        } else {
            return false;
        }
        calls.begin(call, now);
        self.asked[call] = Asked::ByThread;
        true
    }

    fn send(&mut self, call: usize, now: u64, events: &mut Events<Event>) {
        let end = self.processor.take(now, self.nfs.client_send).end;
        events.add(end, Event::Send(call));
    }

    fn leave(&self, call: usize, now: u64, calls: &mut Calls, events: &mut Events<Event>) {
        calls.spent(call, now, |parts| &mut parts.network);
        events.add(now + self.nfs.latency, Event::Arrive(call));
    }

    /// Process an answer: its thread takes the next call, and its process goes on.
    fn got(&mut self, call: usize, now: u64, events: &mut Events<Event>) {
        self.window.answered(call);
        if self.asked[call] == Asked::ByThread {
            match self.handed.pop_front() {
                Some(next) => self.send(next, now, events),
                None => self.idle += 1,
            }
            if self.handed.len() <= self.nfs.iods {
                // `nfssvc_iod` wakes all of them, and only when half of the queue is done.
                for reader in self.sleeping.drain(..) {
                    events.add(now, Event::Step(reader));
                }
            }
        }
        self.asked[call] = Asked::Got;
        let reader = call / self.calls as usize;
        if self.readers[reader].waiting == Some(call) {
            self.readers[reader].waiting = None;
            let at = now + self.drawn(self.nfs.reader_delay);
            events.add(at, Event::Step(reader));
        }
    }

    /// Copy a block for a process, which then goes on.
    ///
    /// If its slice of time ends meanwhile, it first waits for processes that never sleep. A
    /// process that wakes up in the kernel does not wait for these: it has a better priority there.
    fn copy(&mut self, reader: usize, now: u64, events: &mut Events<Event>) {
        self.readers[reader].had += 1;
        let turn = self.processor.take(now, self.nfs.client_copy);
        let slice_ends = turn.end / SLICE > turn.start / SLICE;
        let others = if slice_ends { self.nfs.client_busy * SLICE } else { 0 };
        events.add(turn.end + others, Event::Step(reader));
    }

    /// A time from the exponential distribution of a mean.
    fn drawn(&mut self, mean: u64) -> u64 {
        let uniform = ((self.random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        (-uniform.ln() * mean as f64) as u64
    }
}
