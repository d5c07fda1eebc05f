//! What makes a capture unreadable as a whole.

use super::link::READABLE;

/// Why a capture cannot be read. The message says what was expected and what was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaptureError {
    /// The first bytes are no capture's.
    #[error(
        "expected a pcap or pcapng capture, which begins with a1b2c3d4, a1b23c4d (in either byte \
         order) or 0a0d0d0a; found {0}"
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
    /// Frames of a kind that cannot be read.
    #[error("expected a link type among {READABLE}; found link type {0}")]
    LinkType(u32),
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
