//! The files that are alive, found by handle and by name; those that were idle longest, on disk.

use super::events::Use;
use super::life::{Bytes, Inode, NameLife};
use super::spill::{self, Spill};
use super::young::{Place, Young};
use super::Error;
use crate::snapshot::{Reader, Writer};
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use slab::Slab;
use std::hash::BuildHasher;
use std::io::{Read, Write};
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

/// What shows, by its hash, that hashes are made as they were.
const KNOWN: &[u8] = b"birthmark";
/// How many files are read from disk at a time.
const CHUNK: usize = 1 << 12;

/// The files that are alive.
pub struct Inodes {
    slab: Slab<Inode>,
    handles: HashTable<Indexed>,
    names: HashTable<Indexed>,
    /// Makes hashes that no client can foresee, and that are the same after a restart.
    hasher: FixedState,
    seed: u64,
    lives: usize,
    drained: Slot,
    drained_on_disk: u64,
    spill: Spill,
    /// Those that are young, if it is to be told how they were used then.
    young: Young,
}

impl Default for Inodes {
    fn default() -> Inodes {
        // without randomness, what a client could do is make lookups slow
        Inodes::seeded(getrandom::u64().unwrap_or(0))
    }
}

impl Inodes {
    fn seeded(seed: u64) -> Inodes {
        Inodes {
            slab: Slab::new(),
            handles: HashTable::new(),
            names: HashTable::new(),
            hasher: FixedState::with_seed(seed),
            seed,
            lives: 0,
            drained: 0,
            drained_on_disk: 0,
            spill: Spill::default(),
            young: Young::default(),
        }
    }

    /// Writes all files, those on disk first.
    pub fn save<W: Write>(&self, writer: &mut Writer<W>) -> Result<(), Error> {
        writer.put(&(self.seed, self.hasher.hash_one(KNOWN)))?;
        writer.put(&self.young.all_gone(|slot| self.get(slot).life.early))?;
        let mut from = 0;
        loop {
            let records = self.spill.read_on(&mut from, CHUNK)?;
            if records.is_empty() {
                return Ok(writer.list(self.slab.iter().map(|(_, inode)| inode))?);
            }
            writer.put(&records.iter().map(|(_, inode)| inode).collect::<Vec<_>>())?;
        }
    }

    /// Reads what was written; keeps `most` lives in memory.
    pub fn load<R: Read>(reader: &mut Reader<R>, most: usize) -> Result<Inodes, Error> {
        let (seed, known): (u64, u64) = reader.get()?;
        let mut inodes = Inodes::seeded(seed);
        if inodes.hasher.hash_one(KNOWN) != known {
            return Err(reader.damaged("it was made by a program that hashes otherwise").into());
        }
        inodes.young = reader.get()?;
        reader.list(|inode| {
            inodes.insert(inode);
            inodes.shed(most).map_err(Error::from)
        })?;
        for slot in 0..inodes.slab.capacity() {
            inodes.share_handles(slot);
        }
        Ok(inodes)
    }

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

