//! Blocks read into the cache, changed there, and written to the disk.

use super::cache::Buffer;
use super::counters::Kind;
use super::device::{Extent, Writer};
use super::syncer;
use super::system::System;
use super::trace::What;
use crate::ffs::SUPERBLOCK;

/// The number of a file's indirect block: its address, beyond all numbers of blocks.
pub const INDIRECT: u32 = 1 << 31;

/// A block that is wanted in the cache.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its number among the owner's.
    pub number: u32,
    /// Where it is.
    pub extent: Extent,
}

impl System {
    /// The buffer of a block; it is read if necessary and `read` is set.
    pub fn block(&mut self, wanted: Wanted, read: bool) -> u32 {
        let Wanted { number, extent } = wanted;
        if let Some(at) = self.cache.find(extent.owner, number) {
            self.hits += 1;
            self.cache.used(at);
            if self.cache.get(at).ticket.is_some() {
                let ticket = self.cache.get_mut(at).ticket.take();
                self.device.wait(ticket);
            }
            return at;
        }
        if read {
            self.misses += 1;
            let ticket = self.device.read(extent);
            self.device.wait(ticket);
        }
        self.admit(wanted, read)
    }

    /// Takes a block into the cache, evicting others.
    pub fn admit(&mut self, wanted: Wanted, read: bool) -> u32 {
        let Wanted { number, extent } = wanted;
        let at = self.cache.insert(number, extent);
        if read {
            self.cache.get_mut(at).written = self.stamp;
        }
        while let Some(oldest) = self.cache.excess() {
            if self.cache.get(oldest).dirty {
                self.write_cluster(oldest, Writer::Daemon);
            }
            self.cache.remove(oldest);
        }
        at
    }

    /// Marks a buffer as changed: it is written later.
    pub fn change(&mut self, at: u32) {
        if self.cache.set_dirty(at, true) {
            let owner = self.cache.get(at).extent.owner;
            let delay = match self.objects.get(owner as usize).map(|object| object.what) {
                None => syncer::DEVICE,
                Some(What::Directory) => syncer::DIRECTORY,
                Some(_) => syncer::FILE,
            };
            self.syncer.add(owner, delay);
        }
    }

    /// Accesses the block of the device with an inode, and may change it.
    pub fn inode_block(&mut self, inode: u32, change: bool) {
        if self.building || inode == 0 {
            return;
        }
        let at = self.block(self.wanted_inode(inode), true);
        if change {
            self.change(at);
        }
    }

    /// Makes a block of inodes, and writes it at once, before the map that refers to it
    /// (`babarrierwrite`).
    pub fn make_inodes(&mut self, first: u32) {
        if self.building {
            return;
        }
        let at = self.block(self.wanted_inode(first), false);
        self.change(at);
        self.write_cluster(at, Writer::Operation);
    }

    /// The block with an inode.
    pub fn wanted_inode(&self, inode: u32) -> Wanted {
        let geometry = &self.geometry;
        let per_block = geometry.bsize / geometry.inode_size();
        let first = (geometry.inode_table() / u64::from(geometry.fsize)) as u32;
        let block = inode % geometry.ipg / per_block;
        let base = geometry.inode_group(inode) * geometry.fpg + first;
        self.wanted_own(base + block * geometry.frag(), geometry.frag(), Kind::Inode)
    }

    /// Changes the maps of a cylinder group.
    pub fn group_block(&mut self, cg: u32) {
        self.modified = true;
        if self.building {
            return;
        }
        let at = self.block(self.wanted_group(cg), true);
        self.change(at);
    }

    /// The block with the maps of a cylinder group: before its inodes.
    pub fn wanted_group(&self, cg: u32) -> Wanted {
        let geometry = &self.geometry;
        let inodes = (geometry.inode_table() / u64::from(geometry.fsize)) as u32;
        let address = cg * geometry.fpg + inodes - geometry.frag();
        self.wanted_own(address, geometry.frag(), Kind::Group)
    }

