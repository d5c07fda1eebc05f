//! Files and directories: made, written, cut and removed.

use super::changes::Change;
use super::detached::Remains;
use super::file::{File, Within};
use super::geometry::Geometry;
use super::growth::Growth;
use super::kernel::{Kernel, Random};
use super::level::Level;
use super::volume::Volume;
use super::Error;
use hashbrown::HashMap;
use slab::Slab;
use std::vec::Drain;

/// The root directory's inode.
pub const ROOT: u32 = 2;
/// Bytes that a directory grows by (`DIRBLKSIZ`).
const DIRECTORY: u64 = 512;

/// A file system with maps and positions, but without data.
#[derive(Clone, Debug)]
pub struct FileSystem<R> {
    /// The cylinder groups.
    pub volume: Volume,
    pub(super) files: HashMap<u32, File>,
    pub(super) detached: Slab<Remains>,
    random: R,
}

impl<R: Random> FileSystem<R> {
    /// One with the root directory alone. The sizes must have been checked.
    pub fn new(geometry: Geometry, kernel: Kernel, random: R) -> Result<FileSystem<R>, Error> {
        let mut made = FileSystem::bare(geometry, kernel, random);
        made.adopt(ROOT, true)?;
        made.volume.superuser = true;
        made.extend(ROOT, DIRECTORY)?;
        made.volume.superuser = false;
        Ok(made)
    }

    /// One with no directory at all. The sizes must have been checked.
    pub fn bare(geometry: Geometry, kernel: Kernel, random: R) -> FileSystem<R> {
        let (volume, files) = (Volume::new(geometry, kernel), HashMap::new());
        let mut made = FileSystem { volume, files, detached: Slab::new(), random };
        // 0 stands for none; 1 was for bad blocks
        (0..ROOT).for_each(|inode| made.volume.set_inode(0, inode, false, false));
        made
    }

    /// Makes an empty file or directory with a given inode.
    pub fn adopt(&mut self, inode: u32, directory: bool) -> Result<(), Error> {
        let (cg, at) = (self.volume.geometry.inode_group(inode), inode % self.volume.geometry.ipg);
        let group = self.volume.groups.get(cg as usize).ok_or(Error::Taken(inode))?;
        if !group.is_free(at) {
            return Err(Error::Taken(inode));
        }
        self.volume.set_inode(cg, at, directory, false);
        self.files.insert(inode, File::new(directory, false));
        Ok(())
    }

    /// Logs changes from now on.
    pub fn log_changes(&mut self) {
        self.volume.changes.on = true;
    }