    /// The slots of the files in memory.
    pub fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.slab.iter().map(|(slot, _)| slot)
    }

    /// Finds a file by its handle.
    #[inline]
    pub fn by_handle(&mut self, key: &Key) -> Option<Slot> {
        let in_memory = self.by_handle_in_memory(key);
        in_memory.or_else(|| self.restore(key.hash, |inode| has_handle(inode, key)))
    }

    /// Finds a name.
    #[inline]
    pub fn by_name(&mut self, dir: &Key, name: &[u8]) -> Option<Found> {
        let hash = self.name_hash(dir, name);
        let slab = &self.slab;
        let named = |indexed: &Indexed| {
            let inode = slab.get(indexed.slot as usize);
            indexed.hash == hash && inode.is_some_and(|i| position(i, dir, name).is_some())
        };
        let in_memory = self.names.find(hash, named).map(|found| found.slot as Slot);
        let slot = in_memory
            .or_else(|| self.restore(hash, |inode| position(inode, dir, name).is_some()))?;
        let index = position(self.get(slot), dir, name)?;
        Some(Found { slot, index })
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
        self.lives += inode.lives();
        let handle = self.handle_hash(&inode);
        let names = self.name_hashes(&inode);
        let number = inode.life.birth.map(|birth| birth.number);
        let slot = self.slab.insert(inode);
        if let Some(number) = number {
            self.young.came(number, slot);
        }
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
        self.lives -= inode.lives();
        if let Some(birth) = inode.life.birth {
            self.young.went(birth.number, &inode.life.early);
        }
        if let Some(hash) = self.handle_hash(&inode) {
            unindex(&mut self.handles, hash, slot);
        }
        for hash in self.name_hashes(&inode) {
            unindex(&mut self.names, hash, slot);
        }
        inode
    }

    /// Watches how a file is used while it is young, whose birth has that number, the next one.
    pub fn watch(&mut self, slot: Slot, number: u64) {
        self.young.watch(number, slot);
    }

    /// How a file has been used since its birth, or was when it went; it is not watched any more.
    pub fn unwatch(&mut self, number: u64) -> Use {
        match self.young.unwatch(number) {
            Some(Place::Here(slot)) => Use::early(&self.get(slot).life.early),
            Some(Place::Gone(early)) => Use::early(&early),
            None => Use::default(),
        }
    }

    /// Gives a file a name.
    pub fn add_name(&mut self, slot: Slot, name: NameLife) {
        let hash = self.hash_of(self.get(slot).server, &name);
        index(&mut self.names, hash, slot);
        self.get_mut(slot).names.push(name);
        self.lives += 1;
    }

    /// Takes a name from a file.
    pub fn take_name(&mut self, found: Found) -> NameLife {
        let inode = &mut self.slab[found.slot];
        let server = inode.server;
        let name = inode.names.remove(found.index);
        let hash = self.hash_of(server, &name);
        unindex(&mut self.names, hash, found.slot);
        self.lives -= 1;
        name
    }

    /// Moves the files that have been idle longest out of memory, if it holds more than `most`
    /// lives.
    pub fn shed(&mut self, most: usize) -> Result<(), spill::Error> {
        if self.lives <= most {
            return Ok(());
        }
        let last_seen = |(slot, inode): (Slot, &Inode)| (inode.life.last_seen, slot);
        let mut idle: Vec<(i64, Slot)> = self.slab.iter().map(last_seen).collect();
        let some = idle.len().div_ceil(4);
        idle.select_nth_unstable(some - 1);
        idle.truncate(some);
        let mut shed = Vec::with_capacity(some);
        for (_, slot) in idle {
            let inode = self.remove(slot);
            let mut hashes = self.name_hashes(&inode);
            hashes.extend(self.handle_hash(&inode));
            shed.push((hashes, inode));
        }
        self.spill.put(&shed)
    }

    /// Whether a directory is alive (or, once in 2^64, another file with its hash).
    pub fn alive(&mut self, server: u32, handle: &[u8]) -> bool {
        let hash = self.key(server, handle).hash;
        self.handles.find(hash, |i| i.hash == hash).is_some() || self.spill.holds(hash)
    }

    /// Lets go of some of the files, none if none are left. They are no longer found, but still
    /// count as [`Inodes::alive`].
    pub fn drain(&mut self, most: usize) -> Result<Vec<Inode>, spill::Error> {
        let mut inodes = Vec::new();
        while inodes.len() < most && self.drained < self.slab.capacity() {
            inodes.extend(self.slab.try_remove(self.drained));
            self.drained += 1;
        }
        if inodes.is_empty() {
            let records = self.spill.read_on(&mut self.drained_on_disk, most)?;
            inodes.extend(records.into_iter().map(|(_, inode)| inode));
        }
        Ok(inodes)
    }

    /// Fails if a file could not be brought back since the last time.
    pub fn check(&mut self) -> Result<(), spill::Error> {
        self.spill.check()
    }

    fn by_handle_in_memory(&self, key: &Key) -> Option<Slot> {
        let same = |indexed: &Indexed| {
            let inode = self.slab.get(indexed.slot as usize);
            indexed.hash == key.hash && inode.is_some_and(|inode| has_handle(inode, key))
        };
        Some(self.handles.find(key.hash, same)?.slot as Slot)
    }

    /// Brings a file back into memory, if it was moved out.
    fn restore(&mut self, hash: u64, wanted: impl Fn(&Inode) -> bool) -> Option<Slot> {
        let inode = self.spill.take(hash, wanted)?;
        let slot = self.insert(inode);
        self.share_handles(slot);
        Some(slot)
    }

    /// Lets the handles of the directories of a file's names be those of the directories, where
    /// these are in memory.
    fn share_handles(&mut self, slot: Slot) {
        let Some(inode) = self.slab.get(slot) else {
            return;
        };
        let shared = |name: &NameLife| {
            let dir = self.by_handle_in_memory(&self.key(inode.server, &name.dir))?;
            self.get(dir).handle.clone()
        };
        let shared: Vec<Option<Bytes>> = inode.names.iter().map(shared).collect();
        for (name, shared) in self.slab[slot].names.iter_mut().zip(shared) {
            name.dir = shared.unwrap_or_else(|| name.dir.clone());
        }
    }

    fn handle_hash(&self, inode: &Inode) -> Option<u64> {
        let handle = inode.handle.as_deref()?;
        Some(self.key(inode.server, handle).hash)
    }

    fn name_hashes(&self, inode: &Inode) -> Vec<u64> {
        let names = inode.names.iter();
        names.map(|name| self.hash_of(inode.server, name)).collect()
    }

    fn hash_of(&self, server: u32, name: &NameLife) -> u64 {
        self.name_hash(&self.key(server, &name.dir), &name.name)
    }
}

fn has_handle(inode: &Inode, key: &Key) -> bool {
    inode.server == key.server && inode.handle.as_deref() == Some(key.handle)
}

/// Which of a file's names is that one.
fn position(inode: &Inode, dir: &Key, name: &[u8]) -> Option<usize> {
    let same = |n: &NameLife| *n.name == *name && *n.dir == *dir.handle;
    let names = Some(&inode.names).filter(|_| inode.server == dir.server)?;
    names.iter().position(same)
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
