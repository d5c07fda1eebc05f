//! The server: events, from the arrival of a call to its answer.

use super::call::{Call, Class};
use super::disk::Spent;
use super::flight::{part, Flight};
use super::issue::{Start, Streams};
use super::locks::Locks;
use super::measured::{Measured, Outcome};
use super::parameters::{Issue, Parameters, ServerError};
use super::store::Store;
use super::threads::Threads;
use super::work::{chance, Work};
use crate::events::Events;
use crate::station::Station;
use slab::Slab;
use std::collections::{BTreeMap, VecDeque};

/// Purpose of random numbers: processor time of calls.
const WORK: u64 = 3;
/// Lookahead into the capture, so that a server quicker than the captured one gets calls sooner.
const WINDOW: u64 = 1_000_000_000;
/// Most calls that wait for others; beyond, the capture waits, too.
const WAITING_MOST: usize = 1 << 20;
/// Interval of checks for data to write back.
const TICK: u64 = 5_000_000_000;
/// Bytes of a call or an answer besides its data.
const HEADERS: u64 = 128;

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A call comes.
    Comes(usize),
    /// A call has come over the link.
    Came(usize),
    /// The processor has finished a call.
    Worked(usize),
    /// A disk has finished a request.
    Disk(usize, Spent),
    /// An answer has gone over the link.
    Answered(usize),
    /// Check for data to write back.
    Tick,
}

/// Results of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Each {
    /// Its arrival, in nanoseconds.
    pub came: u64,
    /// Its latency.
    pub latency: u64,
    /// Bytes of disk requests that it waited for.
    pub disk_bytes: u64,
}

/// A server, which is fed calls in the order of the capture.
pub struct Server {
    parameters: Parameters,
    issue: Issue,
    seed: u64,
    from: u64,
    events: Events<Event>,
    flights: Slab<Flight>,
    streams: Streams,
    unread: VecDeque<Call>,
    fed: u64,
    waiting: usize,
    threads: Threads,
    locks: Locks,
    connections: Locks,
    processors: Station,
    inward: Station,
    outward: Station,
    store: Store,
    ticking: bool,
    now: u64,
    first: Option<u64>,
    last: u64,
    answered: u64,
    most: usize,
    measured: Measured,
    each: Option<Vec<Each>>,
}

impl Server {
    /// An idle server with an empty cache, which measures calls captured from a time on.
    ///
    /// `seed` is that of random choices; `each`: whether to record every call, too.
    pub fn new(
        parameters: Parameters,
        issue: Issue,
        seed: u64,
        from: u64,
        each: bool,
    ) -> Result<Self, ServerError> {
        parameters.check()?;
        Ok(Self {
            store: Store::new(&parameters, seed)?,
            threads: Threads::new(parameters.threads),
            processors: Station::new(parameters.processors),
            issue,
            seed,
            from,
            parameters,
            events: Events::default(),
            flights: Slab::new(),
            streams: Streams::default(),
            unread: VecDeque::new(),
            fed: 0,
            waiting: 0,
            locks: Locks::default(),
            connections: Locks::default(),
            inward: Station::new(1),
            outward: Station::new(1),
            ticking: false,
            now: 0,
            first: None,
            last: 0,
            answered: 0,
            most: 0,
            measured: Measured::default(),
            each: each.then(Vec::new),
        })
    }

    /// Feed it a call, captured not before the previous one.
    pub fn feed(&mut self, call: Call) {
        self.unread.push_back(call);
    }

    /// Process the events that are due before the next call to be fed.
    pub fn advance(&mut self) {
        while !self.unread.is_empty() {
            self.step();
        }
    }

    /// Process all remaining events; return the results.
    pub fn finish(&mut self) -> Outcome {
        while !self.unread.is_empty() || self.events.next_at().is_some() {
            self.step();
        }
        self.outcome()
    }

    /// Results of each call, in the order of feeding, if requested.
    pub fn each(&self) -> &[Each] {
        self.each.as_deref().unwrap_or_default()
    }

    /// Take the next call from the capture, or process the next event.
    fn step(&mut self) {
        let due = self.events.next_at();
        match self.unread.front() {
            Some(call) if self.admits(call, due) => {
                let call = *call;
                self.unread.pop_front();
                self.admit(call);
            }
            _ => {
                if let Some((now, event)) = self.events.pop() {
                    self.now = now;
                    self.happen(event, now);
                    self.start_disks(now);
                }
            }
        }
    }

