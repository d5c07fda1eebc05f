//! Disk traffic: per 4 KB, per object, and by kind.

use serde::Serialize;
use std::collections::BTreeMap;

/// Bytes per counter (section 7.1 of the thesis).
pub const COUNTED: u64 = 4096;

/// Contents of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file's data.
    Data,
    /// A directory's entries.
    Directory,
    /// Inodes.
    Inode,
    /// The maps of a cylinder group.
    Group,
    /// Addresses of a file's blocks.
    Indirect,
    /// The superblock, and the summaries of all groups.
    Superblock,
}

const KINDS: [&str; 6] = ["data", "directory", "inode", "group", "indirect", "superblock"];

/// Requests and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

/// Reads and writes of 4 KB, of each of many things.
#[derive(Debug)]
pub struct Touched {
    /// Reads.
    pub reads: Vec<u32>,
    /// Writes.
    pub writes: Vec<u32>,
}

/// All counts.
#[derive(Debug)]
pub struct Counters {
    /// Per 4 KB of the partition.
    pub blocks: Touched,
    /// Per object, of its own blocks.
    pub objects: Touched,
    kinds: [Traffic; 6],
}

impl Counters {
    /// None yet.
    pub fn new(bytes: u64, objects: usize) -> Counters {
        Counters {
            blocks: Touched::new(bytes.div_ceil(COUNTED) as usize),
            objects: Touched::new(objects),
            kinds: Default::default(),
        }
    }

    /// Counts a request. Bytes beyond the partition have no counter.
    pub fn count(&mut self, start: u64, bytes: u64, write: bool, kind: Kind, owner: u32) {
        let traffic = &mut self.kinds[kind as usize];
        let (requests, sum) = match write {
            true => (&mut traffic.writes, &mut traffic.written_bytes),
            false => (&mut traffic.reads, &mut traffic.read_bytes),
        };
        (*requests, *sum) = (*requests + 1, *sum + bytes);
        let (first, end) = (start / COUNTED, (start + bytes).div_ceil(COUNTED));
        let blocks = self.blocks.of(write);
        let end = (end as usize).min(blocks.len());
        let touched = blocks.get_mut(first as usize..end).unwrap_or_default();
        let n = touched.len() as u32;
        touched.iter_mut().for_each(|count| *count = count.saturating_add(1));
        if matches!(kind, Kind::Data | Kind::Directory) {
            if let Some(count) = self.objects.of(write).get_mut(owner as usize) {
                *count = count.saturating_add(n);
            }
        }
    }

    /// Traffic of each kind.
    pub fn kinds(&self) -> BTreeMap<&'static str, Traffic> {
        KINDS.into_iter().zip(self.kinds).collect()
    }
}

impl Touched {
    fn new(things: usize) -> Touched {
        Touched { reads: vec![0; things], writes: vec![0; things] }
    }

    #[inline]
    fn of(&mut self, write: bool) -> &mut Vec<u32> {
        match write {
            true => &mut self.writes,
            false => &mut self.reads,
        }
    }

    /// Both counts of one thing.
    #[inline]
    pub fn get(&self, at: usize) -> (u32, u32) {
        (self.reads[at], self.writes[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_counts_for_each_four_kilobytes_that_it_touches() {
        let mut counters = Counters::new(5 * COUNTED, 2);
        counters.count(2048, 2048, true, Kind::Data, 1);
        counters.count(4096 - 2048, 4096, false, Kind::Inode, 1);
        counters.count(3 * 4096, 16384, true, Kind::Directory, 0);
        let touched: Vec<_> = (0..5).map(|at| counters.blocks.get(at)).collect();
        assert_eq!(touched, [(1, 1), (1, 0), (0, 0), (0, 1), (0, 1)]);
        let objects: Vec<_> = (0..2).map(|at| counters.objects.get(at)).collect();
        assert_eq!(objects, [(0, 2), (0, 1)]);
        let kinds = counters.kinds();
        assert_eq!(kinds["inode"], Traffic { reads: 1, read_bytes: 4096, ..Traffic::default() });
        assert_eq!((kinds["data"].writes, kinds["data"].written_bytes), (1, 2048));
    }
}
