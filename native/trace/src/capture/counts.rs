//! What a capture held.

use crate::decoder::DecoderCounts;

macro_rules! counts {
    ($(#[doc = $what:literal] $count:ident,)+) => {
        /// Counts of a capture's packets and messages.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct CaptureCounts {
            $(#[doc = $what] pub $count: u64,)+
        }

        impl CaptureCounts {
            /// The same as every decoder tells it: a record is a message, or a stretch of damage.
            pub fn told(&self) -> DecoderCounts {
                let records = self.messages + self.damaged_stretches;
                let details = vec![$((stringify!($count), self.$count)),+];
                DecoderCounts { records, lines: None, details }
            }
        }
    };
}

counts! {
    /// Packets in the file.
    packets,
    /// Their bytes, as far as they were captured.
    bytes,
    /// Packets of which the capture kept only the beginning.
    cut_packets,
    /// Packets that are fragments of IP datagrams.
    fragments,
    /// Datagrams of which some fragment never came.
    incomplete_datagrams,
    /// Packets that carry no RPC: other protocols, and conversations that are not RPC's.
    other_packets,
    /// RPC messages, calls and replies.
    messages,
    /// Stretches of the file that hold no packet that could be read.
    damaged_stretches,
    /// Packets that the capture says never came to it: its kernel dropped them.
    dropped,
    /// Gaps in the sequence numbers of TCP streams.
    holes,
    /// Bytes of TCP streams that are missing, in such gaps or behind the end of cut packets.
    missing_bytes,
    /// How often the boundary between messages was lost in a TCP stream.
    resyncs,
    /// Bytes passed over in search of the next boundary.
    skipped_bytes,
}
