//! The server: threads that take calls, memory, and OpenZFS's reading ahead.

use super::disks::Disks;
use super::{Call, Event, Stream, Streamed};
use birthmark_storage::events::Events;
use birthmark_storage::readahead::{Ahead, Held, Read, Zfetch, ZfetchRules};
use birthmark_storage::station::Station;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use std::collections::VecDeque;
use std::ops::Range;

/// The only file.
const FILE: u64 = 0;

/// A server.
pub struct Server<'a> {
    setup: &'a Stream,
    random: Random,
    policy: Zfetch,
    records: Records,
    disks: Disks,
    wire: Station,
    idle: usize,
    socket: VecDeque<usize>,
    /// Number of missing records of each call.
    missing: Vec<u64>,
    /// The end of the furthest call begun.
    furthest: u64,
    overtaken: u64,
    ahead: u64,
}

/// Records of the file, and the calls that wait for each.
struct Records {
    each: Vec<Record>,
    bytes: u64,
}

#[derive(Clone, Default)]
struct Record {
    wanted: bool,
    here: bool,
    waiting: Vec<usize>,
}

impl Held for Records {
    fn held(&self, _: u64, byte: u64) -> bool {
        self.each.get((byte / self.bytes) as usize).is_some_and(|record| record.wanted)
    }
}

impl Records {
    /// The records of a range of bytes, up to the end of the file.
    fn of(&self, bytes: Range<u64>) -> Range<u64> {
        let end = bytes.end.div_ceil(self.bytes).min(self.each.len() as u64);
        bytes.start / self.bytes..end
    }
}

impl<'a> Server<'a> {
    /// A server without any of the file in memory.
    pub fn new(setup: &'a Stream) -> Self {
        let rules = ZfetchRules { max_reorder: setup.max_reorder, ..ZfetchRules::V2_4 };
        let records = vec![Record::default(); setup.bytes.div_ceil(setup.record) as usize];
        Self {
            setup,
            random: Random::seed_from_u64(setup.seed),
            policy: Zfetch::new(rules),
            records: Records { each: records, bytes: setup.record },
            disks: Disks::new(setup),
            wire: Station::new(1),
            idle: setup.threads,
            socket: VecDeque::new(),
            missing: Vec::new(),
            furthest: 0,
            overtaken: 0,
            ahead: 0,
        }
    }

    /// Process an event of the server.
    pub fn happen(&mut self, now: u64, event: Event, calls: &[Call], events: &mut Events<Event>) {
        match event {
            Event::Arrive(call) => {
                self.missing.resize(calls.len(), 0);
                self.socket.push_back(call);
                if self.idle > 0 {
                    self.idle -= 1;
                    self.take(now, events);
                }
            }
            Event::Begin(call) => self.begin(call, now, calls, events),
            Event::Read { disk, record } => {
                self.disks.done(disk, now, events);
                let record = &mut self.records.each[record as usize];
                record.here = true;
                for call in std::mem::take(&mut record.waiting) {
                    self.missing[call] -= 1;
                    if self.missing[call] == 0 {
                        self.answer(call, now, calls, events);
                    }
                }
            }
            Event::Step | Event::Answer(_) => {}
        }
    }

    /// Add the server's counters to the results.
    pub fn tell(&self, found: &mut Streamed) {
        found.overtaken = self.overtaken;
        found.ahead = self.ahead;
        found.records = self.records.each.len() as u64;
        found.positioned = self.disks.positioned;
    }

    /// Let a thread take the first call of the socket, and begin with it after its wake-up time.
    fn take(&mut self, now: u64, events: &mut Events<Event>) {
        let Some(call) = self.socket.pop_front() else {
            self.idle += 1;
            return;
        };
        let uniform = ((self.random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let wake = (-uniform.ln() * self.setup.wake as f64) as u64;
        events.add(now + wake, Event::Begin(call));
    }

    fn begin(&mut self, call: usize, now: u64, calls: &[Call], events: &mut Events<Event>) {
        let Call { offset, bytes } = calls[call];
        let end = offset + bytes;
        self.overtaken += u64::from(offset < self.furthest);
        self.furthest = self.furthest.max(end);
        let ahead = self.policy.read(FILE, &Read { offset, bytes, at: now }, &self.records);
        for record in self.records.of(offset..end) {
            self.want(record, now, events);
            let own = &mut self.records.each[record as usize];
            if !own.here {
                own.waiting.push(call);
                self.missing[call] += 1;
            }
        }
        for record in self.records.of(ahead) {
            self.ahead += u64::from(self.want(record, now, events));
        }
        if self.missing[call] == 0 {
            self.answer(call, now, calls, events);
        }
    }

    /// Request a record; return whether that is new.
    fn want(&mut self, record: u64, now: u64, events: &mut Events<Event>) -> bool {
        let own = &mut self.records.each[record as usize];
        let first = !std::mem::replace(&mut own.wanted, true);
        if first {
            self.disks.want(record, now, events);
        }
        first
    }

    /// Answer a complete call, and take the next.
    fn answer(&mut self, call: usize, now: u64, calls: &[Call], events: &mut Events<Event>) {
        let passing = calls[call].bytes * 1_000_000_000 / self.setup.wire;
        let end = self.wire.take(now, passing).end;
        events.add(end + self.setup.work + self.setup.latency, Event::Answer(call));
        self.take(now, events);
    }
}
