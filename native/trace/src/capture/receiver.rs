//! Where the messages of a TCP stream go.

use super::counts::CaptureCounts;
use super::messages::{Extent, Flow, Messages, Origin};
use crate::join::Joiner;
use crate::message::{CallKey, Endpoint};
use std::net::SocketAddr;

/// What a stream hands its messages to.
pub struct Receiver<'a> {
    /// Reads the messages.
    pub messages: &'a mut Messages,
    /// Takes the calls and replies.
    pub joiner: &'a mut Joiner,
    /// Counts.
    pub counts: &'a mut CaptureCounts,
    /// The stream's two ends.
    pub flow: Flow,
}

impl Receiver<'_> {
    /// Hears of bytes that were lost between two times.
    pub fn hole(&mut self, times: (i64, i64), bytes: u64) {
        self.counts.holes += 1;
        self.counts.missing_bytes += bytes;
        self.messages.hole(&self.flow, times, bytes, self.joiner);
    }

    /// As [`Messages::message`].
    pub fn message(&mut self, origin: Origin, bytes: &[u8], extent: Extent) -> bool {
        self.messages.message((&self.flow, origin), bytes, extent, self.joiner, self.counts)
    }

    /// Whether a reply with this XID is awaited here.
    pub fn awaits(&self, xid: u32) -> bool {
        let end = |end: SocketAddr| {
            self.joiner.hosts.known(end.ip()).map(|host| Endpoint { host, port: end.port() })
        };
        let (Some(client), Some(server)) = (end(self.flow.to), end(self.flow.from)) else {
            return false;
        };
        self.joiner.pending(&CallKey { client, server, xid }).is_some()
    }

    /// Hears that the boundary between messages was lost.
    pub fn lost(&mut self) {
        self.counts.resyncs += 1;
    }

    /// Hears of bytes passed over in search of the next boundary.
    pub fn skipped(&mut self, bytes: u64) {
        self.counts.skipped_bytes += bytes;
    }
}
