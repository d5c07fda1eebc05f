//! The classic capture format: a file header, then packets, each behind a header of its own.

use super::error::CaptureError;
use super::file::{cut_short, resynchronise, Frame, LATEST, LONGEST_FRAME, LONGEST_PACKET};
use super::ip;
use super::link::Link;
use super::order::Order;
use crate::input::Input;
use crate::quarantine::Quarantine;

/// Bytes of the file's header, and of each packet's (pcap-savefile(5)).
const FILE_HEADER: usize = 24;
const HEADER: usize = 16;

/// `a1b2c3d4`: times in microseconds.
const MICROSECONDS: [u8; 4] = [0xa1, 0xb2, 0xc3, 0xd4];
/// `a1b23c4d`: times in nanoseconds.
const NANOSECONDS: [u8; 4] = [0xa1, 0xb2, 0x3c, 0x4d];

/// Versions up to this one may hold a packet's two lengths in the other order.
const SWAPPED: u16 = 3;

/// A packet this much earlier or later than the one before it is doubted, in microseconds.
const NEAR: i64 = 86_400_000_000;

/// A file in the classic format.
#[derive(Debug)]
pub struct Pcap {
    order: Order,
    /// Fractions in a second.
    fractions: u32,
    swapped: bool,
    link: Link,
    longest: usize,
    last: Option<i64>,
}

/// A packet's header.
#[derive(Clone, Copy, Debug)]
struct Header {
    time: i64,
    captured: usize,
    length: usize,
}

fn magic(first: &[u8]) -> Option<(Order, u32)> {
    let mut magic = *first.first_chunk()?;
    for order in [Order::Big, Order::Little] {
        match magic {
            MICROSECONDS => return Some((order, 1_000_000)),
            NANOSECONDS => return Some((order, 1_000_000_000)),
            _ => magic.reverse(),
        }
    }
    None
}

impl Pcap {
    /// Whether a file that begins so is of this format.
    pub fn begins(first: &[u8]) -> bool {
        magic(first).is_some()
    }

    /// Reads the file's header.
    pub fn open(input: &mut Input) -> Result<Pcap, CaptureError> {
        let bytes = input.peek(FILE_HEADER);
        let (order, fractions) = magic(bytes).ok_or_else(|| CaptureError::not_a_capture(bytes))?;
        if bytes.len() < FILE_HEADER {
            return Err(CaptureError::CutHeader { expected: FILE_HEADER, found: bytes.len() });
        }
        let (major, minor) = (order.u16(bytes, 4), order.u16(bytes, 6));
        if major != 2 {
            return Err(CaptureError::Version(major, minor));
        }
        let snapped = order.u32(bytes, 16) as usize;
        // the upper bits tell of checksums behind the frames
        let number = order.u32(bytes, 20) & 0xffff;
        let link = Link::from_number(number).ok_or(CaptureError::LinkType(number))?;
        input.consume(FILE_HEADER);
        let swapped = minor <= SWAPPED;
        let longest = snapped.clamp(65_535 + 1024, LONGEST_PACKET);
        Ok(Pcap { order, fractions, swapped, link, longest, last: None })
    }

    /// Whether the next packet is there, or damage in its place.
    fn at_hand(&self, input: &mut Input) -> bool {
        let captured = |bytes| self.header(bytes).map_or(0, |header| header.captured);
        input.at_hand(HEADER) && {
            let size = HEADER + captured(input.peek(HEADER));
            input.at_hand(size)
        }
    }

    /// Finds the next packet.
    pub fn next(&mut self, input: &mut Input, quarantine: &mut Quarantine) -> Option<Frame> {
        loop {
            if input.live && !self.at_hand(input) {
                return None;
            }
            let bytes = input.peek(HEADER);
            if bytes.is_empty() {
                return None;
            }
            if bytes.len() < HEADER {
                let rest = cut_short(input, quarantine, "a packet header of 16 bytes");
                input.consume(rest);
                return None;
            }
            match self.header(bytes) {
                Some(header) if self.near(&header) => {
                    if let Some(frame) = self.frame(&header, input, quarantine) {
                        return Some(frame);
                    }
                }
                header => {
                    let far = header.is_some_and(|header| {
                        self.sane(&header, input.peek(2 * HEADER + header.captured))
                    });
                    if far {
                        self.last = header.map(|header| header.time);
                        continue;
                    }
                    let expected = "a packet header whose lengths and time are possible";
                    let what = ("bad-packet-header", expected);
                    resynchronise(input, quarantine, what, |bytes| self.resumes(bytes));
                }
            }
        }
    }

