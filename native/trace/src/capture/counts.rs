//! What a capture held.

use crate::decoder::DecoderCounts;

/// Counts of a capture's packets and messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureCounts {
    /// Packets in the file.
    pub packets: u64,
    /// Their bytes, as far as they were captured.
    pub bytes: u64,
    /// Packets of which the capture kept only the beginning.
    pub cut_packets: u64,
    /// Packets that are fragments of IP datagrams.
    pub fragments: u64,
    /// Datagrams of which some fragment never came.
    pub incomplete_datagrams: u64,
    /// Packets that carry no RPC: other protocols, and conversations that are not RPC's.
    pub other_packets: u64,
    /// RPC messages, calls and replies.
    pub messages: u64,
    /// Stretches of the file that hold no packet that could be read.
    pub damaged_stretches: u64,
    /// Gaps in the sequence numbers of TCP streams.
    pub holes: u64,
    /// Bytes of TCP streams that are missing, in such gaps or behind the end of cut packets.
    pub missing_bytes: u64,
    /// How often the boundary between messages was lost in a TCP stream.
    pub resyncs: u64,
    /// Bytes passed over in search of the next boundary.
    pub skipped_bytes: u64,
}

impl CaptureCounts {
    /// The same as every decoder tells it: a record is a message, or a stretch of damage.
    pub fn told(&self) -> DecoderCounts {
        let details = vec![
            ("packets", self.packets),
            ("bytes", self.bytes),
            ("cut_packets", self.cut_packets),
            ("fragments", self.fragments),
            ("incomplete_datagrams", self.incomplete_datagrams),
            ("other_packets", self.other_packets),
            ("messages", self.messages),
            ("damaged_stretches", self.damaged_stretches),
            ("holes", self.holes),
            ("missing_bytes", self.missing_bytes),
            ("resyncs", self.resyncs),
            ("skipped_bytes", self.skipped_bytes),
        ];
        DecoderCounts { records: self.messages + self.damaged_stretches, lines: None, details }
    }
}
