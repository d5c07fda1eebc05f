//! Counts of a capture.

use super::unread::Unread;
use crate::decoder::DecoderCounts;

macro_rules! counts {
    ($(#[doc = $what:literal] $count:ident,)+) => {
        /// Counts of a capture's packets and messages.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct CaptureCounts {
            $(#[doc = $what] pub $count: u64,)+
            /// Unreadable traffic, by reason.
            pub unread: Unread,
            /// The versions of NFS that a server offered when it refused another.
            pub offered: Option<(u32, u32)>,
        }

        impl CaptureCounts {
            /// The same in every decoder's terms: a record is a message, or a stretch of damage.
            pub fn decoder_counts(&self) -> DecoderCounts {
                let records = self.messages + self.damaged_stretches;
                let details = vec![$((stringify!($count), self.$count)),+];
                let (unread, offered) = (self.unread.reasons().collect(), self.offered);
                DecoderCounts { records, lines: None, details, unread, offered }
            }
        }
    };
}

counts! {
    /// Packets in the file.
    packets,
    /// Their captured bytes.
    bytes,
    /// Packets that the capture cut.
    cut_packets,
    /// Packets that are fragments of IP datagrams.
    fragments,
    /// Datagrams with missing fragments.
    incomplete_datagrams,
    /// Packets that carry no RPC: other protocols, and conversations that are not RPC's.
    other_packets,
    /// RPC messages, calls and replies.
    messages,
    /// Messages read up to damage in them, or up to an operation that no version has.
    partial,
    /// Stretches of the file without a readable packet.
    damaged_stretches,
    /// Packets that the capture's kernel dropped, according to the capture.
    dropped,
    /// Gaps in the sequence numbers of TCP streams.
    holes,
    /// Missing bytes of TCP streams, in such gaps or after the end of cut packets.
    missing_bytes,
    /// How often the boundary between messages was lost in a TCP stream.
    resyncs,
    /// Bytes skipped in search of the next boundary.
    skipped_bytes,
    /// Bytes of RPC's datagrams and TCP conversations, including skipped ones.
    rpc_bytes,
    /// Messages whose end, or header, was not captured.
    cut_messages,
}
