//! Files and directories: made, written, cut and removed.

use super::file::{File, Level};
use super::geometry::Geometry;
use super::growth::Growth;
use super::policy::{Policy, Random};
use super::volume::Volume;
use super::Error;
use hashbrown::HashMap;

/// The root directory's inode.
pub const ROOT: u32 = 2;
/// Bytes that a directory grows by (`DIRBLKSIZ`).
const DIRECTORY: u64 = 512;

/// A file system of which only the maps are kept, and where everything is.
#[derive(Clone, Debug)]
pub struct FileSystem<P, R> {
    /// The cylinder groups.
    pub volume: Volume,
    files: HashMap<u32, File>,
    policy: P,
    random: R,
}

impl<P: Policy, R: Random> FileSystem<P, R> {
    /// One with the root directory alone. The sizes must have been checked.
    pub fn new(geometry: Geometry, policy: P, random: R) -> Result<FileSystem<P, R>, Error> {
        let mut made = FileSystem::bare(geometry, policy, random);
        made.adopt(ROOT, true)?;
        made.volume.superuser = true;
        made.extend(ROOT, DIRECTORY)?;
        made.volume.superuser = false;
        Ok(made)
    }

    /// One with no directory at all. The sizes must have been checked.
    pub fn bare(geometry: Geometry, policy: P, random: R) -> FileSystem<P, R> {
        let volume = Volume::new(geometry);
        let mut made = FileSystem { volume, files: HashMap::new(), policy, random };
        // 0 stands for none; 1 was for bad blocks
        (0..ROOT).for_each(|inode| made.volume.set_inode(0, inode, false, false));
        made
    }

    /// Makes an empty file or directory with a given inode, which no policy chose.
    pub fn adopt(&mut self, inode: u32, directory: bool) -> Result<(), Error> {
        let (cg, at) = (self.volume.geometry.inode_group(inode), inode % self.volume.geometry.ipg);
        let group = self.volume.groups.get(cg as usize).ok_or(Error::Taken(inode))?;
        if !group.is_free(at) {
            return Err(Error::Taken(inode));
        }
        self.volume.set_inode(cg, at, directory, false);
        self.files.insert(inode, File::new(directory));
        Ok(())
    }

    /// The file or directory of an inode.
    pub fn file(&self, inode: u32) -> Option<&File> {
        self.files.get(&inode)
    }

    /// All files and directories, in no order.
    pub fn files(&self) -> impl Iterator<Item = (u32, &File)> {
        self.files.iter().map(|(&inode, file)| (inode, file))
    }

    /// Makes a directory, with a fragment for its entries (`ufs_mkdir`). Returns its inode.
    pub fn mkdir(&mut self, parent: u32) -> Result<u32, Error> {
        self.directory(parent)?;
        if self.volume.total.nifree == 0 {
            return Err(Error::NoInodes); // before a random number is drawn, as `ffs_valloc` does
        }
        let root = parent == ROOT;
        let preference = self.policy.directory(&self.volume, parent, root, &mut self.random);
        let inode = self.make(preference, true)?;
        if let Err(error) = self.extend(inode, DIRECTORY) {
            self.unlink(inode)?;
            return Err(error);
        }
        Ok(inode)
    }

    /// Makes an empty file (`ufs_makeinode`). Returns its inode.
    pub fn create(&mut self, parent: u32) -> Result<u32, Error> {
        self.directory(parent)?;
        self.make(parent, false)
    }

    /// Makes a file longer, at most a block at a time, in order. Where there is no space for all
    /// of it, it has what fitted.
    pub fn extend(&mut self, inode: u32, size: u64) -> Result<(), Error> {
        let from = self.files.get(&inode).ok_or(Error::NoFile(inode))?.size;
        self.write(inode, from, size)
    }

    /// Writes the bytes from `from` up to `to`, at most a block at a time, in order.
    pub fn write(&mut self, inode: u32, from: u64, to: u64) -> Result<(), Error> {
        let bsize = u64::from(self.volume.geometry.bsize);
        let file = self.files.get_mut(&inode).ok_or(Error::NoFile(inode))?;
        let last = u32::try_from(to.saturating_sub(1) / bsize).map_err(|_| Error::TooLarge)?;
        Level::of(last, self.volume.geometry.nindir()).ok_or(Error::TooLarge)?;
        let mut growth = Growth { volume: &mut self.volume, policy: &self.policy, inode, file };
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

    /// Cuts a file, or makes it longer with a hole; its last byte has a place (`ffs_truncate`).
    pub fn truncate(&mut self, inode: u32, size: u64) -> Result<(), Error> {
        let bsize = u64::from(self.volume.geometry.bsize);
        let before = self.files.get(&inode).ok_or(Error::NoFile(inode))?.size;
        if size > before || !size.is_multiple_of(bsize) {
            self.write(inode, size - 1, size)?;
        }
        let file = self.files.get_mut(&inode).ok_or(Error::NoFile(inode))?;
        if size < before {
            self.volume.shrink(file, size);
        }
        Ok(())
    }

    /// Removes a file or a directory: its blocks, then its inode.
    pub fn unlink(&mut self, inode: u32) -> Result<(), Error> {
        if inode == ROOT {
            return Err(Error::Root);
        }
        let mut file = self.files.remove(&inode).ok_or(Error::NoFile(inode))?;
        self.volume.shrink(&mut file, 0);
        self.volume.release_inode(inode, file.directory);
        Ok(())
    }

    fn make(&mut self, preference: u32, directory: bool) -> Result<u32, Error> {
        let inode = self.volume.alloc_inode(preference, directory)?;
        self.files.insert(inode, File::new(directory));
        Ok(inode)
    }

    fn directory(&self, inode: u32) -> Result<(), Error> {
        match self.files.get(&inode) {
            Some(file) if file.directory => Ok(()),
            Some(_) => Err(Error::NotDirectory(inode)),
            None => Err(Error::NoFile(inode)),
        }
    }
}
