//! The classic capture format: a file header, then packets, each after its own header; and
//! Kuznetsov's, whose headers have more fields.

use super::error::CaptureError;
use super::file::{LATEST, LONGEST_FRAME, LONGEST_PACKET};
use super::link::Link;
use super::order::Order;
use super::packets::{Content, Header, Headers, Packets};
use crate::input::Input;

/// Bytes of the file's header, of each packet's (pcap-savefile(5)), and of Kuznetsov's additions:
/// the interface's number, the protocol and the direction.
const FILE_HEADER: usize = 24;
const HEADER: usize = 16;
const KUZNETSOV: usize = 8;

/// `a1b2c3d4`: times in microseconds.
const MICROSECONDS: [u8; 4] = [0xa1, 0xb2, 0xc3, 0xd4];
/// `a1b23c4d`: times in nanoseconds.
const NANOSECONDS: [u8; 4] = [0xa1, 0xb2, 0x3c, 0x4d];
/// `a1b2cd34`: Kuznetsov's, times in microseconds.
const MODIFIED: [u8; 4] = [0xa1, 0xb2, 0xcd, 0x34];

/// Versions up to this one may hold a packet's two lengths in the other order.
const SWAPPED: u16 = 3;

/// The reader of packets' headers.
#[derive(Debug)]
pub struct Pcap {
    kind: Kind,
    swapped: bool,
    link: Link,
    longest: usize,
}

/// The properties in the first bytes.
#[derive(Clone, Copy, Debug)]
struct Kind {
    order: Order,
    /// Fractions in a second.
    fractions: u32,
    /// Bytes of a packet's header.
    header: usize,
}

fn kind(first: &[u8]) -> Option<Kind> {
    let mut magic = *first.first_chunk()?;
    for order in [Order::Big, Order::Little] {
        let (fractions, header) = match magic {
            MICROSECONDS => (1_000_000, HEADER),
            NANOSECONDS => (1_000_000_000, HEADER),
            MODIFIED => (1_000_000, HEADER + KUZNETSOV),
            _ => {
                magic.reverse();
                continue;
            }
        };
        return Some(Kind { order, fractions, header });
    }
    None
}

impl Pcap {
    /// Whether a file that begins so is of this format.
    pub fn begins(first: &[u8]) -> bool {
        kind(first).is_some()
    }

    /// Reads the file's header.
    pub fn open(input: &mut Input) -> Result<Packets<Pcap>, CaptureError> {
        let bytes = input.peek(FILE_HEADER);
        let kind = kind(bytes).ok_or_else(|| CaptureError::not_a_capture(bytes))?;
        if bytes.len() < FILE_HEADER {
            return Err(CaptureError::CutHeader { expected: FILE_HEADER, found: bytes.len() });
        }
        let order = kind.order;
        let (major, minor) = (order.u16(bytes, 4), order.u16(bytes, 6));
        if major != 2 {
            return Err(CaptureError::Version(major, minor));
        }
        let snapped = order.u32(bytes, 16) as usize;
        // the upper bits describe checksums after the frames
        let number = order.u32(bytes, 20) & 0xffff;
        let link = Link::from_number(number).ok_or(CaptureError::LinkType(vec![number]))?;
        input.consume(FILE_HEADER);
        let swapped = minor <= SWAPPED;
        let longest = snapped.clamp(65_535 + 1024, LONGEST_PACKET);
        Ok(Packets::new(Pcap { kind, swapped, link, longest }))
    }
}

impl Headers for Pcap {
    const LEAST: usize = HEADER;
    const EXPECTED: &'static str = "a packet header of 16 bytes";

    fn size(&self, bytes: &[u8]) -> Option<usize> {
        self.header(bytes).map(|header| header.size)
    }

    #[inline]
    fn header(&self, bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.get(..HEADER)?;
        let Kind { order, fractions, header: start } = self.kind;
        let [seconds, fraction, first, second] = [0, 4, 8, 12].map(|at| order.u32(bytes, at));
        let (captured, length) = match self.swapped {
            true => (first.min(second) as usize, first.max(second) as usize),
            false => (first as usize, second as usize),
        };
        let possible = fraction < fractions
            && (1..=self.longest).contains(&captured)
            && (captured..=LONGEST_FRAME).contains(&length);
        let microseconds = fraction / (fractions / 1_000_000);
        let time = i64::from(seconds) * 1_000_000 + i64::from(microseconds);
        let (content, size) = (Content::Packet(self.link), start + captured);
        let time = time.min(LATEST);
        possible.then_some(Header { time, content, start, captured, length, size, dropped: None })
    }
}
