//! The capture format of snoop(8), Solaris's monitor (RFC 1761): all numbers have their highest byte
//! first.

use super::error::CaptureError;
use super::file::{LONGEST_FRAME, LONGEST_PACKET};
use super::link::Link;
use super::order::Order;
use super::packets::{Content, Header, Headers, Packets};
use crate::input::Input;

const MAGIC: &[u8; 8] = b"snoop\0\0\0";
const VERSION: u32 = 2;
const FILE_HEADER: usize = 16;
const HEADER: usize = 24;

/// The most plausible bytes of padding after a packet.
const PADDING: usize = 64;

/// The datalink types, in words, for errors.
pub const DATALINKS: &str =
    "802.3 (0), Ethernet (4), other (9), loopback (14), Fibre Channel (16), \
     InfiniBand (26), and Solaris's own IP tunnels, virtual interfaces and ipnet";

/// The reader of packets' headers.
#[derive(Debug)]
pub struct Snoop {
    link: Link,
}

/// The link type of a datalink (RFC 3827, and Solaris's `sys/dlpi.h` for private ones).
fn link(datalink: u32) -> Option<Link> {
    let number = match datalink {
        0 | 4 | 0x8000_0003 => 1,
        9 | 14 => 0,
        16 => 122,
        26 => 242,
        0x8000_0001 | 0x8000_0002 | 0x8000_0007 => 101,
        0x8000_0005 => 226,
        _ => return None,
    };
    Link::from_number(number)
}

impl Snoop {
    /// Whether a file that begins so is of this format.
    pub fn begins(first: &[u8]) -> bool {
        first.starts_with(MAGIC)
    }

    /// Reads the file's header.
    pub fn open(input: &mut Input) -> Result<Packets<Snoop>, CaptureError> {
        let bytes = input.peek(FILE_HEADER);
        if bytes.len() < FILE_HEADER {
            return Err(CaptureError::CutHeader { expected: FILE_HEADER, found: bytes.len() });
        }
        let (version, datalink) = (Order::Big.u32(bytes, 8), Order::Big.u32(bytes, 12));
        if version != VERSION {
            return Err(CaptureError::SnoopVersion(version));
        }
        let link = link(datalink).ok_or(CaptureError::Datalink(datalink))?;
        input.consume(FILE_HEADER);
        Ok(Packets::new(Snoop { link }))
    }
}

impl Headers for Snoop {
    const LEAST: usize = HEADER;
    const EXPECTED: &'static str = "a packet header of 24 bytes";

    fn size(&self, bytes: &[u8]) -> Option<usize> {
        self.header(bytes).map(|header| header.size)
    }

    fn header(&self, bytes: &[u8]) -> Option<Header> {
        let bytes = bytes.get(..HEADER)?;
        let word = |at| Order::Big.u32(bytes, at);
        let [length, captured, size] = [0, 4, 8].map(|at| word(at) as usize);
        let possible = word(20) < 1_000_000
            && (1..=LONGEST_PACKET).contains(&captured)
            && (captured..=LONGEST_FRAME).contains(&length)
            && (HEADER + captured..=HEADER + captured + PADDING).contains(&size);
        let time = i64::from(word(16)) * 1_000_000 + i64::from(word(20));
        let (content, dropped) = (Content::Packet(self.link), Some(word(12).into()));
        possible.then_some(Header { time, content, start: HEADER, captured, length, size, dropped })
    }
}
