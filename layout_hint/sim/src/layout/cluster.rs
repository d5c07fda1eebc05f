//! Blocks of a file gathered into one write (`cluster_write`).

/// Blocks of a cluster, less one: of the 128 KB that the kernel moves at once.
pub fn most(bsize: u32) -> u32 {
    (128 * 1024 / bsize).saturating_sub(1)
}

/// Write pattern of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stream {
    /// Where the last write ended.
    next: u64,
    /// How many blocks in a row, about (`sequential_heuristic`).
    pub sequential: u32,
    start: u32,
    length: u32,
    last: u32,
    address: u32,
}

/// Action on the cluster so far, before a block is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Keep,
    /// Blocks from the first on, so many, are to be written.
    Write(u32, u32),
    /// They are to be moved together, with the new one the last.
    Reallocate(u32, u32),
}

impl Stream {
    /// Records a write of `count` bytes in blocks of `bsize`.
    pub fn access(&mut self, offset: u64, count: u64, bsize: u32) {
        if (offset == 0 && self.sequential > 0) || offset == self.next {
            let more = count.div_ceil(bsize.into()).min(127) as u32;
            self.sequential = (self.sequential + more).min(127);
        } else {
            self.sequential = u32::from(self.sequential > 1);
        }
        self.next = offset.saturating_add(count);
    }

    /// The effect of a whole block on the cluster before it.
    pub fn before(&mut self, lbn: u32, address: u32, frag: u32, at_end: bool) -> Before {
        if lbn == 0 {
            (self.start, self.length, self.last, self.address) = (0, 0, 0, 0);
        }
        if self.length == 0 || self.continues(lbn, address, frag) {
            return Before::Keep;
        }
        let size = (self.last + 1).saturating_sub(self.start);
        if !at_end || lbn != self.last + 1 || self.length <= size {
            return match self.sequential {
                0 => Before::Keep,
                _ => Before::Write(self.start, size),
            };
        }
        Before::Reallocate(self.start, size + 1)
    }

    /// The blocks were moved together.
    pub fn reallocated(&mut self, lbn: u32, address: u32) {
        (self.last, self.address) = (lbn, address);
    }

    /// They were not moved.
    pub fn not_reallocated(&self, size: u32) -> Before {
        match self.sequential {
            0 | 1 => Before::Keep,
            _ => Before::Write(self.start, size - 1),
        }
    }

    /// Adds a block. Returns the blocks to be written, if the cluster is whole.
    pub fn add(&mut self, lbn: u32, address: u32, frag: u32, most: u32) -> Option<(u32, u32)> {
        let mut whole = None;
        if self.length == 0 || !self.continues(lbn, address, frag) {
            (self.start, self.length) = (lbn, most);
        } else if lbn == self.start + self.length {
            whole = (self.sequential > 1).then_some((self.start, self.length + 1));
            (self.start, self.length) = (lbn + 1, 0);
        }
        (self.last, self.address) = (lbn, address);
        whole
    }

    fn continues(&self, lbn: u32, address: u32, frag: u32) -> bool {
        lbn == self.last + 1 && address == self.address + frag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BSIZE: u32 = 16384;

    fn write(stream: &mut Stream, lbn: u32, address: u32) -> (Before, Option<(u32, u32)>) {
        stream.access(u64::from(lbn * BSIZE), BSIZE.into(), BSIZE);
        (stream.before(lbn, address, 8, true), stream.add(lbn, address, 8, most(BSIZE)))
    }

    #[test]
    fn eight_blocks_beside_each_other_are_written_when_the_last_comes() {
        let mut stream = Stream::default();
        let wrote: Vec<_> = (0..20).map(|lbn| write(&mut stream, lbn, 800 + 8 * lbn)).collect();
        let whole: Vec<_> = wrote.iter().filter_map(|each| each.1).collect();
        assert_eq!(whole, [(0, 8), (8, 8)]);
        assert_eq!((wrote[7].1, wrote[15].1), (Some((0, 8)), Some((8, 8))));
        assert!(wrote.iter().all(|each| each.0 == Before::Keep));
    }

    #[test]
    fn a_gap_on_the_disk_moves_the_cluster_and_one_in_the_file_writes_it() {
        let mut stream = Stream::default();
        (0..3).for_each(|lbn| assert_eq!(write(&mut stream, lbn, 80 + 8 * lbn).1, None));
        assert_eq!(stream.before(3, 500, 8, true), Before::Reallocate(0, 4));
        stream.reallocated(3, 624);
        assert_eq!(stream.before(4, 632, 8, true), Before::Keep);
        assert_eq!(stream.before(9, 632, 8, true), Before::Write(0, 4));
        assert_eq!(stream.before(4, 700, 8, false), Before::Write(0, 4));
        assert_eq!(stream.not_reallocated(4), Before::Write(0, 3));
    }
}
