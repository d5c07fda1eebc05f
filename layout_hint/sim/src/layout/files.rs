//! Operations on files, and on whole directories.

use super::names::{refused, Unexpected, NO_DIRECTORY, NO_OBJECT};
use super::operation::{Operation, Procedure, NO_SIZE};
use super::system::System;
use super::trace::What;

impl System {
    /// A failing operation: looks up its name, or accesses its object.
    pub fn fail(&mut self, operation: &Operation) {
        match operation.procedure.is_named() {
            true => {
                let directory = match operation.procedure {
                    Procedure::Link => operation.second,
                    _ => operation.object,
                };
                self.find(directory, operation.name);
            }
            false => {
                let inode = self.live(operation.object).map_or(0, |live| live.inode);
                self.inode_block(inode, false);
            }
        }
    }

    /// setattr.
    pub fn setattr(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        self.touch(operation.object, true)?;
        if operation.offset == NO_SIZE {
            return Ok(());
        }
        match self.live(operation.object).map(|live| live.what) {
            Some(What::File) => self.truncate(operation.object, operation.offset).map_err(refused),
            _ => Err("it is no file"),
        }
    }

    /// read and readlink.
    pub fn read_file(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        let live = *self.live(operation.object).ok_or(NO_OBJECT)?;
        let (offset, count) = match operation.procedure {
            Procedure::Readlink => (0, u64::MAX),
            _ => (operation.offset, operation.other.into()),
        };
        match (live.what, operation.procedure) {
            (What::File, Procedure::Read) | (What::Symlink(_), Procedure::Readlink) => {}
            _ => return Err("it cannot be read"),
        }
        self.inode_block(live.inode, self.config.atime);
        self.read(operation.object, offset, count);
        Ok(())
    }

    /// write.
    pub fn write_file(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        let live = *self.live(operation.object).ok_or(NO_OBJECT)?;
        if live.what != What::File {
            return Err("it is no file");
        }
        self.inode_block(live.inode, true);
        let end = operation.offset + u64::from(operation.other);
        self.write(operation.object, operation.offset, end).map_err(refused)?;
        if self.config.flush {
            self.fsync(operation.object);
        }
        Ok(())
    }

    /// commit.
    pub fn commit(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        self.touch(operation.object, false)?;
        if self.config.flush {
            self.fsync(operation.object);
        }
        Ok(())
    }

    /// readdir and readdirplus.
    pub fn readdir(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        let atime = self.config.atime;
        self.touch(operation.object, atime)?;
        if operation.offset != 0 {
            return Ok(()); // the listing was read when it began
        }
        self.directory(operation.object).ok_or(NO_DIRECTORY)?;
        let objects = self.list(operation.object);
        if operation.procedure == Procedure::Readdirplus {
            for object in objects {
                self.touch(object, false)?;
            }
        }
        Ok(())
    }
}