    /// Whether a call is taken from the capture before the next event.
    fn admits(&self, call: &Call, due: Option<u64>) -> bool {
        match (self.issue, due) {
            (Issue::Outstanding(most), due) => self.flights.len() < most.max(1) || due.is_none(),
            (_, None) => true,
            (Issue::Open, Some(due)) => call.at <= due,
            (Issue::Dependent, Some(due)) => {
                self.waiting < WAITING_MOST && call.at <= due.saturating_add(WINDOW)
            }
        }
    }

    fn admit(&mut self, call: Call) {
        let id = self.flights.insert(Flight::new(call, self.fed));
        self.fed += 1;
        if let Some(each) = &mut self.each {
            each.push(Each::default());
        }
        let at = match self.issue {
            Issue::Open => call.at,
            Issue::Outstanding(_) => self.now,
            Issue::Dependent => {
                let (start, node) = self.streams.admit(&call, id);
                self.flights[id].node = node;
                match start {
                    Start::At(at) => at,
                    Start::Later => {
                        self.waiting += 1;
                        return;
                    }
                }
            }
        };
        self.events.add(at.max(self.now), Event::Comes(id));
    }

    fn happen(&mut self, event: Event, now: u64) {
        match event {
            Event::Comes(id) => self.comes(id, now),
            Event::Came(id) => self.came(id, now),
            Event::Worked(id) => self.worked(id, now),
            Event::Disk(number, spent) => self.disk_done(number, spent, now),
            Event::Answered(id) => self.answered(id, now),
            Event::Tick => {
                self.ticking = false;
                if self.store.tick(now) {
                    self.tick(now);
                }
            }
        }
    }

    fn comes(&mut self, id: usize, now: u64) {
        self.first.get_or_insert(now);
        self.most = self.most.max(self.flights.len() - self.waiting);
        let flight = &mut self.flights[id];
        flight.came = now;
        let brought = if flight.call.class == Class::Write { flight.call.bytes } else { 0 };
        let work = moving(self.parameters.link, u64::from(brought) + HEADERS);
        let end = self.inward.take(now, work).end;
        flight.parts[part::NETWORK] += end - now;
        self.events.add(end, Event::Came(id));
    }

    fn came(&mut self, id: usize, now: u64) {
        let flight = &mut self.flights[id];
        flight.since = now;
        let connection = self.parameters.connection(flight);
        if connection.is_none_or(|connection| self.connections.ask(connection, id, true)) {
            self.admitted(id, now);
        }
    }

    /// Give a call at the head of its connection a thread, when there is one.
    fn admitted(&mut self, id: usize, now: u64) {
        let flight = &mut self.flights[id];
        flight.parts[part::CONNECTION] += now - flight.since;
        flight.since = now;
        if self.threads.ask(id, now) {
            self.ask_lock(id, now);
        }
    }

    /// Let a call that has a thread ask for the lock of its file.
    fn ask_lock(&mut self, id: usize, now: u64) {
        let flight = &mut self.flights[id];
        flight.parts[part::THREAD] += now - flight.since;
        flight.since = now;
        let (file, lock) = (flight.call.file, flight.lock());
        match lock.filter(|_| self.parameters.locks) {
            Some(write) if !self.locks.ask(file, id, write) => {}
            _ => self.work(id, now),
        }
    }

    /// Put a call that has a thread and its lock on a processor.
    fn work(&mut self, id: usize, now: u64) {
        let flight = &mut self.flights[id];
        flight.parts[part::LOCK] += now - flight.since;
        let work: &Work = &self.parameters.work[flight.call.class as usize];
        let time = work.time(chance(self.seed, flight.number, WORK), u64::from(flight.call.bytes));
        let turn = self.processors.take(now, time);
        flight.parts[part::PROCESSOR_QUEUE] += turn.start - now;
        flight.parts[part::PROCESSOR] += time;
        self.events.add(turn.end, Event::Worked(id));
    }

    /// Read or write for a call, and answer it unless it waits for a disk.
    fn worked(&mut self, id: usize, now: u64) {
        let call = self.flights[id].call;
        if let Some(connection) = self.parameters.connection(&self.flights[id]) {
            for next in self.connections.release(connection, true) {
                self.admitted(next, now);
            }
        }
        self.store.learn(&call);
        let (awaited, bytes) = match call.class {
            Class::Read => self.store.read(&call, id, now),
            Class::Write => self.store.write(&call, id, now),
            Class::Commit => self.store.commit(call.file, id, now),
            class if class.changes() && self.parameters.changes_to_disk => {
                self.store.change(&call, id, now)
            }
            _ => (0, 0),
        };
        self.store.forget(&call);
        if !self.ticking && self.store.is_dirty() {
            self.tick(now);
        }
        let flight = &mut self.flights[id];
        (flight.awaited, flight.disk_bytes, flight.since) = (awaited, bytes, now);
        if awaited == 0 {
            self.answer(id, now);
        }
    }

