//! Errors that make a whole capture unreadable.

use super::link::READABLE;
use super::snoop::DATALINKS;

/// Why a capture cannot be read. The message has the expected and the actual value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// The first bytes are no capture's.
    #[error(
        "expected a capture: pcap or pcapng, which begins with a1b2c3d4, a1b23c4d, a1b2cd34 (in \
         either byte order) or 0a0d0d0a; snoop; or ERF; found {0}"
    )]
    NotACapture(String),
    /// The file ends within its header.
    #[error("expected a file header of {expected} bytes, found {found}")]
    CutHeader {
        /// The header's length.
        expected: usize,
        /// The file's length.
        found: usize,
    },
    /// A version of the format that does not exist.
    #[error("expected version 2 of the pcap format, found version {0}.{1}")]
    Version(u16, u16),
    /// A version of snoop's format that is not Solaris's.
    #[error(
        "expected version 2 of the snoop format (RFC 1761), found version {0}; convert it: \
         editcap -F pcap"
    )]
    SnoopVersion(u32),
    /// Frames of kinds that cannot be read.
    #[error("expected a link type among {READABLE}; found link type {found}", found = list(.0))]
    LinkType(Vec<u32>),
    /// The same in snoop's numbers.
    #[error("expected a snoop datalink type among {DATALINKS}; found {0}")]
    Datalink(u32),
    /// Packets without times.
    #[error(
        "{0} packets, all in Simple Packet Blocks of pcapng, which state no time; expected Enhanced \
         Packet Blocks: capture again with a program that writes them, such as tcpdump or dumpcap"
    )]
    NoTimes(u64),
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

impl CaptureError {
    /// An error about a file's first bytes.
    pub(super) fn not_a_capture(first: &[u8]) -> CaptureError {
        let first = &first[..first.len().min(4)];
        CaptureError::NotACapture(match first {
            [] => "an empty file".into(),
            _ => first.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }
}
