//! What directories are called, for those who are asked about files in them.

use super::inodes::{Inodes, Slot};
use super::life::{Bytes, Kind};
use super::Lives;
use std::collections::BTreeSet;

/// A path of more names than this is not told: directories that are in each other have none.
const DEEPEST: usize = 256;

/// A directory that was used or given a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Its handle.
    pub handle: Bytes,
    /// Its own name and path, where they are known.
    pub called: Option<Called>,
}

/// What a directory is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its own name.
    pub name: Bytes,
    /// The names from the topmost directory that is known down to its own, a slash before each.
    pub path: Vec<u8>,
}

/// The directories, by server and handle, that were used or given names since this was asked last.
#[derive(Debug, Default)]
pub struct Named(Option<BTreeSet<(u32, Bytes)>>);

impl Named {
    /// Notes that something was given a name, which may be a directory.
    pub fn named(&mut self, inodes: &Inodes, slot: Slot) {
        if let Some(changed) = &mut self.0 {
            changed.extend(directory_in(inodes, slot));
        }
    }

    /// Notes that a file was born in a directory.
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
    /// The directories that were used or given a name since the last call; at first, all in memory.
    /// From then on they are kept in mind, so that it is to be called again.
    pub fn take_directories(&mut self) -> Vec<Directory> {
        let inodes = &self.inodes;
        let all = || inodes.slots().filter_map(|slot| directory_in(inodes, slot)).collect();
        let changed = self.directories.0.replace(BTreeSet::new()).unwrap_or_else(all);
        let told = |(server, handle): (u32, Bytes)| {
            let called = called(&mut self.inodes, server, &handle);
            Directory { handle, called }
        };
        changed.into_iter().map(told).collect()
    }
}

/// What a directory is called now.
fn called(inodes: &mut Inodes, server: u32, handle: &Bytes) -> Option<Called> {
    let mut names: Vec<Bytes> = Vec::new();
    let mut at = handle.clone();
    while let Some(slot) = inodes.by_handle(&inodes.key(server, &at)) {
        let Some(name) = inodes.get(slot).names.last() else { break };
        names.push(name.name.clone());
        at = name.dir.clone();
        if names.len() > DEEPEST {
            return None;
        }
    }
    let path = names.iter().rev().flat_map(|name| [b"/", &**name]).flatten().copied().collect();
    Some(Called { name: names.first()?.clone(), path })
}
