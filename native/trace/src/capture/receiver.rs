//! The destination of a TCP stream's messages.

use super::counts::CaptureCounts;
use super::messages::{self, Extent, Flow, Messages, Origin};
use crate::join::Joiner;

/// The consumer of a stream's messages.
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
    /// Records bytes that were lost between two times.
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
        messages::awaits(&self.flow, xid, self.joiner)
    }

    /// Whether calls have gone to either end.
    pub fn is_rpc(&self) -> bool {
        self.messages.is_server(&self.flow.from) || self.messages.is_server(&self.flow.to)
    }

    /// Whether either end has a port of NFS's.
    pub fn is_nfs(&self) -> bool {
        self.flow.is_nfs()
    }

    /// Records that the boundary between messages was lost.
    pub fn lost(&mut self) {
        self.counts.resyncs += 1;
    }

    /// Records bytes skipped in search of the next boundary.
    pub fn skipped(&mut self, bytes: u64) {
        self.counts.skipped_bytes += bytes;
    }
}
