//! Names and paths of directories, for queries about files in them.

use super::inodes::{Inodes, Slot};
use super::life::{Bytes, Kind};
use super::Lives;
use std::collections::BTreeSet;

/// The most names in a path; deeper paths, and those of directories within each other, are omitted.
const DEEPEST: usize = 256;
/// The most bytes in a path (`PATH_MAX` of Linux).
const LONGEST: usize = 4096;

/// A directory that was used or given a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Its handle.
    pub handle: Bytes,
    /// Its own name and path, if known.
    pub called: Option<Called>,
}

/// The name and path of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its own name.
    pub name: Bytes,
    /// The names from the topmost known directory down to this one, a slash before each.
    pub path: Vec<u8>,
}

/// Directories, by server and handle, that were used or named since the last call.
#[derive(Debug, Default)]
pub struct Named(Option<BTreeSet<(u32, Bytes)>>);

impl Named {
    /// Records that a file, which may be a directory, got a name.
    pub fn named(&mut self, inodes: &Inodes, slot: Slot) {
        if let Some(changed) = &mut self.0 {
            changed.extend(directory_in(inodes, slot));
        }
    }

    /// Records that a file was born in a directory.
    pub fn used(&mut self, server: u32, handle: &Bytes) {
        if let Some(changed) = &mut self.0 {
            changed.insert((server, handle.clone()));
        }
    }
}

fn directory_in(inodes: &Inodes, slot: Slot) -> Option<(u32, Bytes)> {
    let inode = inodes.get(slot);
    let is_directory = inode.life.kind == Some(Kind::Directory);
    inode.handle.clone().filter(|_| is_directory).map(|handle| (inode.server, handle))
}

impl Lives {
    /// The directories that were used or named since the last call; at first, all in memory.
    /// Recording starts with the first call, so it must be called again.
    pub fn take_directories(&mut self) -> impl Iterator<Item = Directory> + '_ {
        let inodes = &mut self.inodes;
        let all = || inodes.slots().filter_map(|slot| directory_in(inodes, slot)).collect();
        let changed = self.directories.0.replace(BTreeSet::new()).unwrap_or_else(all);
        let with_name = move |(server, handle): (u32, Bytes)| {
            let called = called(&mut *inodes, server, &handle);
            Directory { handle, called }
        };
        changed.into_iter().map(with_name)
    }
}

/// The current name and path of a directory.
fn called(inodes: &mut Inodes, server: u32, handle: &Bytes) -> Option<Called> {
    let mut names: Vec<Bytes> = Vec::new();
    let (mut at, mut length) = (handle.clone(), 0);
    while let Some(slot) = inodes.by_handle(&inodes.key(server, &at)) {
        let Some(name) = inodes.get(slot).names.last() else { break };
        names.push(name.name.clone());
        length += 1 + name.name.len();
        at = name.dir.clone();
        if names.len() > DEEPEST || length > LONGEST {
            return None;
        }
    }
    let path = names.iter().rev().flat_map(|name| [b"/", &**name]).flatten().copied().collect();
    Some(Called { name: names.first()?.clone(), path })
}
