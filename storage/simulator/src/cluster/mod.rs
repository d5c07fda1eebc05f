//! Clustering and reading ahead: FreeBSD's `cluster_read`.
//!
//! Blocks of a file carry marks. A read of a marked block checks whether enough is in memory behind
//! it, and if not, begins to read the next cluster. So marks keep clusters under way during a
//! sequential read.
//!
//! - [`Version::V4`]: FreeBSD 4.8. One cluster at a time, up to two ahead.
//! - [`Version::V9`]: FreeBSD 9.3. As many as the count and `vfs.read_max` allow.

#[cfg(test)]
mod tests;

use serde::Deserialize;
use std::ops::Range;

/// Version of FreeBSD.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// 4.8.
    V4,
    /// 9.3.
    V9,
}

/// Rules of clustering and reading ahead.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ClusterRules {
    /// The version whose rule applies.
    pub version: Version,
    /// Bytes of a block.
    pub block: u64,
    /// Blocks of a cluster at most, at least one: `mnt_iosize_max`, 128 KB for ATA and 64 KB for SCSI
    /// drives of FreeBSD 4.
    pub cluster: u64,
    /// Buffers of the machine (`nbuf`); an eighth may be ahead.
    pub buffers: u64,
}

/// Blocks ahead at most, in FreeBSD 4.
const MOST_V4: u64 = 32;

/// Blocks ahead at most, in FreeBSD 9: `vfs.read_max`.
const MOST_V9: u64 = 64;

/// A read of a block of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The file.
    pub file: u64,
    /// The block.
    pub block: u64,
    /// Requested bytes from this block on.
    pub bytes: u64,
    /// How sequentially the file is read, 0 to 127.
    pub count: u64,
}

/// State of the blocks of files in memory.
pub trait Blocks {
    /// Whether a block is in memory, or on its way there.
    fn held(&self, file: u64, block: u64) -> bool;

    /// Number of contiguous blocks on the drive from one on, itself included; none if the file ends
    /// before it.
    fn contiguous(&self, file: u64, block: u64) -> u64;

    /// Mark a block that is or will be in memory.
    fn mark(&mut self, file: u64, block: u64);

    /// Remove the mark of a block; return whether it had one.
    fn unmark(&mut self, file: u64, block: u64) -> bool;
}

impl ClusterRules {
    /// The blocks to read for a demanded block; `ahead` receives the clusters to read ahead, in
    /// order.
    pub fn read(
        &self,
        wanted: &Wanted,
        blocks: &mut dyn Blocks,
        ahead: &mut Vec<Range<u64>>,
    ) -> Option<Range<u64>> {
        let most = self.most_ahead(wanted, blocks);
        if blocks.held(wanted.file, wanted.block) {
            if wanted.count > 0 && blocks.unmark(wanted.file, wanted.block) {
                if let Some(next) = self.walk(wanted, most, blocks) {
                    self.read_ahead(wanted, next, most, blocks, ahead);
                }
            }
            return None;
        }
        let now = self.read_now(wanted, blocks);
        self.read_ahead(wanted, now.end, most, blocks, ahead);
        Some(now)
    }

    /// Limit of reading ahead, in blocks.
    fn most_ahead(&self, wanted: &Wanted, blocks: &dyn Blocks) -> u64 {
        let most = match self.version {
            Version::V4 => (2 * self.cluster + wanted.bytes / self.block).min(MOST_V4),
            Version::V9 => {
                let to_end = blocks.contiguous(wanted.file, wanted.block);
                wanted.count.min(MOST_V9).min(to_end)
            }
        };
        most.min(self.buffers / 8)
    }

    /// Find the first block behind one that is not in memory, and mark some of those before it;
    /// none if enough are in memory.
    fn walk(&self, wanted: &Wanted, most: u64, blocks: &mut dyn Blocks) -> Option<u64> {
        for ahead in 1..most {
            let block = wanted.block + ahead;
            if !blocks.held(wanted.file, block) {
                return Some(block);
            }
            if ahead % self.cluster == self.cluster - 1 || ahead == most - 1 {
                blocks.mark(wanted.file, block);
            }
        }
        None
    }

    /// A missing block, and the requested ones behind it.
    fn read_now(&self, wanted: &Wanted, blocks: &mut dyn Blocks) -> Range<u64> {
        let asked = wanted.bytes.div_ceil(self.block).clamp(1, self.cluster);
        let now = self.run(wanted.file, wanted.block, asked, blocks);
        let (second, last) = (now.start + 1, now.end.max(now.start + 1) - 1);
        blocks.mark(wanted.file, second.min(last));
        blocks.mark(wanted.file, last);
        now.start..last + 1
    }

    /// Read clusters ahead, from a block on.
    fn read_ahead(
        &self,
        wanted: &Wanted,
        from: u64,
        most: u64,
        blocks: &mut dyn Blocks,
        ahead: &mut Vec<Range<u64>>,
    ) {
        match self.version {
            Version::V4 if from < wanted.block + wanted.count => {
                let asked = wanted.bytes.div_ceil(self.block);
                let length = wanted.count.max(asked).min(self.cluster);
                ahead.extend(self.cluster_ahead(wanted.file, from, length, blocks));
            }
            Version::V4 => {}
            Version::V9 => {
                let mut next = from;
                while next < wanted.block + most && blocks.contiguous(wanted.file, next) > 0 {
                    let cluster = self.cluster_ahead(wanted.file, next, self.cluster, blocks);
                    next = cluster.as_ref().map_or(next + 1, |cluster| cluster.end);
                    ahead.extend(cluster);
                }
            }
        }
    }

    /// A cluster to read ahead, marked at its beginning, and at its end unless something cut it off.
    fn cluster_ahead(
        &self,
        file: u64,
        from: u64,
        length: u64,
        blocks: &mut dyn Blocks,
    ) -> Option<Range<u64>> {
        let cluster = self.run(file, from, length, blocks);
        if cluster.is_empty() {
            return None;
        }
        blocks.mark(file, cluster.start);
        if cluster.end == cluster.start + length {
            blocks.mark(file, cluster.end - 1);
        }
        Some(cluster)
    }

    /// Contiguous missing blocks on the drive, at most `most`.
    fn run(&self, file: u64, from: u64, most: u64, blocks: &dyn Blocks) -> Range<u64> {
        let most = most.min(blocks.contiguous(file, from));
        let end = (from..from + most).find(|&block| blocks.held(file, block));
        from..end.unwrap_or(from + most)
    }
}
