//! One process that reads a large file over NFS, with a present-day client and server.
//!
//! The client reads ahead as Linux does, in calls of `rsize` bytes that all leave at once
//! ([`client`]). The server's threads take them, so reads arrive in another order, and OpenZFS
//! reads ahead from that ([`server`]). The file's records are striped over disks ([`disks`]).

mod client;
mod disks;
mod server;
mod setup;
#[cfg(test)]
mod tests;

pub use setup::Stream;

use crate::bench::SetupError;
use birthmark_storage::events::Events;
use client::Client;
use serde::Serialize;
use server::Server;

/// Events. Calls are numbered in the order in which they are sent.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// The process goes on.
    Step,
    /// A call is at the server.
    Arrive(usize),
    /// A thread of the server begins with a call.
    Begin(usize),
    /// A disk has read a record.
    Read {
        /// Which disk.
        disk: usize,
        /// Which record.
        record: u64,
    },
    /// An answer is at the client.
    Answer(usize),
}

/// Bytes of a file that one call reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    offset: u64,
    bytes: u64,
}

/// Results of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Streamed {
    /// Nanoseconds until the file was read.
    pub time: u64,
    /// Calls.
    pub calls: u64,
    /// Calls that the server began with after one further on.
    pub overtaken: u64,
    /// Records of the file.
    pub records: u64,
    /// Records that the server read ahead, before a call needed them.
    pub ahead: u64,
    /// Number of times that a disk had to position.
    pub positioned: u64,
    /// Events of the run.
    pub events: u64,
}

/// Let the process read the file.
pub fn run(setup: &Stream) -> Result<Streamed, SetupError> {
    setup.check()?;
    let mut events = Events::default();
    let mut client = Client::new(setup);
    let mut server = Server::new(setup);
    let mut found = Streamed::default();
    events.add(0, Event::Step);
    while let Some((now, event)) = events.pop() {
        (found.time, found.events) = (now, found.events + 1);
        match event {
            Event::Step => client.step(now, &mut events),
            Event::Answer(call) => client.answered(call, now, &mut events),
            _ => server.happen(now, event, client.calls(), &mut events),
        }
    }
    server.tell(&mut found);
    Ok(Streamed { calls: client.calls().len() as u64, ..found })
}
