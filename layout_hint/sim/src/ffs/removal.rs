//! Cutting and removing files and directories: at once, or in two steps.

use super::changes::Change;
use super::detached::{Detached, Remains};
use super::filesystem::{FileSystem, ROOT};
use super::kernel::Random;
use super::Error;

impl<R: Random> FileSystem<R> {
    /// Cuts a file, or makes it longer with a hole; its last byte has a place (`ffs_truncate`).
    pub fn truncate(&mut self, inode: u32, size: u64) -> Result<(), Error> {
        if let Some(remains) = self.cut(inode, size)? {
            self.volume.free_remains(&remains);
            self.log_end(inode);
        }
        Ok(())
    }

    /// Cuts a file as [`Self::truncate`] does, but its blocks stay allocated until they are
    /// released.
    pub fn detach_blocks(&mut self, inode: u32, size: u64) -> Result<Detached, Error> {
        let remains = self.cut(inode, size)?;
        if remains.is_some() {
            self.log_end(inode);
        }
        Ok(self.keep(remains.unwrap_or_default()))
    }

    /// Removes a file or a directory: its blocks, then its inode.
    pub fn unlink(&mut self, inode: u32) -> Result<(), Error> {
        let remains = self.remove(inode)?;
        self.volume.free_remains(&remains);
        Ok(())
    }

    /// Removes a file or a directory, but its blocks and inode stay allocated until they are
    /// released.
    pub fn detach(&mut self, inode: u32) -> Result<Detached, Error> {
        let remains = self.remove(inode)?;
        self.volume.changes.push(Change::Inode(inode));
        Ok(self.keep(remains))
    }

    /// Allocates the byte before a new end, if it may be missing. Returns the remains of the file
    /// if it becomes shorter.
    fn cut(&mut self, inode: u32, size: u64) -> Result<Option<Remains>, Error> {
        let bsize = u64::from(self.volume.geometry.bsize);
        let before = self.files.get(&inode).ok_or(Error::NoFile(inode))?.size;
        if size > before || !size.is_multiple_of(bsize) {
            self.write(inode, size - 1, size)?;
        }
        if size >= before {
            return Ok(None);
        }
        let file = self.files.get_mut(&inode).ok_or(Error::NoFile(inode))?;
        Ok(Some(Remains { inode: None, fragments: file.shrink(&self.volume.geometry, size) }))
    }

    /// The remains of a removed file or directory.
    fn remove(&mut self, inode: u32) -> Result<Remains, Error> {
        if inode == ROOT {
            return Err(Error::Root);
        }
        self.leave(inode);
        let mut file = self.files.remove(&inode).ok_or(Error::NoFile(inode))?;
        let fragments = file.shrink(&self.volume.geometry, 0);
        Ok(Remains { inode: Some((inode, file.directory)), fragments })
    }

    /// Logs the changed pointers of a file that was cut.
    fn log_end(&mut self, inode: u32) {
        let geometry = &self.volume.geometry;
        let Some(file) = self.files.get(&inode).filter(|_| self.volume.changes.on) else { return };
        self.volume.changes.push(Change::Inode(inode));
        let last = file.size.div_ceil(geometry.bsize.into()).checked_sub(1);
        let Some(lbn) = last.and_then(|lbn| u32::try_from(lbn).ok()) else { return };
        for slot in geometry.slots(lbn) {
            if let Some(address) = file.indirect(slot) {
                self.volume.changes.push(Change::Indirect { inode, address });
            }
        }
        if let Some(address) = file.block(lbn) {
            let fragments = file.fragments(lbn, geometry);
            self.volume.changes.push(Change::Placed { inode, lbn, address, fragments });
        }
    }
}
