//! Processes of a client that read files of a server.
//!
//! The client's processes hand the next block to threads (`nfsiod`), which is why calls of a file
//! overtake each other ([`client`]). The server's threads (`nfsd`) take calls as they come, and
//! lock the file while they read it ([`server`]).

mod client;
mod parameters;
mod server;
#[cfg(test)]
mod tests;
mod window;

pub use parameters::{Nfs, Transport};

use super::outcome::Busy;
use super::{Outcome, Setup};
use birthmark_storage::events::Events;
use birthmark_storage::readahead::{sequential, Read};
use birthmark_storage::store::{Parts, Ready, Store, StoreEvent};
use client::Client;
use server::Server;

/// Events. Calls are numbered by file and block.
#[derive(Clone, Copy, Debug)]
enum Event {
    Store(StoreEvent),
    /// A process goes on.
    Step(usize),
    /// A thread of the client has woken up for a call.
    Woken(usize),
    /// A call is ready for the network.
    Send(usize),
    /// The client's timer ticks.
    Tick,
    /// A call is at the server.
    Arrive(usize),
    /// A retransmitted call is at the server.
    Again(usize),
    /// A thread of the server sees that it has taken a call before.
    Known(usize),
    /// A thread of the server has answered a call once more.
    Repeated,
    /// A thread of the server has processed a call up to the point where it needs the file.
    Lock(usize),
    /// A thread of the server has finished a call.
    Served(usize),
    /// An answer has crossed the server's link.
    Wire(usize),
    /// An answer is at the client.
    Answer(usize),
    /// A duplicate answer is at the client.
    Stray,
    /// The client has processed an answer.
    Got(usize),
}

impl From<StoreEvent> for Event {
    fn from(event: StoreEvent) -> Self {
        Self::Store(event)
    }
}

/// Where the time of each call went, and the start of its current stage.
struct Calls {
    since: Vec<u64>,
    parts: Parts,
}

impl Calls {
    /// Record a new call.
    fn begin(&mut self, call: usize, now: u64) {
        self.since[call] = now;
    }

    /// Charge a call's time up to now to a part.
    fn spent(&mut self, call: usize, now: u64, part: impl Fn(&mut Parts) -> &mut u64) {
        *part(&mut self.parts) += now - self.since[call];
        self.since[call] = now;
    }

    /// Charge a call's time up to now to the drive.
    fn read(&mut self, call: usize, now: u64, parts: Parts) {
        debug_assert_eq!(parts.all(), now - self.since[call], "all of its time went somewhere");
        self.parts += parts;
        self.since[call] = now;
    }
}

/// Let a client's processes read a server's files.
pub fn run(setup: &Setup, nfs: &Nfs, store: Store) -> Outcome {
    let total = (setup.bytes / nfs.call_bytes) as usize;
    let mut events = Events::default();
    let mut calls = Calls { since: vec![0; total], parts: Parts::default() };
    let mut client = Client::new(setup, nfs, &mut events);
    let mut server = Server::new(setup, nfs, store);
    let (mut ready, mut happened) = (Vec::new(), 0);
    while let Some((now, event)) = events.pop() {
        happened += 1;
        match event {
            Event::Store(event) => server.store.happen(now, event, &mut events, &mut ready),
            Event::Arrive(_)
            | Event::Again(_)
            | Event::Known(_)
            | Event::Repeated
            | Event::Lock(_)
            | Event::Served(_)
            | Event::Wire(_) => server.happen(now, event, &mut calls, &mut events),
            _ => client.happen(now, event, &mut calls, &mut events),
        }
        for Ready { task, parts } in ready.drain(..) {
            calls.read(task, now, parts);
            server.copy(task, now, &mut events);
        }
    }
    let (link, arrived) = (server.store.link.busy(), &server.arrived);
    Outcome {
        busy: Busy { link, server: server.processor.busy(), client: client.processor.busy() },
        ends: client.ends,
        calls: total as u64,
        parts: calls.parts,
        overtaken: overtaken(arrived, setup.readers),
        resent: client.resent,
        in_order: nfs.windows.iter().map(|own| in_order(arrived, setup.readers, *own)).collect(),
        counts: server.counts,
        ejected: server.heuristic.ejected() - server.ejected_before,
        events: happened,
    }
}

/// The number of reads that came after one further on in the same file.
fn overtaken(arrived: &[(u64, Read)], files: u64) -> u64 {
    let mut furthest = vec![0; files as usize];
    let mut found = 0;
    for (file, read) in arrived {
        let furthest = &mut furthest[*file as usize];
        found += u64::from(read.offset < *furthest);
        *furthest = read.offset.max(*furthest);
    }
    found
}

/// The number of sequential reads, after reordering within a window.
fn in_order(arrived: &[(u64, Read)], files: u64, window: u64) -> u64 {
    let of = |file| arrived.iter().filter(move |own| own.0 == file).map(|own| own.1);
    (0..files).map(|file| sequential(of(file), window)).sum()
}