    /// The changes since the last call, in order. Nothing without [`Self::log_changes`].
    pub fn take_changes(&mut self) -> Drain<'_, Change> {
        self.volume.changes.list.drain(..)
    }

    /// The file or directory of an inode.
    pub fn file(&self, inode: u32) -> Option<&File> {
        self.files.get(&inode)
    }

    /// All files and directories, in no order.
    pub fn files(&self) -> impl Iterator<Item = (u32, &File)> {
        self.files.iter().map(|(&inode, file)| (inode, file))
    }

    /// Makes a directory, with a fragment for its entries (`ufs_mkdir`); a hot one in the region,
    /// if there is room. Returns its inode.
    pub fn mkdir(&mut self, parent: u32, hot: bool) -> Result<u32, Error> {
        self.directory(parent)?;
        if self.volume.total.nifree == 0 {
            return Err(Error::NoInodes); // before a random number is drawn, as `ffs_valloc` does
        }
        let inode = match self.place(true, hot) {
            Some(inode) => inode,
            None => {
                let within = self.files.get(&parent).and_then(|file| file.within.as_ref());
                let cg = self.volume.prefer_group(parent, within, &mut self.random);
                self.volume.alloc_inode(cg * self.volume.geometry.ipg, true)?
            }
        };
        self.insert(inode, true, hot);
        self.enter(inode, parent);
        if let Err(error) = self.extend(inode, DIRECTORY) {
            self.unlink(inode)?;
            return Err(error);
        }
        Ok(inode)
    }

    /// Moves a directory into another one (`ufs_rename`).
    pub fn move_directory(&mut self, inode: u32, parent: u32) -> Result<(), Error> {
        self.directory(inode)?;
        self.directory(parent)?;
        self.leave(inode);
        self.enter(inode, parent);
        Ok(())
    }

    /// Counts a directory in another, one level below.
    fn enter(&mut self, inode: u32, parent: u32) {
        let mut depth = 0;
        if let Some(above) = self.within(parent) {
            above.directories += 1;
            depth = above.depth + 1;
        }
        if let Some(within) = self.within(inode) {
            (within.parent, within.depth) = (parent, depth);
        }
    }

    /// Removes a directory from its parent's count: once, as soon as it has no name there
    /// (`ufs_rmdir`). Later the parent's inode may be another directory's.
    pub fn leave(&mut self, inode: u32) {
        let parent = self.within(inode).map(|within| std::mem::take(&mut within.parent));
        if let Some(above) = parent.and_then(|parent| self.within(parent)) {
            above.directories -= 1;
        }
    }

    fn within(&mut self, inode: u32) -> Option<&mut Within> {
        self.files.get_mut(&inode).and_then(|file| file.within.as_mut())
    }

    /// Makes an empty file (`ufs_makeinode`); a hot one in the region, if there is room. Returns
    /// its inode.
    pub fn create(&mut self, parent: u32, hot: bool) -> Result<u32, Error> {
        self.directory(parent)?;
        let inode = match self.place(false, hot) {
            Some(inode) => inode,
            None => self.volume.alloc_inode(parent, false)?,
        };
        Ok(self.insert(inode, false, hot))
    }

    /// Extends a file, at most a block at a time, in order. Without space for all of it, it gets a
    /// part.
    pub fn extend(&mut self, inode: u32, size: u64) -> Result<(), Error> {
        let from = self.files.get(&inode).ok_or(Error::NoFile(inode))?.size;
        self.write(inode, from, size)
    }

    /// Writes the bytes from `from` up to `to`, at most a block at a time, in order.
    pub fn write(&mut self, inode: u32, from: u64, to: u64) -> Result<(), Error> {
        let bsize = u64::from(self.volume.geometry.bsize);
        let file = self.files.get_mut(&inode).ok_or(Error::NoFile(inode))?;
        let last = u32::try_from(to.saturating_sub(1) / bsize).unwrap_or(u32::MAX);
        let last = Some(last).filter(|&last| last < u32::MAX).ok_or(Error::TooLarge)?;
        Level::of(last, self.volume.geometry.nindir()).ok_or(Error::TooLarge)?;
        self.volume.changes.push(Change::Inode(inode));
        let mut growth = Growth { volume: &mut self.volume, inode, file };
        let mut at = from;
        while at < to {
            let lbn = at / bsize;
            let end = to.min((lbn + 1) * bsize);
            growth.reach(lbn as u32, (end - lbn * bsize) as u32)?;
            growth.file.size = growth.file.size.max(end);
            at = end;
        }
        Ok(())
    }

    /// An inode of the region, if it is for something hot and there is one.
    fn place(&mut self, directory: bool, hot: bool) -> Option<u32> {
        if !hot || self.volume.total.nifree == 0 {
            return None;
        }
        self.volume.place_inode(directory)
    }

    /// An empty file or directory with a given inode; hot if that is in the region, or if the
    /// region has none.
    fn insert(&mut self, inode: u32, directory: bool, hot: bool) -> u32 {
        let region = self.volume.region.as_ref().map(|region| &region.inodes);
        let placed = region.is_some_and(|inodes| inodes.is_empty() || inodes.contains(&inode));
        self.files.insert(inode, File::new(directory, hot && placed));
        inode
    }

    fn directory(&self, inode: u32) -> Result<(), Error> {
        match self.files.get(&inode) {
            Some(file) if file.directory => Ok(()),
            Some(_) => Err(Error::NotDirectory(inode)),
            None => Err(Error::NoFile(inode)),
        }
    }
}
