//! Operations on names.

use super::directory::Directory;
use super::object::Object;
use super::operation::{Operation, Procedure, NONE, NO_SIZE};
use super::system::System;
use super::trace::What;
use crate::ffs::Error;

/// Bytes up to which a symbolic link's target is in its inode (`fs_maxsymlinklen`).
const SHORT: u32 = 60;

/// A name, and its object to be made.
#[derive(Clone, Copy, Debug)]
pub struct Making {
    /// The directory.
    pub directory: u32,
    /// The number of the name.
    pub name: u32,
    /// The object.
    pub object: u32,
    /// What it is.
    pub what: What,
    /// Whether it belongs in the region.
    pub hot: bool,
}

/// The reason for the failure of an operation that should succeed.
pub type Unexpected = &'static str;

pub(super) const NO_NAME: Unexpected = "there is no such name";
pub(super) const NO_OBJECT: Unexpected = "the object is not there";
pub(super) const NO_DIRECTORY: Unexpected = "it is no directory";
const TAKEN: Unexpected = "the name is taken";
const NOT_EMPTY: Unexpected = "the directory is not empty";

/// The reason from an allocator's error.
pub(super) fn refused(error: Error) -> Unexpected {
    match error {
        Error::NoSpace => "no space left",
        Error::NoInodes => "no inodes left",
        Error::TooLarge => "the file is too large",
        _ => "the file system has no such file",
    }
}

impl System {
    /// Makes an object (`ufs_makeinode`, `ufs_mkdir`).
    pub fn make(&mut self, making: Making) -> Result<(), Unexpected> {
        let Making { directory, name, object, what, hot } = making;
        let parent = self.live(directory).filter(|live| live.what == What::Directory);
        let parent = parent.ok_or(NO_DIRECTORY)?.inode;
        if self.objects[object as usize].inode != 0 {
            return Err("the object is there already");
        }
        if self.find(directory, name).is_some() {
            return Err(TAKEN);
        }
        let inode = self.place_inode(parent, what, hot).map_err(refused)?;
        self.begin(making, inode);
        let target = match what {
            What::Symlink(bytes @ SHORT..) => self.write(object, 0, bytes.into()),
            _ => Ok(()),
        };
        if let Err(error) = target.and_then(|()| self.enter(directory, name, object)) {
            self.unmake(object);
            return Err(refused(error));
        }
        Ok(())
    }

    /// Begins an object with its inode, and no name yet.
    fn begin(&mut self, making: Making, inode: u32) {
        let Making { directory: parent, object, what, .. } = making;
        let stamp = if self.building { 0 } else { self.stamp };
        let directory = self.directories.len() as u32;
        self.objects[object as usize] =
            Object { inode, what, stamp, directory, parent, ..Object::default() };
        self.follow_changes(Some(object));
        self.inode_block(inode, true);
        if what == What::Directory {
            self.directories.push(Directory::new());
            self.begin_directory(object);
        }
    }

    /// Takes an inode; if there is none, delayed removals may free one.
    fn place_inode(&mut self, parent: u32, what: What, hot: bool) -> Result<u32, Error> {
        let make = |system: &mut System| match what {
            What::Directory => system.fs.mkdir(parent, hot),
            _ => system.fs.create(parent, hot),
        };
        match make(self) {
            Err(Error::NoInodes | Error::NoSpace) if self.work_all() => make(self),
            made => made,
        }
    }

    /// The first block of a new directory.
    fn begin_directory(&mut self, object: u32) {
        if self.building {
            return;
        }
        if let Some((address, fragments)) = self.place(object, 0) {
            let at = self.block(self.wanted(object, 0, address, fragments), false);
            self.change(at);
        }
    }

    fn unmake(&mut self, object: u32) {
        for at in self.cache.all_of(object) {
            self.cache.remove(at);
        }
        let inode = std::mem::take(&mut self.objects[object as usize].inode);
        if let Err(error) = self.fs.unlink(inode) {
            self.count_unexpected("create", refused(error));
        }
        self.follow_changes(None);
    }

    /// create, mkdir, symlink and mknod.
    pub fn create(&mut self, operation: &Operation, hot: bool) -> Result<(), Unexpected> {
        let Operation { object: directory, name, second: object, .. } = *operation;
        let what = match operation.procedure {
            Procedure::Mkdir => What::Directory,
            Procedure::Symlink => What::Symlink(operation.offset.min(1024) as u32),
            Procedure::Mknod => What::Node,
            _ => What::File,
        };
        if operation.other != NONE {
            self.make(Making { directory, name, object, what, hot })?;
        } else {
            // it was there: an unchecked create finds it
            let found = self.find(directory, name).ok_or(NO_NAME)?.object;
            self.touch(found, true)?;
        }
        let cut = operation.procedure == Procedure::Create && operation.offset != NO_SIZE;
        if cut && self.live(object).is_some_and(|live| live.what == What::File) {
            self.truncate(object, operation.offset).map_err(refused)?;
        }
        Ok(())
    }

    /// Accesses an object's inode, and may change it.
    pub fn touch(&mut self, object: u32, change: bool) -> Result<(), Unexpected> {
        let inode = self.live(object).ok_or(NO_OBJECT)?.inode;
        self.inode_block(inode, change);
        Ok(())
    }

    /// lookup.
    pub fn lookup(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        let name = self.trace.names.get(operation.name);
        if name == b"." || name == b".." {
            self.directory_block(operation.object, 0, false);
            return self.touch(operation.object, false);
        }
        let found = self.find(operation.object, operation.name).ok_or(NO_NAME)?;
        self.touch(found.object, false)
    }

    /// remove and rmdir.
    pub fn remove(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        let Operation { object: directory, name, .. } = *operation;
        let found = self.find(directory, name).ok_or(NO_NAME)?;
        self.touch(found.object, true)?;
        if operation.procedure == Procedure::Rmdir {
            self.directory(found.object).ok_or(NO_DIRECTORY)?;
            if !self.is_empty(found.object) {
                return Err(NOT_EMPTY);
            }
        } else if self.directory(found.object).is_some() {
            return Err("it is a directory");
        }
        self.leave(directory, name, found);
        Ok(())
    }

    /// link.
    pub fn link(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        let Operation { object, second: directory, name, .. } = *operation;
        self.touch(object, true)?;
        self.directory(directory).ok_or(NO_DIRECTORY)?;
        if self.find(directory, name).is_some() {
            return Err(TAKEN);
        }
        self.enter(directory, name, object).map_err(refused)
    }

    /// rename, possibly over an existing name.
    pub fn rename(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        let Operation { object: from, name, second: to, other: name2, .. } = *operation;
        let source = self.find(from, name).ok_or(NO_NAME)?;
        self.touch(source.object, true)?;
        self.directory(to).ok_or(NO_DIRECTORY)?;
        let target = self.find(to, name2);
        match target {
            Some(target) if target.object == source.object => return Ok(()),
            Some(target) if !self.is_empty(target.object) => return Err(NOT_EMPTY),
            Some(target) => self.redirect(to, name2, target, source.object),
            None => self.enter(to, name2, source.object).map_err(refused)?,
        }
        // the old name's block may have been cut off meanwhile, but not while it has the name
        self.leave(from, name, source);
        if from != to && self.directory(source.object).is_some() {
            self.objects[source.object as usize].parent = to;
            let inode = |object: u32| self.objects[object as usize].inode;
            let (moved, into) = (inode(source.object), inode(to));
            self.fs.move_directory(moved, into).map_err(refused)?;
            self.directory_block(source.object, 0, true);
        }
        Ok(())
    }
}
