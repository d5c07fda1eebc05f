//! The common base of capture files.

use super::erf::Erf;
use super::error::CaptureError;
use super::link::Link;
use super::packets::Packets;
use super::pcap::Pcap;
use super::pcapng::Pcapng;
use super::snoop::Snoop;
use super::statistics::Statistics;
use super::unread::Unread;
use crate::input::Input;
use crate::quarantine::Quarantine;

/// The most plausible bytes of a packet: four times libpcap's limit.
pub const LONGEST_PACKET: usize = 1 << 20;

/// The most plausible bytes of a packet on the wire.
pub const LONGEST_FRAME: usize = 16 << 20;

/// The first bytes that identify the format, if the file has them: some records of ERF.
pub const LOOKAHEAD: usize = 1 << 17;

/// The least number of them for a live file.
const LEAST: usize = 24;

/// The latest plausible time, in microseconds: the end of the year 9999.
pub const LATEST: i64 = 253_402_300_799_000_000;

/// A packet in the file, whose bytes are in the [`Input`]'s window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its link type.
    pub link: Link,
    /// When it was captured, in microseconds since the epoch.
    pub time: i64,
    /// The bytes on the wire, at least those captured.
    pub length: usize,
    /// The offset of its bytes from the input's position.
    pub start: usize,
    /// How many of them were captured.
    pub captured: usize,
    /// The offset of the next packet from the input's position.
    pub size: usize,
}

/// Destinations of unreadable packets.
pub struct SideOutputs<'a> {
    /// The damaged records.
    pub quarantine: &'a mut Quarantine,
    /// Unreadable traffic, by reason.
    pub unread: &'a mut Unread,
}

/// A capture file of any kind.
#[derive(Debug)]
pub enum File {
    /// The classic format, or Kuznetsov's.
    Pcap(Packets<Pcap>),
    /// The format of blocks and sections.
    Pcapng(Pcapng),
    /// Solaris's.
    Snoop(Packets<Snoop>),
    /// Endace's cards.
    Erf(Packets<Erf>),
}

impl File {
    /// Whether a file that begins so is a capture.
    pub fn begins(first: &[u8]) -> bool {
        Pcap::begins(first) || Pcapng::begins(first) || Snoop::begins(first) || Erf::begins(first)
    }

    /// Reads the file's header.
    ///
    /// # Errors
    ///
    /// If it is no capture, or one of a link type that cannot be read.
    pub fn open(input: &mut Input) -> Result<File, CaptureError> {
        let first = input.peek_live(LEAST, LOOKAHEAD - LEAST);
        if Pcapng::begins(first) {
            Ok(File::Pcapng(Pcapng::default()))
        } else if Pcap::begins(first) {
            Pcap::open(input).map(File::Pcap)
        } else if Snoop::begins(first) {
            Snoop::open(input).map(File::Snoop)
        } else if Erf::begins(first) {
            Ok(File::Erf(Erf::open()))
        } else {
            Err(CaptureError::not_a_capture(first))
        }
    }

    /// The counts of dropped packets.
    pub fn statistics(&mut self) -> &mut Statistics {
        match self {
            File::Pcap(pcap) => &mut pcap.statistics,
            File::Pcapng(pcapng) => &mut pcapng.statistics,
            File::Snoop(snoop) => &mut snoop.statistics,
            File::Erf(erf) => &mut erf.statistics,
        }
    }

    /// Finds the next packet; `None` at the end, or if none came for a while. Unreadable bytes
    /// before it are set aside.
    pub fn next(&mut self, input: &mut Input, side: &mut SideOutputs) -> Option<Frame> {
        match self {
            File::Pcap(pcap) => pcap.next(input, side),
            File::Pcapng(pcapng) => pcapng.next(input, side),
            File::Snoop(snoop) => snoop.next(input, side),
            File::Erf(erf) => erf.next(input, side),
        }
    }

    /// Judges a file that was read to its end.
    ///
    /// # Errors
    ///
    /// If it has packets, but none that could be read for its link type or for lack of a time.
    pub fn check(&self) -> Result<(), CaptureError> {
        match self {
            File::Pcapng(pcapng) => pcapng.check(),
            _ => Ok(()),
        }
    }
}

/// Sets aside unreadable bytes, up to the next place where `resumes` is true, or to the end.
/// `resumes` must be false at the input's position.
pub fn resynchronise(
    input: &mut Input,
    quarantine: &mut Quarantine,
    (reason, expected): (&'static str, &'static str),
    resumes: impl Fn(&[u8]) -> bool,
) {
    // so that a place near its end is judged with a whole packet after it
    const WINDOW: usize = 4 * LONGEST_PACKET;
    const MARGIN: usize = LONGEST_PACKET + 1024;
    let (offset, mut length, mut first_bytes) = (input.position(), 0, Vec::new());
    loop {
        let window = input.peek(WINDOW);
        let ended = window.len() < WINDOW;
        let reach = if ended { window.len() } else { window.len() - MARGIN };
        let found = (0..reach).find(|&at| resumes(&window[at..]));
        let passed = found.unwrap_or(reach);
        let room = crate::quarantine::MOST_BYTES - first_bytes.len();
        first_bytes.extend_from_slice(&window[..passed.min(room)]);
        length += passed as u64;
        input.consume(passed);
        if ended || found.is_some() {
            break;
        }
    }
    let zeros = first_bytes.len() >= ZEROS && first_bytes[..ZEROS].iter().all(|byte| *byte == 0);
    let reason = if zeros { "zero-block" } else { reason };
    quarantine.set_aside_long(offset, None, length, reason, expected, &first_bytes);
}

/// The zeros in place of a header that make a block that was never written.
const ZEROS: usize = 16;

/// Sets aside the end of a cut file; returns its length.
pub fn cut_short(input: &mut Input, quarantine: &mut Quarantine, expected: &'static str) -> usize {
    let offset = input.position();
    let rest = input.peek(LONGEST_FRAME);
    quarantine.set_aside(offset, None, "cut-short", expected, rest);
    rest.len()
}
