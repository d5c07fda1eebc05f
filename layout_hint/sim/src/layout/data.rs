//! Files and directories written and cut.

use super::buffers::{Wanted, INDIRECT};
use super::cluster::{self, Before};
use super::counters::Kind;
use super::device::{Extent, Writer};
use super::system::System;
use super::trace::What;
use crate::ffs::{Change, Error, DIRECT};

impl System {
    /// Reads the indirect blocks on the way to a block.
    pub(super) fn read_indirect(&mut self, object: u32, lbn: u32) {
        for slot in self.geometry.slots(lbn) {
            let file = self.fs.file(self.objects[object as usize].inode);
            if let Some(address) = file.and_then(|file| file.indirect(slot)) {
                self.block(self.wanted_indirect(object, address), true);
            }
        }
    }

    fn wanted_indirect(&self, object: u32, address: u32) -> Wanted {
        let fragments = self.geometry.frag();
        let extent = Extent { address, fragments, kind: Kind::Indirect, owner: object };
        Wanted { number: INDIRECT | address, extent }
    }

    /// Writes bytes from `from` up to `to` (`ffs_write`).
    pub fn write(&mut self, object: u32, from: u64, to: u64) -> Result<(), Error> {
        let bsize = u64::from(self.geometry.bsize);
        self.objects[object as usize].stream.access(from, to - from, self.geometry.bsize);
        let mut at = from;
        while at < to {
            let end = to.min((at / bsize + 1) * bsize);
            self.write_block(object, at, end)?;
            at = end;
        }
        let size = self.size(object);
        let object = &mut self.objects[object as usize];
        object.most = object.most.max(size);
        Ok(())
    }

    fn write_block(&mut self, object: u32, from: u64, to: u64) -> Result<(), Error> {
        let (bsize, inode) = (u64::from(self.geometry.bsize), self.objects[object as usize].inode);
        let lbn = u32::try_from(from / bsize).map_err(|_| Error::TooLarge)?;
        if !self.building {
            self.read_before(object, lbn, from, to);
        }
        if let Err(error) = self.fs.write(inode, from, to) {
            self.follow_changes(Some(object));
            // delayed removals may still free space
            if error != Error::NoSpace || !self.work_all() {
                return Err(error);
            }
            self.fs.write(inode, from, to)?;
        }
        self.follow_changes(Some(object));
        let whole = to.is_multiple_of(bsize);
        if let Some((address, fragments)) = self.place(object, lbn) {
            let file = self.objects[object as usize].what == What::File;
            if !self.building {
                let at = self.block(self.wanted(object, lbn, address, fragments), false);
                self.cache.moved(at, address, fragments);
                self.change(at);
            }
            if whole && file {
                self.cluster(object, lbn, address, to);
            }
        }
        Ok(())
    }

    /// Reads the remaining parts of a block, and the fragments at the end that become a block.
    fn read_before(&mut self, object: u32, lbn: u32, from: u64, to: u64) {
        let (bsize, size) = (u64::from(self.geometry.bsize), self.size(object));
        let begin = u64::from(lbn) * bsize;
        let remains = from > begin || to < size.min(begin + bsize);
        self.read_indirect(object, lbn);
        if let Some((address, fragments)) = self.place(object, lbn).filter(|_| remains) {
            self.block(self.wanted(object, lbn, address, fragments), true);
        }
        let Ok(end) = u32::try_from(size / bsize) else { return };
        if end < lbn && end < DIRECT && !size.is_multiple_of(bsize) {
            if let Some((address, fragments)) = self.place(object, end) {
                if fragments < self.geometry.frag() {
                    let at = self.block(self.wanted(object, end, address, fragments), true);
                    self.change(at);
                }
            }
        }
    }

    /// Gathers whole blocks, and writes them when there are enough (`cluster_write`).
    fn cluster(&mut self, object: u32, lbn: u32, mut address: u32, end: u64) {
        let (frag, at_end) = (self.geometry.frag(), end == self.size(object));
        let mut stream = self.objects[object as usize].stream;
        let mut before = stream.before(lbn, address, frag, at_end);
        if let Before::Reallocate(start, blocks) = before {
            let inode = self.objects[object as usize].inode;
            if self.fs.reallocate(inode, start, blocks) {
                self.follow_changes(Some(object));
                address = self.place(object, lbn).map_or(address, |(address, _)| address);
                stream.reallocated(lbn, address);
                self.objects[object as usize].stream = stream;
                return;
            }
            before = stream.not_reallocated(blocks);
        }
        if let Before::Write(start, blocks) = before {
            self.write_range(object, start, blocks);
        }
        let whole = stream.add(lbn, address, frag, cluster::most(self.geometry.bsize));
        if let Some((start, blocks)) = whole {
            self.write_range(object, start, blocks);
        }
        self.objects[object as usize].stream = stream;
    }

    fn write_range(&mut self, object: u32, start: u32, blocks: u32) {
        for lbn in start..start.saturating_add(blocks) {
            let found = self.cache.find(object, lbn);
            if let Some(at) = found.filter(|&at| self.cache.get(at).dirty) {
                self.write_cluster(at, Writer::Operation);
            }
        }
    }

    /// Cuts a file, or makes it longer (`ffs_truncate`).
    pub fn truncate(&mut self, object: u32, size: u64) -> Result<(), Error> {
        let (before, inode) = (self.size(object), self.objects[object as usize].inode);
        if size == before {
            return Ok(());
        }
        if size > before {
            return self.write(object, size - 1, size);
        }
        if size == 0 {
            self.empty(object);
            return Ok(());
        }
        // soft updates cannot cut a file with delayed work
        self.fsync(object);
        self.fs.truncate(inode, size)?;
        let remaining = size.div_ceil(self.geometry.bsize.into());
        for at in self.cache.all_of(object) {
            let number = self.cache.get(at).number;
            if number & INDIRECT == 0 && u64::from(number) >= remaining {
                self.cache.remove(at);
            }
        }
        self.follow_changes(Some(object));
        Ok(())
    }

    /// Updates the cache after the file system's changes. `object` is the owner of the changed
    /// blocks.
    pub fn follow_changes(&mut self, object: Option<u32>) {
        let changes: Vec<Change> = self.fs.take_changes().collect();
        for change in changes {
            match change {
                Change::Group(cg) => self.group_block(cg),
                Change::Inode(inode) => self.inode_block(inode, true),
                Change::Made(inode) => self.make_inodes(inode),
                Change::Hint(outcome) => self.count_outcome(outcome),
                _ if self.building => {}
                Change::Indirect { address, .. } => {
                    if let Some(object) = object {
                        let at = self.block(self.wanted_indirect(object, address), false);
                        self.change(at);
                    }
                }
                Change::Placed { lbn, address, fragments, .. } => {
                    let found = object.and_then(|object| self.cache.find(object, lbn));
                    if let Some(at) = found {
                        self.cache.moved(at, address, fragments);
                        self.change(at);
                    }
                }
                Change::Freed { address, .. } => {
                    let found = object.and_then(|o| self.cache.find(o, INDIRECT | address));
                    if let Some(at) = found {
                        self.cache.remove(at);
                    }
                }
            }
        }
    }
}
