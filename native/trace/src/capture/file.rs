//! What the two kinds of capture file have in common.

use super::error::CaptureError;
use super::link::Link;
use super::pcap::Pcap;
use super::pcapng::Pcapng;
use super::statistics::Statistics;
use crate::input::Input;
use crate::quarantine::Quarantine;

/// The most bytes of a packet that are believed: libpcap's limit, four times over.
pub const LONGEST_PACKET: usize = 1 << 20;

/// The most bytes believed to have travelled as one packet.
pub const LONGEST_FRAME: usize = 16 << 20;

/// The times believed, in microseconds: up to the year 9999.
pub const LATEST: i64 = 253_402_300_799_000_000;

/// A packet in the file, whose bytes are at hand in the [`Input`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// How it begins.
    pub link: Link,
    /// When it was captured, in microseconds since the epoch.
    pub time: i64,
    /// The bytes that travelled, at least those captured.
    pub length: usize,
    /// Where its bytes begin, from the input's position on.
    pub start: usize,
    /// How many of them were captured.
    pub captured: usize,
    /// Where the next packet begins, from the input's position on.
    pub size: usize,
}

/// A capture file of either kind.
#[derive(Debug)]
pub enum File {
    /// The classic format.
    Pcap(Pcap),
    /// The format of blocks and sections.
    Pcapng(Pcapng),
}

impl File {
    /// Reads the file's header.
    ///
    /// # Errors
    ///
    /// If it is no capture, or one of a link type that cannot be read.
    pub fn open(input: &mut Input) -> Result<File, CaptureError> {
        let first = input.peek(4);
        if Pcapng::begins(first) {
            Ok(File::Pcapng(Pcapng::default()))
        } else if Pcap::begins(first) {
            Pcap::open(input).map(File::Pcap)
        } else {
            Err(CaptureError::not_a_capture(first))
        }
    }

    /// What it told of packets that were dropped, if it is of a format that does.
    pub fn statistics(&mut self) -> Option<&mut Statistics> {
        match self {
            File::Pcap(_) => None,
            File::Pcapng(pcapng) => Some(&mut pcapng.statistics),
        }
    }

    /// Finds the next packet; `None` at the end, or if it did not come for a while. What lies
    /// between and cannot be read is set aside.
    ///
    /// # Errors
    ///
    /// If the packet's link type cannot be read.
    pub fn next(
        &mut self,
        input: &mut Input,
        quarantine: &mut Quarantine,
    ) -> Result<Option<Frame>, CaptureError> {
        match self {
            File::Pcap(pcap) => Ok(pcap.next(input, quarantine)),
            File::Pcapng(pcapng) => pcapng.next(input, quarantine),
        }
    }
}

/// Sets aside what cannot be read, up to the next place where `resumes` says that it can, or to
/// the end. `resumes` must be false where the input stands.
pub fn resynchronise(
    input: &mut Input,
    quarantine: &mut Quarantine,
    (reason, expected): (&'static str, &'static str),
    resumes: impl Fn(&[u8]) -> bool,
) {
    // so that a place near its end is judged with a whole packet behind it
    const WINDOW: usize = 4 * LONGEST_PACKET;
    const MARGIN: usize = LONGEST_PACKET + 1024;
    let (offset, mut length, mut kept) = (input.position(), 0, Vec::new());
    loop {
        let window = input.peek(WINDOW);
        let ended = window.len() < WINDOW;
        let reach = if ended { window.len() } else { window.len() - MARGIN };
        let found = (0..reach).find(|&at| resumes(&window[at..]));
        let passed = found.unwrap_or(reach);
        let room = crate::quarantine::KEPT - kept.len();
        kept.extend_from_slice(&window[..passed.min(room)]);
        length += passed as u64;
        input.consume(passed);
        if ended || found.is_some() {
            break;
        }
    }
    let zeros = kept.len() >= ZEROS && kept[..ZEROS].iter().all(|byte| *byte == 0);
    let reason = if zeros { "zero-block" } else { reason };
    quarantine.set_aside_long(offset, None, length, reason, expected, &kept);
}

/// So many zeros where a header should stand are a block that was never written.
const ZEROS: usize = 16;

/// Sets aside the end of a file that was cut; gives its length.
pub fn cut_short(input: &mut Input, quarantine: &mut Quarantine, expected: &'static str) -> usize {
    let offset = input.position();
    let rest = input.peek(LONGEST_FRAME);
    quarantine.set_aside(offset, None, "cut-short", expected, rest);
    rest.len()
}
