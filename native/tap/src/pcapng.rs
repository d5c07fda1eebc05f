//! Blocks of the capture format pcapng (draft-ietf-opsawg-pcapng), in the host's byte order.

use std::io::{self, Write};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

/// Codes of options of statistics.
const RECEIVED: u16 = 4;
const DROPPED_BY_INTERFACE: u16 = 5;
const DROPPED_BY_SYSTEM: u16 = 7;

/// When something was, and how many bytes of how many there are of it.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Microseconds since the epoch.
    pub time: u64,
    /// The bytes that travelled.
    pub length: u32,
}

/// Counts since a capture began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that came.
    pub received: u64,
    /// Packets for which the system had no room.
    pub dropped: u64,
    /// Packets that the interface lost.
    pub lost: u64,
}

/// Writes one section with one interface.
pub struct Writer<W> {
    out: W,
    block: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a capture of packets of a link type, each of at most so many bytes.
    pub fn begin(out: W, link: u16, longest: u32) -> io::Result<Writer<W>> {
        let mut writer = Writer { out, block: Vec::new() };
        writer.write(SECTION, |block| {
            block.extend(BYTE_ORDER.to_ne_bytes());
            block.extend(1_u16.to_ne_bytes());
            block.extend(0_u16.to_ne_bytes());
            block.extend(u64::MAX.to_ne_bytes()); // of a length that is not known yet
        })?;
        writer.write(INTERFACE, |block| {
            block.extend(link.to_ne_bytes());
            block.extend(0_u16.to_ne_bytes());
            block.extend(longest.to_ne_bytes());
        })?;
        Ok(writer)
    }

    /// Writes a packet, as far as it was captured.
    pub fn packet(&mut self, header: Header, bytes: &[u8]) -> io::Result<()> {
        self.write(PACKET, |block| {
            block.extend(0_u32.to_ne_bytes());
            block.extend(halves(header.time));
            block.extend((bytes.len() as u32).to_ne_bytes());
            block.extend(header.length.to_ne_bytes());
            block.extend_from_slice(bytes);
            block.resize(block.len().next_multiple_of(4), 0);
        })
    }

    /// Writes what was counted until a time.
    pub fn statistics(&mut self, time: u64, counts: Counts) -> io::Result<()> {
        self.write(STATISTICS, |block| {
            block.extend(0_u32.to_ne_bytes());
            block.extend(halves(time));
            for (code, count) in [
                (RECEIVED, counts.received),
                (DROPPED_BY_INTERFACE, counts.lost),
                (DROPPED_BY_SYSTEM, counts.dropped),
            ] {
                block.extend(code.to_ne_bytes());
                block.extend(8_u16.to_ne_bytes());
                block.extend(count.to_ne_bytes());
            }
            block.extend([0; 4]);
        })
    }

    /// Hands on what was written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes a block: its type, its length, itself, and its length again.
    fn write(&mut self, kind: u32, body: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.block.clear();
        self.block.extend(kind.to_ne_bytes());
        self.block.extend([0; 4]);
        body(&mut self.block);
        let length = (self.block.len() as u32 + 4).to_ne_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.block.extend(length);
        self.out.write_all(&self.block)
    }
}

/// A time as pcapng has it: the upper half first, whatever the byte order.
fn halves(time: u64) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&((time >> 32) as u32).to_ne_bytes());
    bytes[4..].copy_from_slice(&(time as u32).to_ne_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use birthmark_trace::source::Compression;
    use birthmark_trace::trace::Trace;
    use std::io::Cursor;

    #[test]
    fn packets_and_drops_are_read_as_they_were_written() {
        let time = 1_800_000_000_000_000;
        let mut bytes = Vec::new();
        let mut writer = Writer::begin(&mut bytes, 1, 65_535).unwrap();
        writer.packet(Header { time, length: 60 }, &[7; 21]).unwrap();
        let counts = |dropped, lost| Counts { received: 9, dropped, lost };
        writer.statistics(time + 1_000_000, counts(3, 0)).unwrap();
        writer.packet(Header { time: time + 2_000_000, length: 22 }, &[7; 22]).unwrap();
        writer.statistics(time + 3_000_000, counts(3, 0)).unwrap();
        writer.statistics(time + 4_000_000, counts(5, 2)).unwrap();
        let mut trace = Trace::new(Compression::None, Box::new(Cursor::new(bytes))).unwrap();
        trace.judge_by(i64::MAX / 2);
        while trace.next_chunk().unwrap().is_some() {}
        let counts = trace.counts();
        assert!(counts.damaged.is_empty());
        let count = |name| counts.read.details.iter().find(|(of, _)| *of == name).unwrap().1;
        assert_eq!((count("packets"), count("cut_packets"), count("dropped")), (2, 1, 7));
    }
}
