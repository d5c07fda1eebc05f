//! The server: threads that take calls, and lock the file while they read it.

use super::{Calls, Event, Nfs};
use crate::bench::{Setup, SETS};
use birthmark_storage::cluster::Wanted;
use birthmark_storage::events::Events;
use birthmark_storage::readahead::{Heuristic, Read};
use birthmark_storage::station::Station;
use birthmark_storage::store::Store;
use std::collections::VecDeque;

/// The server.
pub struct Server<'a> {
    nfs: &'a Nfs,
    pub store: Store,
    pub processor: Station,
    pub heuristic: Box<dyn Heuristic>,
    /// Ejections of files before the run.
    pub ejected_before: u64,
    /// Sum of the heuristic's counts.
    pub counts: u64,
    /// Reads in the order of their arrival, each with its file.
    pub arrived: Vec<(u64, Read)>,
    wire: Station,
    idle: usize,
    /// Calls that no thread has taken yet, and whether they came before.
    socket: VecDeque<(usize, bool)>,
    answered: Vec<bool>,
    /// For each file, whether it is locked, and the calls that wait for the lock.
    files: Vec<(bool, VecDeque<usize>)>,
    first_file: u64,
    /// Calls of a file.
    calls: u64,
    block: u64,
    per_call: u64,
}

impl<'a> Server<'a> {
    /// A server that has served the sets of files before.
    pub fn new(setup: &Setup, nfs: &'a Nfs, store: Store) -> Self {
        let mut heuristic = nfs.heuristic.make(nfs.table);
        let first_file = setup.first_file();
        warm(&mut *heuristic, first_file, setup.bytes, nfs.call_bytes);
        Self {
            nfs,
            store,
            processor: Station::new(1),
            ejected_before: heuristic.ejected(),
            heuristic,
            counts: 0,
            arrived: Vec::with_capacity((setup.bytes / nfs.call_bytes) as usize),
            wire: Station::new(1),
            idle: nfs.nfsds,
            socket: VecDeque::new(),
            answered: vec![false; (setup.bytes / nfs.call_bytes) as usize],
            files: vec![(false, VecDeque::new()); setup.readers as usize],
            first_file,
            calls: setup.file_bytes() / nfs.call_bytes,
            block: setup.cluster.block,
            per_call: setup.link_time(nfs.call_bytes),
        }
    }

    /// Process an event of the server.
    pub fn happen(
        &mut self,
        now: u64,
        event: Event,
        calls: &mut Calls,
        events: &mut Events<Event>,
    ) {
        match event {
            Event::Arrive(call) => {
                calls.spent(call, now, |parts| &mut parts.network);
                let read = self.read(call, now);
                self.arrived.push((self.file(call), read));
                self.socket.push_back((call, false));
                self.take_calls(now, calls, events);
            }
            Event::Again(call) => {
                self.socket.push_back((call, true));
                self.take_calls(now, calls, events);
            }
            Event::Known(call) if self.answered[call] => {
                self.heuristic.seen(self.first_file + self.file(call), &self.read(call, now));
                let end = self.processor.take(now, self.nfs.server_answer).end;
                events.add(end, Event::Repeated);
            }
            Event::Known(_) => self.rest(now, calls, events),
            Event::Repeated => {
                let end = self.store.link.take(now, self.per_call).end;
                events.add(end + self.nfs.wire + self.nfs.latency, Event::Stray);
                self.rest(now, calls, events);
            }
            Event::Lock(call) => {
                calls.spent(call, now, |parts| &mut parts.processor);
                self.lock(call, now, events);
            }
            Event::Served(call) => self.served(call, now, calls, events),
            Event::Wire(call) => {
                calls.spent(call, now, |parts| &mut parts.link);
                let end = self.wire.take(now, self.nfs.wire).end;
                events.add(end + self.nfs.latency, Event::Answer(call));
            }
            _ => {}
        }
    }

    /// Let idle threads take calls.
    fn take_calls(&mut self, now: u64, calls: &mut Calls, events: &mut Events<Event>) {
        while self.idle > 0 {
            let Some((call, again)) = self.socket.pop_front() else { return };
            self.idle -= 1;
            let end = self.processor.take(now, self.nfs.server_receive).end;
            if again {
                events.add(end, Event::Known(call));
            } else {
                calls.spent(call, now, |parts| &mut parts.lock);
                events.add(end, Event::Lock(call));
            }
        }
    }

    /// Free a thread after a call, and take the next one.
    fn rest(&mut self, now: u64, calls: &mut Calls, events: &mut Events<Event>) {
        self.idle += 1;
        self.take_calls(now, calls, events);
    }

    fn lock(&mut self, call: usize, now: u64, events: &mut Events<Event>) {
        let (locked, waiting) = &mut self.files[call / self.calls as usize];
        if *locked {
            waiting.push_back(call);
        } else {
            *locked = true;
            self.serve(call, now, events);
        }
    }

    /// Read for a call that holds the lock of its file.
    fn serve(&mut self, call: usize, now: u64, events: &mut Events<Event>) {
        let (file, read) = (self.file(call), self.read(call, now));
        let count = self.heuristic.seen(self.first_file + file, &read).into();
        self.counts += count;
        let wanted = Wanted { file, block: read.offset / self.block, bytes: read.bytes, count };
        if self.store.ask(now, wanted, call, events) {
            self.copy(call, now, events);
        }
    }

    /// Copy the block of a call, and make the answer.
    pub fn copy(&mut self, call: usize, now: u64, events: &mut Events<Event>) {
        let end = self.processor.take(now, self.nfs.server_answer).end;
        events.add(end, Event::Served(call));
    }

    /// Send the answer, unlock the file, and let the thread take the next call.
    fn served(&mut self, call: usize, now: u64, calls: &mut Calls, events: &mut Events<Event>) {
        calls.spent(call, now, |parts| &mut parts.processor);
        self.answered[call] = true;
        let end = self.store.link.take(now, self.per_call).end;
        events.add(end, Event::Wire(call));
        let (locked, waiting) = &mut self.files[call / self.calls as usize];
        match waiting.pop_front() {
            Some(next) => {
                calls.spent(next, now, |parts| &mut parts.lock);
                self.serve(next, now, events);
            }
            None => *locked = false,
        }
        self.rest(now, calls, events);
    }

    fn file(&self, call: usize) -> u64 {
        call as u64 / self.calls
    }

    fn read(&self, call: usize, at: u64) -> Read {
        let bytes = self.nfs.call_bytes;
        Read { offset: call as u64 % self.calls * bytes, bytes, at }
    }
}

/// Show a heuristic the reads before a run: all sets of files, then again those smaller than the
/// run's, with the files of a set in turn.
fn warm(heuristic: &mut dyn Heuristic, until: u64, set_bytes: u64, bytes: u64) {
    let mut first = 0;
    for (number, set) in SETS.iter().chain(&SETS).enumerate() {
        if number >= SETS.len() && first >= until {
            return;
        }
        for turn in 0..set_bytes / bytes {
            let read = Read { offset: turn / set * bytes, bytes, at: 0 };
            heuristic.seen(first + turn % set, &read);
        }
        first = if number + 1 == SETS.len() { 0 } else { first + set };
    }
}
