//! Files and directories cut and removed: at once, or in two steps.

use super::changes::Change;
use super::detached::{Detached, Remains};
use super::filesystem::{FileSystem, ROOT};
use super::kernel::Random;
use super::level::Level;
use super::Error;

impl<R: Random> FileSystem<R> {
    /// Cuts a file, or makes it longer with a hole; its last byte has a place (`ffs_truncate`).
    pub fn truncate(&mut self, inode: u32, size: u64) -> Result<(), Error> {
        if self.reach_end(inode, size)? {
            let (geometry, volume) = (self.volume.geometry, &mut self.volume);
            let file = self.files.get_mut(&inode).ok_or(Error::NoFile(inode))?;
            file.shrink(&geometry, size, |address, n| volume.free(address, n));
            self.log_end(inode);
        }
        Ok(())
    }

    /// Cuts a file as [`Self::truncate`] does, but what it had stays taken until it is released.
    pub fn detach_blocks(&mut self, inode: u32, size: u64) -> Result<Detached, Error> {
        let mut remains = Remains::default();
        if self.reach_end(inode, size)? {
            let geometry = self.volume.geometry;
            let file = self.files.get_mut(&inode).ok_or(Error::NoFile(inode))?;
            file.shrink(&geometry, size, |address, n| remains.fragments.push((address, n)));
            self.log_end(inode);
        }
        Ok(self.keep(remains))
    }

    /// Removes a file or a directory: its blocks, then its inode.
    pub fn unlink(&mut self, inode: u32) -> Result<(), Error> {
        if inode == ROOT {
            return Err(Error::Root);
        }
        let mut file = self.files.remove(&inode).ok_or(Error::NoFile(inode))?;
        let (geometry, volume) = (self.volume.geometry, &mut self.volume);
        file.shrink(&geometry, 0, |address, n| volume.free(address, n));
        volume.release_inode(inode, file.directory);
        Ok(())
    }

    /// Removes a file or a directory, but its blocks and inode stay taken until they are released.
    pub fn detach(&mut self, inode: u32) -> Result<Detached, Error> {
        if inode == ROOT {
            return Err(Error::Root);
        }
        let mut file = self.files.remove(&inode).ok_or(Error::NoFile(inode))?;
        let geometry = self.volume.geometry;
        let mut remains = Remains { inode: Some((inode, file.directory)), fragments: Vec::new() };
        file.shrink(&geometry, 0, |address, n| remains.fragments.push((address, n)));
        self.volume.changes.push(Change::Inode(inode));
        Ok(self.keep(remains))
    }

    /// Gives the byte before a new end a place, if it may have none. Returns whether the file is to
    /// become shorter.
    fn reach_end(&mut self, inode: u32, size: u64) -> Result<bool, Error> {
        let bsize = u64::from(self.volume.geometry.bsize);
        let before = self.files.get(&inode).ok_or(Error::NoFile(inode))?.size;
        if size > before || !size.is_multiple_of(bsize) {
            self.write(inode, size - 1, size)?;
        }
        Ok(size < before)
    }

    /// Logs what of a file that was cut points elsewhere now.
    fn log_end(&mut self, inode: u32) {
        let geometry = &self.volume.geometry;
        let Some(file) = self.files.get(&inode).filter(|_| self.volume.changes.on) else { return };
        self.volume.changes.push(Change::Inode(inode));
        let last = file.size.div_ceil(geometry.bsize.into()).checked_sub(1);
        let Some(lbn) = last.and_then(|lbn| u32::try_from(lbn).ok()) else { return };
        let level = Level::of(lbn, geometry.nindir()).map(|(level, _)| level);
        for slot in level.into_iter().flat_map(Level::slots) {
            if let Some(address) = file.indirect(slot) {
                self.volume.changes.push(Change::Indirect { inode, address });
            }
        }
        if let Some(address) = file.block(lbn) {
            let fragments = file.fragments(lbn, geometry.bsize, geometry.fsize);
            self.volume.changes.push(Change::Placed { inode, lbn, address, fragments });
        }
    }
}