    /// A packet whose header can be believed; `None` if what stands behind the header shows that
    /// it should not have been.
    fn frame(
        &mut self,
        header: &Header,
        input: &mut Input,
        quarantine: &mut Quarantine,
    ) -> Option<Frame> {
        let (offset, mut size) = (input.position(), HEADER + header.captured);
        let live = input.live;
        let bytes = input.glimpse(size, HEADER);
        let followed = bytes.len() == size
            || (live && (size..size + HEADER).contains(&bytes.len()))
            || bytes.get(size..).and_then(|b| self.header(b)).is_some();
        if !followed {
            let within = &bytes[..size.min(bytes.len())];
            let next = (HEADER..within.len()).find(|&at| self.follows(&bytes[at..]));
            if let Some(next) = next {
                let expected = "a packet of the length that its header states";
                let damaged = &bytes[..next];
                quarantine.set_aside(offset, None, "bad-packet-header", expected, damaged);
                input.consume(next);
                return None;
            }
            if bytes.len() < size {
                size = cut_short(input, quarantine, "the bytes that the packet's header states");
            }
        }
        self.last = Some(header.time);
        let (time, length, captured) = (header.time, header.length, size - HEADER);
        Some(Frame { link: self.link, time, length, start: HEADER, captured, size })
    }

    /// Reads a header, if its numbers are possible.
    fn header(&self, bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.get(..HEADER)?;
        let [seconds, fraction, first, second] = [0, 4, 8, 12].map(|at| self.order.u32(bytes, at));
        let (captured, length) = match self.swapped {
            true => (first.min(second) as usize, first.max(second) as usize),
            false => (first as usize, second as usize),
        };
        let possible = fraction < self.fractions
            && (1..=self.longest).contains(&captured)
            && (captured..=LONGEST_FRAME).contains(&length);
        let microseconds = fraction / (self.fractions / 1_000_000);
        let time = i64::from(seconds) * 1_000_000 + i64::from(microseconds);
        possible.then_some(Header { time: time.min(LATEST), captured, length })
    }

    fn near(&self, header: &Header) -> bool {
        self.last.is_none_or(|last| (header.time - last).abs() <= NEAR)
    }

    /// Whether what stands behind a header bears it out: an IP packet that fits, or a further
    /// header of about the same time, or the end.
    fn sane(&self, header: &Header, bytes: &[u8]) -> bool {
        let Some(behind) = bytes.get(HEADER + header.captured..) else {
            return self.holds_ip(header, bytes);
        };
        let next = self.header(behind);
        behind.is_empty()
            || next.is_some_and(|next| (next.time - header.time).abs() <= NEAR)
            || self.holds_ip(header, bytes)
    }

    fn holds_ip(&self, header: &Header, bytes: &[u8]) -> bool {
        let frame = bytes.get(HEADER..).unwrap_or_default();
        let frame = &frame[..frame.len().min(header.captured)];
        self.link
            .ip_at(frame)
            .is_some_and(|at| at < frame.len() && ip::fits(&frame[at..], header.length - at))
    }

    /// Whether a packet begins here, after damage.
    fn resumes(&self, bytes: &[u8]) -> bool {
        self.header(bytes).is_some_and(|header| self.near(&header) && self.sane(&header, bytes))
    }

    /// Whether a packet begins here, within what another header claims for its packet: a packet
    /// may hold the bytes of a capture, but hardly of one made at the same time.
    fn follows(&self, bytes: &[u8]) -> bool {
        self.header(bytes).is_some_and(|header| {
            let behind = bytes.get(HEADER + header.captured..);
            self.near(&header)
                && self.holds_ip(&header, bytes)
                && behind.is_none_or(|next| next.is_empty() || self.header(next).is_some())
        })
    }
}
