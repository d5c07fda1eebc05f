//! A classic pcap file of Ethernet frames, with times in microseconds.

use std::io::{self, Read, Write};

const MAGIC: u32 = 0xa1b2_c3d4;
/// The snapshot length stated: no frame is longer.
const LONGEST: u32 = 262_144;
const ETHERNET: u32 = 1;

/// Writes packets to a file.
pub struct PcapFile<W: Write> {
    to: W,
}

impl<W: Write> PcapFile<W> {
    /// A file of no packets.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn new(mut to: W) -> io::Result<PcapFile<W>> {
        to.write_all(&MAGIC.to_le_bytes())?;
        to.write_all(&[2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0])?;
        to.write_all(&[LONGEST.to_le_bytes(), ETHERNET.to_le_bytes()].concat())?;
        Ok(PcapFile { to })
    }

    /// Adds a packet of a length, made of parts and then zeros up to its captured length. The time
    /// is in microseconds since the epoch; it is clamped to the range of a pcap file.
    pub fn packet(
        &mut self,
        time: i64,
        parts: &[&[u8]],
        captured: usize,
        length: usize,
    ) -> io::Result<()> {
        let time = time.clamp(0, i64::from(u32::MAX) * 1_000_000) as u64;
        let (seconds, microseconds) = ((time / 1_000_000) as u32, (time % 1_000_000) as u32);
        for word in [seconds, microseconds, captured as u32, length as u32] {
            self.to.write_all(&word.to_le_bytes())?;
        }
        let mut left = captured;
        for part in parts {
            let part = &part[..part.len().min(left)];
            self.to.write_all(part)?;
            left -= part.len();
        }
        io::copy(&mut io::repeat(0).take(left as u64), &mut self.to)?;
        Ok(())
    }

    /// Flushes buffered data.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.flush()?;
        Ok(self.to)
    }
}
