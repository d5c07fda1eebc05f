//! Files of packets, each after its own header, damaged or not.

use super::ethertype::{find_ip, Inner};
use super::file::{cut_short, resynchronise, Frame, SideOutputs};
use super::ip;
use super::link::Link;
use super::statistics::Statistics;
use super::unread::Reason;
use crate::input::Input;

/// A packet this much earlier or later than the one before it is pending, in microseconds.
const NEAR: i64 = 86_400_000_000;

/// The record headers of a format.
pub trait Headers {
    /// The bytes in every record's header.
    const LEAST: usize;
    /// The bytes of the longest header.
    const MOST: usize = Self::LEAST;
    /// A description of a record's header.
    const EXPECTED: &'static str;

    /// The bytes of a record, by the first [`Headers::LEAST`] of them.
    fn size(&self, bytes: &[u8]) -> Option<usize>;

    /// Reads a header, if its numbers are possible.
    fn header(&self, bytes: &[u8]) -> Option<Header>;
}

/// The contents of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A packet.
    Packet(Link),
    /// A packet of an unreadable kind.
    Unread,
    /// No packet.
    Nothing,
}

/// A record's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// When its packet was captured, in microseconds since the epoch.
    pub time: i64,
    /// Its contents.
    pub content: Content,
    /// The offset of its packet.
    pub start: usize,
    /// The bytes captured.
    pub captured: usize,
    /// The bytes on the wire, at least those captured.
    pub length: usize,
    /// The offset of the next record.
    pub size: usize,
    /// The packets dropped since the capture began, if stated.
    pub dropped: Option<u64>,
}

/// The records of a file.
#[derive(Debug)]
pub struct Packets<H> {
    headers: H,
    first: Option<i64>,
    last: Option<i64>,
    /// The counts of dropped packets.
    pub statistics: Statistics,
}

impl<H: Headers> Packets<H> {
    /// Returns the records after the file's header.
    pub fn new(headers: H) -> Packets<H> {
        Packets { headers, first: None, last: None, statistics: Statistics::default() }
    }

    /// Whether the next record, or damage in its place, is present.
    fn at_hand(&self, input: &mut Input) -> bool {
        input.at_hand(H::LEAST) && {
            let size = self.headers.size(input.peek(H::LEAST)).unwrap_or(H::LEAST);
            input.at_hand(size)
        }
    }

    /// Finds the next packet.
    pub fn next(&mut self, input: &mut Input, side: &mut SideOutputs) -> Option<Frame> {
        loop {
            if input.live && !self.at_hand(input) {
                return None;
            }
            let bytes = input.peek_live(H::LEAST, H::MOST - H::LEAST);
            if bytes.is_empty() {
                return None;
            }
            if bytes.len() < H::LEAST {
                let rest = cut_short(input, side.quarantine, H::EXPECTED);
                input.consume(rest);
                return None;
            }
            match self.headers.header(bytes) {
                Some(header) if self.near(&header) => {
                    if let Some(frame) = self.frame(&header, input, side) {
                        return Some(frame);
                    }
                }
                header => {
                    let far = header.is_some_and(|header| {
                        self.sane(
                            &header,
                            input.peek_live(header.size + H::LEAST, H::MOST - H::LEAST),
                        )
                    });
                    if far {
                        self.last = header.map(|header| header.time);
                        continue;
                    }
                    let expected = "a packet header whose lengths and time are possible";
                    let what = ("bad-packet-header", expected);
                    resynchronise(input, side.quarantine, what, |bytes| self.resumes(bytes));
                }
            }
        }
    }

    /// A packet with a plausible header; `None` if there is none, or if the bytes after the header
    /// contradict it.
    fn frame(
        &mut self,
        header: &Header,
        input: &mut Input,
        side: &mut SideOutputs,
    ) -> Option<Frame> {
        let (offset, mut size) = (input.position(), header.size);
        let live = input.live;
        let bytes = input.peek_live(size, H::MOST);
        let followed = bytes.len() == size
            || (live && (size..size + H::MOST).contains(&bytes.len()))
            || bytes.get(size..).and_then(|b| self.headers.header(b)).is_some();
        if !followed {
            let within = &bytes[..size.min(bytes.len())];
            let next = (H::LEAST..within.len()).find(|&at| self.follows(&bytes[at..]));
            if let Some(next) = next {
                let expected = "a packet of the length that its header states";
                let damaged = &bytes[..next];
                side.quarantine.set_aside(offset, None, "bad-packet-header", expected, damaged);
                input.consume(next);
                return None;
            }
            if bytes.len() < size {
                let expected = "the bytes that the packet's header states";
                size = cut_short(input, side.quarantine, expected);
            }
        }
        self.last = Some(header.time);
        let Header { time, content, length, .. } = *header;
        let start = header.start.min(size);
        let captured = header.captured.min(size - start);
        if let Some(dropped) = header.dropped {
            self.statistics.count(0, time, dropped, self.first.unwrap_or(time));
        }
        if let Content::Packet(link) = content {
            self.first = self.first.or(Some(time));
            return Some(Frame { link, time, length, start, captured, size });
        }
        if content == Content::Unread {
            side.unread.add(Reason::Link, captured as u64);
            let expected = "a record whose type can be read";
            let record = &input.peek(size)[..size];
            side.quarantine.set_aside(offset, None, "unknown-interface", expected, record);
        }
        input.consume(size);
        None
    }

    fn near(&self, header: &Header) -> bool {
        self.last.is_none_or(|last| (header.time - last).abs() <= NEAR)
    }

    /// Whether the bytes after a header confirm it: an IP packet that fits, or a further header of
    /// about the same time, or the end.
    fn sane(&self, header: &Header, bytes: &[u8]) -> bool {
        let Some(behind) = bytes.get(header.size..) else {
            return holds_ip(header, bytes);
        };
        let next = self.headers.header(behind);
        behind.is_empty()
            || next.is_some_and(|next| (next.time - header.time).abs() <= NEAR)
            || holds_ip(header, bytes)
    }

    /// Whether a packet begins here, after damage.
    fn resumes(&self, bytes: &[u8]) -> bool {
        let header = self.headers.header(bytes);
        header.is_some_and(|header| self.near(&header) && self.sane(&header, bytes))
    }

    /// Whether a packet begins here, within another header's packet: a packet may contain a
    /// capture, but hardly one made at the same time.
    fn follows(&self, bytes: &[u8]) -> bool {
        self.headers.header(bytes).is_some_and(|header| {
            let behind = bytes.get(header.size..);
            self.near(&header)
                && holds_ip(&header, bytes)
                && behind.is_none_or(|next| next.is_empty() || self.headers.header(next).is_some())
        })
    }
}

fn holds_ip(header: &Header, bytes: &[u8]) -> bool {
    let Content::Packet(link) = header.content else {
        return false;
    };
    let frame = bytes.get(header.start..).unwrap_or_default();
    let frame = &frame[..frame.len().min(header.captured)];
    match find_ip(link.payload(frame), frame, 0) {
        Inner::Ip { at, .. } => at < frame.len() && ip::fits(&frame[at..], header.length - at),
        _ => false,
    }
}
