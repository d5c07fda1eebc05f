//! Work delayed by soft updates: removed names, and freed space, that are still on the disk.
//!
//! A removed name's file exists until the directory's block has been written; then the file's inode
//! and blocks stay allocated until its inode's block has been written (`ffs_softdep.c`,
//! `newdirrem`, `softdep_setup_freeblocks`, `softdep_freefile`).

use super::directory::Entry;
use super::system::System;
use crate::ffs::{Change, Detached};
use hashbrown::HashMap;

/// Work that waits for a block to be written.
#[derive(Debug, Default)]
pub struct Delayed {
    /// By owner and block: a directory's, or one of the device's with inodes.
    waiting: HashMap<(u32, u32), Vec<Work>>,
    ready: Vec<Work>,
}

#[derive(Debug)]
enum Work {
    /// An object loses a name.
    Unlink(u32),
    /// Detached space becomes free.
    Release(Detached),
}

impl Delayed {
    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.ready.is_empty()
    }

    /// A block was written: process the work that waited for it.
    pub fn written(&mut self, owner: u32, number: u32) {
        self.ready.extend(self.waiting.remove(&(owner, number)).into_iter().flatten());
    }

    fn wait(&mut self, owner: u32, number: u32, work: Work) {
        self.waiting.entry((owner, number)).or_default().push(work);
    }
}

impl System {
    /// Records that a directory's entry no longer leads to an object.
    pub fn entry_removed(&mut self, directory: u32, block: u32, entry: &Entry) {
        let object = entry.object;
        let live = &mut self.objects[object as usize];
        live.links = live.links.saturating_sub(1);
        let live = *live;
        if live.links == 0 {
            self.fs.leave(live.inode);
        }
        self.inode_block(live.inode, true);
        let lbn = self.directory_lbn(block);
        if self.building || !self.is_on_disk(directory, lbn, entry.stamp) {
            return self.drop_if_unused(object);
        }
        self.objects[object as usize].held += 1;
        self.delayed.wait(directory, lbn, Work::Unlink(object));
    }

    /// Whether a block was written, or read, after `stamp`.
    fn is_on_disk(&self, owner: u32, number: u32, stamp: u32) -> bool {
        self.cache.find(owner, number).is_none_or(|at| self.cache.get(at).written > stamp)
    }

    /// Whether the disk knows an object's inode (`check_inode_unwritten`).
    fn inode_is_on_disk(&self, object: u32) -> bool {
        let object = &self.objects[object as usize];
        let inode = self.wanted_inode(object.inode);
        let group = self.wanted_group(self.geometry.inode_group(object.inode));
        [inode, group].iter().any(|w| self.is_on_disk(self.own, w.number, object.stamp))
    }

    fn drop_if_unused(&mut self, object: u32) {
        let live = self.objects[object as usize];
        if live.inode == 0 || live.links > 0 || live.held > 0 {
            return;
        }
        for at in self.cache.all_of(object) {
            self.cache.remove(at);
        }
        let delayed = !self.building && self.inode_is_on_disk(object);
        if delayed {
            if let Ok(detached) = self.fs.detach(live.inode) {
                self.wait_for_inode(live.inode, detached);
            }
        } else if let Err(error) = self.fs.unlink(live.inode) {
            self.count_unexpected("remove", &error.to_string());
        }
        self.objects[object as usize].inode = 0;
        self.follow_changes(None);
    }

    /// Takes all blocks from a file.
    pub fn empty(&mut self, object: u32) {
        for at in self.cache.all_of(object) {
            self.cache.remove(at);
        }
        let inode = self.objects[object as usize].inode;
        if self.building || !self.inode_is_on_disk(object) {
            if let Err(error) = self.fs.truncate(inode, 0) {
                self.count_unexpected("setattr", &error.to_string());
            }
        } else if let Ok(detached) = self.fs.detach_blocks(inode, 0) {
            self.wait_for_inode(inode, detached);
        }
        self.follow_changes(Some(object));
    }

    /// Releases detached space when the inode's block has been written.
    fn wait_for_inode(&mut self, inode: u32, detached: Detached) {
        let number = self.wanted_inode(inode).number;
        self.delayed.wait(self.own, number, Work::Release(detached));
        self.inode_block(inode, true);
    }

    /// Does the work that is ready (`softdep_process_worklist`).
    pub fn work(&mut self) {
        while let Some(work) = self.delayed.ready.pop() {
            match work {
                Work::Unlink(object) => {
                    let held = &mut self.objects[object as usize].held;
                    *held = held.saturating_sub(1);
                    self.inode_block(self.objects[object as usize].inode, true);
                    self.drop_if_unused(object);
                }
                Work::Release(detached) => {
                    self.fs.release(detached);
                    self.follow_release();
                }
            }
        }
    }

    /// Does all delayed work, as if all had been written. Returns whether there was any.
    pub fn work_all(&mut self) -> bool {
        let any = !self.delayed.is_empty();
        while !self.delayed.is_empty() {
            let Delayed { waiting, ready } = &mut self.delayed;
            ready.extend(waiting.drain().flat_map(|(_, work)| work));
            self.work();
        }
        any
    }

    /// Changes the groups with released space.
    fn follow_release(&mut self) {
        let changes: Vec<Change> = self.fs.take_changes().collect();
        for change in changes {
            if let Change::Group(cg) = change {
                self.group_block(cg);
            }
        }
    }

    /// The block of the file system that a block of a directory is in.
    pub fn directory_lbn(&self, block: u32) -> u32 {
        block / (self.geometry.bsize / super::directory::BLOCK)
    }
}
