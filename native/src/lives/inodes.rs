//! The files that are alive, found by handle and by name.

use super::life::{Bytes, Inode, NameLife};
use hashbrown::{DefaultHashBuilder, HashTable};
use slab::Slab;
use std::hash::BuildHasher;
use std::sync::Arc;

/// A file's place in [`Inodes`]. It holds until an inode is removed or operations are let go by.
pub type Slot = usize;

/// A handle with its hash.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    /// The server.
    pub server: u32,
    /// The handle.
    pub handle: &'a [u8],
    /// Of both.
    pub hash: u64,
}

/// A name of an inode.
#[derive(Clone, Copy)]
pub struct Found {
    /// The inode.
    pub slot: Slot,
    /// Which of its names.
    pub index: usize,
}

struct Indexed {
    hash: u64,
    slot: u32,
}

/// The files that are alive.
#[derive(Default)]
pub struct Inodes {
    slab: Slab<Inode>,
    handles: HashTable<Indexed>,
    names: HashTable<Indexed>,
    hasher: DefaultHashBuilder,
}

impl Inodes {
    /// Makes a key of a handle.
    #[inline]
    pub fn key<'a>(&self, server: u32, handle: &'a [u8]) -> Key<'a> {
        Key { server, handle, hash: self.hasher.hash_one((server, handle)) }
    }

    /// The hash of a name in a directory.
    #[inline]
    pub fn name_hash(&self, dir: &Key, name: &[u8]) -> u64 {
        self.hasher.hash_one((dir.hash, name))
    }

    /// Finds a file by its handle.
    #[inline]
    pub fn by_handle(&mut self, key: &Key) -> Option<Slot> {
        let slab = &self.slab;
        let same = |indexed: &Indexed| {
            indexed.hash == key.hash
                && slab.get(indexed.slot as usize).is_some_and(|inode| {
                    inode.server == key.server && inode.handle.as_deref() == Some(key.handle)
                })
        };
        Some(self.handles.find(key.hash, same)?.slot as Slot)
    }

    /// Finds a name.
    #[inline]
    pub fn by_name(&mut self, dir: &Key, name: &[u8]) -> Option<Found> {
        let hash = self.name_hash(dir, name);
        let slab = &self.slab;
        let position = |slot: u32| {
            let inode = slab.get(slot as usize).filter(|i| i.server == dir.server)?;
            let same = |n: &NameLife| *n.name == *name && *n.dir == *dir.handle;
            inode.names.iter().position(same)
        };
        let same = |i: &Indexed| i.hash == hash && position(i.slot).is_some();
        let slot = self.names.find(hash, same)?.slot;
        Some(Found { slot: slot as Slot, index: position(slot)? })
    }

    /// The file at a slot.
    #[inline]
    pub fn get(&self, slot: Slot) -> &Inode {
        &self.slab[slot]
    }

    /// The file at a slot, to change its life or its names' lives.
    #[inline]
    pub fn get_mut(&mut self, slot: Slot) -> &mut Inode {
        &mut self.slab[slot]
    }

    /// The bytes of a handle, shared with the file that has it if that is alive.
    pub fn share(&mut self, key: &Key) -> Bytes {
        self.by_handle(key)
            .and_then(|slot| self.get(slot).handle.clone())
            .unwrap_or_else(|| Arc::from(key.handle))
    }

    /// Takes a file in.
    pub fn insert(&mut self, inode: Inode) -> Slot {
        let handle = inode.handle.as_deref().map(|h| self.key(inode.server, h).hash);
        let names: Vec<u64> = inode.names.iter().map(|n| self.hash_of(inode.server, n)).collect();
        let slot = self.slab.insert(inode);
        if let Some(hash) = handle {
            index(&mut self.handles, hash, slot);
        }
        for hash in names {
            index(&mut self.names, hash, slot);
        }
        slot
    }

    /// Lets a file go, with the names it still has.
    pub fn remove(&mut self, slot: Slot) -> Inode {
        let inode = self.slab.remove(slot);
        if let Some(handle) = &inode.handle {
            let hash = self.key(inode.server, handle).hash;
            unindex(&mut self.handles, hash, slot);
        }
        for name in &inode.names {
            let hash = self.hash_of(inode.server, name);
            unindex(&mut self.names, hash, slot);
        }
        inode
    }

    /// Gives a file a name.
    pub fn add_name(&mut self, slot: Slot, name: NameLife) {
        let hash = self.hash_of(self.get(slot).server, &name);
        index(&mut self.names, hash, slot);
        self.get_mut(slot).names.push(name);
    }

    /// Takes a name from a file.
    pub fn take_name(&mut self, found: Found) -> NameLife {
        let inode = &mut self.slab[found.slot];
        let server = inode.server;
        let name = inode.names.remove(found.index);
        let hash = self.hash_of(server, &name);
        unindex(&mut self.names, hash, found.slot);
        name
    }

    /// Whether a directory is alive (or, once in 2^64, another file with its hash).
    pub fn alive(&self, server: u32, handle: &[u8]) -> bool {
        let hash = self.key(server, handle).hash;
        self.handles.find(hash, |i| i.hash == hash).is_some()
    }

    /// Lets all files go. They are no longer found, but still count as [`Inodes::alive`].
    pub fn drain(&mut self) -> impl Iterator<Item = Inode> + use<> {
        std::mem::take(&mut self.slab).into_iter().map(|(_, inode)| inode)
    }

    fn hash_of(&self, server: u32, name: &NameLife) -> u64 {
        self.name_hash(&self.key(server, &name.dir), &name.name)
    }
}

fn index(table: &mut HashTable<Indexed>, hash: u64, slot: Slot) {
    let slot = slot as u32;
    table.insert_unique(hash, Indexed { hash, slot }, |indexed| indexed.hash);
}

fn unindex(table: &mut HashTable<Indexed>, hash: u64, slot: Slot) {
    if let Ok(entry) = table.find_entry(hash, |i| i.hash == hash && i.slot as Slot == slot) {
        entry.remove();
    }
}
