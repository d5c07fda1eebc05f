//! Where the messages of a TCP stream go.

use super::counts::CaptureCounts;
use super::messages::{Extent, Flow, Messages, Origin};
use super::records::Sink;
use crate::join::Joiner;

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
}

impl Sink for Receiver<'_> {
    fn message(&mut self, origin: Origin, bytes: &[u8], extent: Extent) -> bool {
        self.messages.message((&self.flow, origin), bytes, extent, self.joiner, self.counts)
    }

    fn awaits(&self, xid: u32) -> bool {
        self.messages.awaits(&self.flow, xid, self.joiner)
    }

    fn lost(&mut self) {
        self.counts.resyncs += 1;
    }

    fn skipped(&mut self, bytes: u64) {
        self.counts.skipped_bytes += bytes;
    }
}
