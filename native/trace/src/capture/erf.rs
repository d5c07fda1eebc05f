//! ERF, the capture format of Endace's cards: records without a header of the file. Times have their
//! lowest byte first, all other numbers their highest.

use super::link::Link;
use super::order::Order;
use super::packets::{Content, Header, Headers, Packets};

/// A record's header, an extension header, and how many of these are believed.
const HEADER: usize = 16;
const EXTENSION: usize = 8;
const EXTENSIONS: usize = 16;

/// An extension header follows: the highest bit of the type, and of each extension's.
const EXTENDED: u8 = 0x80;

/// The bytes before a frame of Ethernet.
const OFFSET: usize = 2;

/// Types of records: IP of either version, descriptions of the capture, and filling.
const IPV4: u8 = 22;
const IPV6: u8 = 23;
const META: u8 = 27;
const PAD: u8 = 48;
/// Frames of Ethernet, and of HDLC or PPP, with various metadata.
const ETHERNETS: [u8; 4] = [2, 11, 16, 20];
const LINES: [u8; 4] = [1, 10, 15, 19];
/// The highest existing type.
const HIGHEST: u8 = 48;

/// The seconds that the first record may state: from 1990 to 2100.
const SECONDS: std::ops::Range<u32> = 631_152_000..4_102_444_800;

/// The records that identify the format, and the most seconds between them.
const CHECKED_RECORDS: usize = 4;
const NEAR: u32 = 86_400;

/// The reader of records.
#[derive(Debug)]
pub struct Erf;

impl Erf {
    /// Whether a file of this beginning has this format: its first records are contiguous and near
    /// in time, and the first is a packet's or a description of the capture.
    pub fn begins(first: &[u8]) -> bool {
        let Some(begin) = Erf.header(first) else {
            return false;
        };
        let seconds = Order::Little.u32(first, 4);
        let telling = matches!(begin.content, Content::Packet(_)) || first[8] & !EXTENDED == META;
        if !telling || !SECONDS.contains(&seconds) || first.len() < begin.size {
            return false;
        }
        let mut rest = &first[begin.size..];
        for _ in 1..CHECKED_RECORDS {
            match Erf.header(rest) {
                Some(next) if Order::Little.u32(rest, 4).abs_diff(seconds) <= NEAR => {
                    rest = rest.get(next.size..).unwrap_or_default();
                }
                _ => return rest.len() < Erf::MOST,
            }
        }
        true
    }

    /// The records of a file.
    pub fn open() -> Packets<Erf> {
        Packets::new(Erf)
    }
}

impl Headers for Erf {
    const LEAST: usize = HEADER;
    const MOST: usize = HEADER + EXTENSIONS * EXTENSION + OFFSET;
    const EXPECTED: &'static str = "a record header of 16 bytes";

    fn size(&self, bytes: &[u8]) -> Option<usize> {
        Some(usize::from(Order::Big.u16(bytes, 10)))
    }

    fn header(&self, bytes: &[u8]) -> Option<Header> {
        let fixed = bytes.get(..HEADER)?;
        let (kind, size) = (fixed[8] & !EXTENDED, usize::from(Order::Big.u16(fixed, 10)));
        let extensions = if fixed[8] & EXTENDED == 0 { 0 } else { extensions(bytes)? };
        let mut start = HEADER + extensions * EXTENSION;
        let content = match kind {
            PAD | META => Content::Nothing,
            IPV4 | IPV6 => Content::Packet(Link::Raw),
            _ if ETHERNETS.contains(&kind) => Content::Packet(Link::Ethernet),
            _ if LINES.contains(&kind) => Content::Packet(Link::Ppp(0)),
            _ => Content::Unread,
        };
        if ETHERNETS.contains(&kind) {
            start += OFFSET;
        }
        let there = size.checked_sub(start)?;
        let length = usize::from(Order::Big.u16(fixed, 14));
        let captured = if length == 0 { there } else { there.min(length) };
        let packet = content != Content::Nothing;
        let possible = (1..=HIGHEST).contains(&kind) && (!packet || captured > 0);
        let (time, length) = (time(Order::Little.u64(fixed, 0)), length.max(captured));
        possible.then_some(Header { time, content, start, captured, length, size, dropped: None })
    }
}

/// The number of extension headers, if they are present.
fn extensions(bytes: &[u8]) -> Option<usize> {
    let first = |index: usize| bytes.get(HEADER + index * EXTENSION);
    let last =
        (0..EXTENSIONS).find(|&index| first(index).is_none_or(|byte| byte & EXTENDED == 0))?;
    first(last).map(|_| last + 1)
}

/// Seconds and a binary fraction, in microseconds: rounded to nanoseconds as their writers do, so
/// that a time of whole microseconds stays one.
fn time(stamp: u64) -> i64 {
    let (seconds, fraction) = (stamp >> 32, stamp & 0xffff_ffff);
    let nanoseconds = (fraction * 1_000_000_000 + (1 << 31)) >> 32;
    (seconds * 1_000_000 + nanoseconds / 1000) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_and_a_binary_fraction() {
        assert_eq!(time(0), 0);
        assert_eq!(time(5 << 32 | 1 << 31), 5_500_000);
        assert_eq!(time(u64::MAX), 4_294_967_296_000_000);
        // 0.002 s as a fraction rounded down
        assert_eq!(time((7 << 32) + (2 << 32) / 1000), 7_002_000);
    }
}