    fn tick(&mut self, now: u64) {
        self.ticking = true;
        self.events.add(now + TICK, Event::Tick);
    }

    fn start_disks(&mut self, now: u64) {
        while let Some(begun) = self.store.start(now) {
            self.events.add(begun.end, Event::Disk(begun.number, begun.spent));
        }
    }

    fn disk_done(&mut self, number: usize, spent: Spent, now: u64) {
        let finished = self.store.finish(number, now);
        for id in finished.waiters {
            let flight = &mut self.flights[id];
            flight.awaited -= 1;
            if flight.awaited == 0 {
                attribute(flight, spent, now);
                self.answer(id, now);
            }
        }
        for id in finished.admitted {
            let flight = &mut self.flights[id];
            flight.parts[part::BUFFER] += now - flight.since;
            self.answer(id, now);
        }
    }

    /// Release the resources of a call, and send its answer.
    fn answer(&mut self, id: usize, now: u64) {
        let flight = &mut self.flights[id];
        let call = flight.call;
        let data = if call.class == Class::Read { u64::from(call.bytes) } else { 0 };
        let end = self.outward.take(now, moving(self.parameters.link, data + HEADERS)).end;
        flight.parts[part::NETWORK] += end - now;
        let lock = flight.lock().filter(|_| self.parameters.locks);
        self.events.add(end, Event::Answered(id));
        if let Some(write) = lock {
            for next in self.locks.release(call.file, write) {
                self.work(next, now);
            }
        }
        if let Some(next) = self.threads.release(now) {
            self.ask_lock(next, now);
        }
    }

    fn answered(&mut self, id: usize, now: u64) {
        let flight = self.flights.remove(id);
        if flight.node != usize::MAX {
            for (child, at) in self.streams.done(flight.node, now) {
                self.waiting -= 1;
                self.events.add(at.max(now), Event::Comes(child));
            }
        }
        let latency = now - flight.came;
        self.last = now;
        self.answered += 1;
        if flight.call.at >= self.from {
            self.measured.add(&flight.call, latency, &flight.parts);
        }
        if let Some(each) = &mut self.each {
            let disk_bytes = flight.disk_bytes;
            each[flight.number as usize] = Each { came: flight.came, latency, disk_bytes };
        }
    }

    fn outcome(&self) -> Outcome {
        let span = self.last.saturating_sub(self.first.unwrap_or(0)).max(1);
        let share = |busy: u64, places: usize| busy as f64 / span as f64 / places as f64;
        let parameters = &self.parameters;
        let busy = BTreeMap::from([
            ("threads", share(self.threads.busy(), parameters.threads)),
            ("processors", share(self.processors.busy(), parameters.processors)),
            ("disks", share(self.store.disks.busy(), parameters.disks.at_a_time())),
            ("link in", share(self.inward.busy(), 1)),
            ("link out", share(self.outward.busy(), 1)),
        ]);
        let Store { asked, hits, ahead, .. } = self.store;
        Outcome {
            kinds: self.measured.kinds(),
            calls: self.answered,
            seconds: span as f64 / 1e9,
            rate: self.answered as f64 * 1e9 / span as f64,
            busy,
            hit_ratio: (asked > 0).then(|| hits as f64 / asked as f64),
            ahead,
            outstanding: self.most,
        }
    }
}

/// Time of a link for a number of bytes.
fn moving(link: u64, bytes: u64) -> u64 {
    (bytes * 1_000_000_000).checked_div(link).unwrap_or(0)
}

/// Charge a call's wait for disks: by the parts of the last request done, and the rest to the
/// queue.
fn attribute(flight: &mut Flight, spent: Spent, now: u64) {
    let waited = now - flight.since;
    let mut left = waited;
    for (part, time) in [
        (part::TRANSFER, spent.transfer),
        (part::ROTATION, spent.rotation),
        (part::SEEK, spent.seek),
    ] {
        let own = time.min(left);
        flight.parts[part] += own;
        left -= own;
    }
    flight.parts[part::DISK_QUEUE] += left;
}
