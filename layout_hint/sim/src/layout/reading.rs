//! Files read, and read ahead.

use super::device::{Extent, Ticket};
use super::system::System;
use crate::ffs::Kernel;
use birthmark_storage::cluster::{Blocks, ClusterRules, Version, Wanted};
use birthmark_storage::readahead::{
    Default4, FreeBsd9, Heuristic, Read, Slots, TableRules, Tabled,
};
use std::ops::Range;

/// Most bytes of a transfer.
const CLUSTER: u64 = 128 * 1024;

/// Limit of the search for contiguous blocks: the most that any kernel reads ahead at once.
const FAR: u32 = 64;

/// A kernel's rules of reading ahead, for a size of blocks and number of buffers.
pub fn clusters(kernel: Kernel, block: u32, buffers: u64) -> ClusterRules {
    let version = match kernel {
        Kernel::FreeBsd48 => Version::V4,
        Kernel::FreeBsd14 | Kernel::FreeBsd15 => Version::V9,
    };
    let block = u64::from(block);
    ClusterRules { version, block, cluster: (CLUSTER / block).max(1), buffers }
}

/// A kernel's heuristic for sequential reads in its NFS server; the seed determines positions in
/// its table of files.
pub fn heuristic(kernel: Kernel, block: u32, seed: u64) -> Box<dyn Heuristic + Send> {
    let slots = Slots::Scattered(seed);
    match kernel {
        Kernel::FreeBsd48 => Box::new(Tabled::new(Default4, TableRules::freebsd4(slots))),
        Kernel::FreeBsd14 | Kernel::FreeBsd15 => {
            let rule = FreeBsd9 { block: block.into() };
            Box::new(Tabled::new(rule, TableRules::freebsd9(slots)))
        }
    }
}

/// The blocks of files as `cluster_read` sees them, and its marks on blocks outside the cache.
struct View<'a> {
    system: &'a mut System,
    marks: Vec<u32>,
}

impl Blocks for View<'_> {
    fn held(&self, file: u64, block: u64) -> bool {
        self.system.cache.find(file as u32, block as u32).is_some()
    }

    fn contiguous(&self, file: u64, block: u64) -> u64 {
        self.system.contiguous(file as u32, block as u32).into()
    }

    fn mark(&mut self, file: u64, block: u64) {
        match self.system.cache.find(file as u32, block as u32) {
            Some(at) => self.system.cache.get_mut(at).marked = true,
            None => self.marks.push(block as u32),
        }
    }

    fn unmark(&mut self, file: u64, block: u64) -> bool {
        let found = self.system.cache.find(file as u32, block as u32);
        found.is_some_and(|at| std::mem::take(&mut self.system.cache.get_mut(at).marked))
    }
}

impl System {
    /// Reads bytes of a file (`ffs_read`).
    pub fn read(&mut self, object: u32, offset: u64, count: u64) {
        let (size, bsize) = (self.size(object), u64::from(self.geometry.bsize));
        let end = offset.saturating_add(count).min(size);
        if offset >= end {
            return;
        }
        let at = (self.device.now * 1e9) as u64;
        let read = Read { offset, bytes: end - offset, at };
        let count = self.heuristic.seen(object.into(), &read).into();
        for block in offset / bsize..=(end - 1) / bsize {
            let bytes = end - offset.max(block * bsize);
            let wanted = Wanted { file: object.into(), block, bytes, count };
            if (block + 1) * bsize < size {
                self.cluster_read(object, wanted);
            } else if let Some((address, fragments)) = self.place(object, block as u32) {
                self.read_indirect(object, block as u32);
                self.block(self.wanted(object, block as u32, address, fragments), true);
            }
        }
    }

    /// Reads a block that is not the file's last, and others beside and ahead of it
    /// (`cluster_read`).
    fn cluster_read(&mut self, object: u32, wanted: Wanted) {
        let Some((address, fragments)) = self.place(object, wanted.block as u32) else { return };
        let (rules, mut ahead) = (self.clusters, std::mem::take(&mut self.ahead));
        if self.cache.find(object, wanted.block as u32).is_some() {
            self.block(self.wanted(object, wanted.block as u32, address, fragments), true);
        }
        let mut view = View { system: self, marks: Vec::new() };
        let now = rules.read(&wanted, &mut view, &mut ahead);
        let marks = view.marks;
        let first = now.map(|now| {
            self.misses += 1;
            self.read_run(object, &now)
        });
        for cluster in ahead.drain(..) {
            self.read_run(object, &cluster);
        }
        self.ahead = ahead;
        for block in marks {
            if let Some(at) = self.cache.find(object, block) {
                self.cache.get_mut(at).marked = true;
            }
        }
        if let Some(ticket) = first {
            self.device.wait(ticket);
            if let Some(at) = self.cache.find(object, wanted.block as u32) {
                self.cache.get_mut(at).ticket = None;
            }
        }
    }

    /// Number of contiguous whole blocks from one on.
    fn contiguous(&self, object: u32, block: u32) -> u32 {
        let frag = self.geometry.frag();
        let place = |block| self.place(object, block).filter(|(_, fragments)| *fragments == frag);
        let Some((first, _)) = place(block) else { return 0 };
        let follows = |n: &u32| {
            block.checked_add(*n).and_then(place).map(|own| own.0) == Some(first + n * frag)
        };
        (0..FAR).take_while(follows).count() as u32
    }

    /// Starts a read of contiguous blocks.
    fn read_run(&mut self, object: u32, blocks: &Range<u64>) -> Option<Ticket> {
        let (first, frag) = (blocks.start as u32, self.geometry.frag());
        self.read_indirect(object, first);
        let (address, _) = self.place(object, first)?;
        let fragments = (blocks.end - blocks.start) as u32 * frag;
        let extent = Extent { fragments, ..self.wanted(object, first, address, 0).extent };
        let ticket = self.device.read(extent);
        for (number, n) in (first..blocks.end as u32).zip(0..) {
            let at = self.admit(self.wanted(object, number, address + n * frag, frag), true);
            self.cache.get_mut(at).ticket = ticket;
        }
        ticket
    }
}