    fn wanted_own(&self, address: u32, fragments: u32, kind: Kind) -> Wanted {
        let extent = Extent { address, fragments, kind, owner: self.own };
        Wanted { number: address, extent }
    }

    /// A block of an object's own.
    pub fn wanted(&self, object: u32, lbn: u32, address: u32, fragments: u32) -> Wanted {
        let kind = match self.objects[object as usize].what {
            What::Directory => Kind::Directory,
            _ => Kind::Data,
        };
        Wanted { number: lbn, extent: Extent { address, fragments, kind, owner: object } }
    }

    /// Writes an owner's dirty buffers.
    pub fn flush(&mut self, owner: u32, writer: Writer) {
        for at in self.cache.dirty_of(owner) {
            if self.cache.get(at).dirty {
                self.write_cluster(at, writer);
            }
        }
    }

    /// Writes an object's buffers, then its inode, and waits for both (`ffs_fsync`).
    pub fn fsync(&mut self, object: u32) {
        if self.building {
            return;
        }
        self.flush(object, Writer::Waiting);
        let Wanted { number, extent } = self.wanted_inode(self.objects[object as usize].inode);
        let found = self.cache.find(extent.owner, number);
        if let Some(at) = found.filter(|&at| self.cache.get(at).dirty) {
            self.write_cluster(at, Writer::Waiting);
        }
    }

    /// Writes a dirty buffer, together with those of the same file that follow it on the disk
    /// (`vfs_bio_awrite`).
    pub fn write_cluster(&mut self, at: u32, writer: Writer) {
        let mut last = *self.cache.get(at);
        let mut extent = last.extent;
        self.cleaned(at, &last);
        let (frag, most) = (self.geometry.frag(), 128 * 1024 / self.geometry.fsize);
        while extent.kind == Kind::Data && last.extent.fragments == frag && extent.fragments < most
        {
            let Some(at) = self.cache.find(extent.owner, last.number + 1) else { break };
            let next = *self.cache.get(at);
            let follows = next.extent.address == last.extent.address + frag;
            if !next.dirty || !follows || next.extent.fragments != frag {
                break;
            }
            extent.fragments += frag;
            self.cleaned(at, &next);
            last = next;
        }
        self.device.write(extent, writer);
    }

    /// Records that a buffer is on the disk.
    fn cleaned(&mut self, at: u32, buffer: &Buffer) {
        self.cache.set_dirty(at, false);
        let Extent { kind, owner, .. } = buffer.extent;
        if !self.cache.has_dirty(owner) {
            self.syncer.remove(owner);
        }
        self.cache.get_mut(at).written = self.stamp;
        self.stamp += 1;
        if matches!(kind, Kind::Directory | Kind::Inode) {
            self.delayed.written(owner, buffer.number);
        }
    }

    /// Writes the summaries of all groups and the superblock, if they changed (`ffs_sbupdate`).
    pub fn write_superblock(&mut self) {
        if !std::mem::take(&mut self.modified) {
            return;
        }
        let (geometry, kind, owner) = (&self.geometry, Kind::Superblock, self.own);
        let (frag, metadata) = (geometry.frag(), geometry.metadata(0));
        let place = geometry.superblock_at() / geometry.fsize;
        let mut writes = vec![(place, SUPERBLOCK.div_ceil(geometry.fsize))];
        let mut address = geometry.dblkno();
        while address < metadata.end {
            writes.push((address, frag.min(metadata.end - address)));
            address += frag;
        }
        for (address, fragments) in writes {
            let extent = Extent { address, fragments, kind, owner };
            self.device.write(extent, Writer::Daemon);
        }
    }

    /// Writes until few buffers are dirty, if too many are (`buf_daemon`).
    #[inline]
    pub fn relieve(&mut self) {
        if self.cache.dirty() > self.most_dirty {
            for at in self.cache.oldest_dirty(self.most_dirty / 2) {
                if self.cache.get(at).dirty {
                    self.write_cluster(at, Writer::Daemon);
                }
            }
        }
    }
}
