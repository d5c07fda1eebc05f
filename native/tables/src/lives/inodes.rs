//! The living files, indexed by handle and by name; the longest idle are on disk.

use super::events::Uses;
use super::hosts::Hosts;
use super::life::{Bytes, DataHandle, Inode, NameLife};
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

/// A file's index in [`Inodes`], valid until an inode is removed or spilled.
pub type Slot = usize;

/// Stands for all data servers of pNFS in the key of a handle that they use.
const DATA_SERVERS: u32 = u32::MAX;

/// A handle with its hash.
#[derive(Clone, Copy)]
pub struct Key<'a> {
    /// The server.
    pub server: u32,
    /// The handle.
    pub handle: &'a [u8],
    /// The hash of both.
    pub hash: u64,
}

/// A name of an inode.
#[derive(Clone, Copy)]
pub struct Found {
    /// The inode.
    pub slot: Slot,
    /// The index of the name.
    pub index: usize,
}

struct Indexed {
    hash: u64,
    slot: u32,
}

/// A probe whose hash shows that hashes are computed as before.
const KNOWN: &[u8] = b"birthmark";
/// Files read from disk at a time.
const CHUNK: usize = 1 << 12;

/// The living files.
pub struct Inodes {
    slab: Slab<Inode>,
    handles: HashTable<Indexed>,
    names: HashTable<Indexed>,
    /// Makes hashes that no client can predict, stable across restarts.
    hasher: FixedState,
    seed: u64,
    lives: usize,
    /// The counted bytes of each file in memory, and of all.
    counted: Vec<usize>,
    memory: usize,
    drained: Slot,
    drained_on_disk: u64,
    spill: Spill,
    /// The files whose use is to be emitted.
    young: Young,
    /// Whether any file has handles of data servers.
    has_data: bool,
}

impl Default for Inodes {
    fn default() -> Inodes {
        // without randomness a client could only slow down lookups
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
            counted: Vec::new(),
            memory: 0,
            drained: 0,
            drained_on_disk: 0,
            spill: Spill::default(),
            young: Young::default(),
            has_data: false,
        }
    }

    /// Writes all files, those on disk first.
    pub fn save<W: Write>(&self, writer: &mut Writer<W>) -> Result<(), Error> {
        writer.put(&(self.seed, self.hasher.hash_one(KNOWN)))?;
        writer.put(&self.young.all_gone(|slot| Uses::of_file(self.get(slot))))?;
        let mut from = 0;
        loop {
            let records = self.spill.read_on(&mut from, CHUNK)?;
            if records.is_empty() {
                return Ok(writer.list(self.slab.iter().map(|(_, inode)| inode))?);
            }
            writer.put(&records.iter().map(|(_, inode)| inode).collect::<Vec<_>>())?;
        }
    }

    /// Reads saved files; holds `most` lives and bytes in memory.
    pub fn load<R: Read>(reader: &mut Reader<R>, most: (usize, usize)) -> Result<Inodes, Error> {
        let (seed, known): (u64, u64) = reader.get()?;
        let mut inodes = Inodes::seeded(seed);
        if inodes.hasher.hash_one(KNOWN) != known {
            return Err(reader.damaged("it was made by a program that hashes otherwise").into());
        }
        inodes.young = reader.get()?;
        reader.list(|inode| {
            inodes.insert(inode);
            inodes.spill_excess(most).map_err(Error::from)
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

    /// Whether files may have handles of data servers.
    #[inline]
    pub fn has_data(&self) -> bool {
        self.has_data
    }

    /// Makes a key of a handle used by data servers.
    pub fn data_key<'a>(&self, handle: &'a [u8]) -> Key<'a> {
        self.key(DATA_SERVERS, handle)
    }

    /// Finds a file by a handle used by data servers: its slot, and the index of the handle.
    #[inline]
    pub fn by_data_handle(&mut self, handle: &[u8]) -> Option<Found> {
        if !self.has_data {
            return None;
        }
        let slot = self.by_handle(&self.data_key(handle))?;
        let index = self.get(slot).data.iter().position(|data| *data.handle == *handle)?;
        Some(Found { slot, index })
    }

    /// Adds a data-server handle to a file.
    pub fn add_data_handle(&mut self, slot: Slot, data: DataHandle) {
        self.has_data = true;
        let hash = self.data_key(&data.handle).hash;
        index(&mut self.handles, hash, slot);
        self.count(slot, self.counted[slot] + data.memory());
        self.get_mut(slot).data.push(data);
        self.lives += 1;
    }

    /// Removes a data-server handle from a file.
    pub fn take_data_handle(&mut self, found: Found) -> DataHandle {
        let data = self.slab[found.slot].data.remove(found.index);
        let hash = self.data_key(&data.handle).hash;
        unindex(&mut self.handles, hash, found.slot);
        self.count(found.slot, self.counted[found.slot].saturating_sub(data.memory()));
        self.lives -= 1;
        data
    }

    /// The file at a slot.
    #[inline]
    pub fn get(&self, slot: Slot) -> &Inode {
        &self.slab[slot]
    }

    /// The file at a slot, for changes to its life or its names.
    #[inline]
    pub fn get_mut(&mut self, slot: Slot) -> &mut Inode {
        &mut self.slab[slot]
    }

    /// The bytes of a handle, shared with the living file that has it.
    pub fn share(&mut self, key: &Key) -> Bytes {
        self.by_handle(key)
            .and_then(|slot| self.get(slot).handle.clone())
            .unwrap_or_else(|| Arc::from(key.handle))
    }

    /// Adds a file.
    pub fn insert(&mut self, inode: Inode) -> Slot {
        self.lives += inode.lives();
        self.has_data |= !inode.data.is_empty();
        let handles = self.handle_hashes(&inode);
        let names = self.name_hashes(&inode);
        let number = inode.life.birth.map(|birth| birth.number);
        let memory = inode.memory();
        let slot = self.slab.insert(inode);
        if slot >= self.counted.len() {
            self.counted.resize(slot + 1, 0);
        }
        self.count(slot, memory);
        if let Some(number) = number {
            self.young.next_id(number, slot);
        }
        for hash in handles {
            index(&mut self.handles, hash, slot);
        }
        for hash in names {
            index(&mut self.names, hash, slot);
        }
        slot
    }

    /// Removes a file with its remaining names.
    pub fn remove(&mut self, slot: Slot) -> Inode {
        let inode = self.slab.remove(slot);
        self.count(slot, 0);
        self.lives -= inode.lives();
        if let Some(birth) = inode.life.birth {
            self.young.went(birth.number, &inode);
        }
        for hash in self.handle_hashes(&inode) {
            unindex(&mut self.handles, hash, slot);
        }
        for hash in self.name_hashes(&inode) {
            unindex(&mut self.names, hash, slot);
        }
        inode
    }

    /// Watches the use of a file, by the number of its birth, the next one.
    pub fn watch(&mut self, slot: Slot, number: u64) {
        self.young.watch(number, slot);
    }

    /// Returns a watched file's use since its birth, or until its end.
    pub fn uses(&mut self, number: u64) -> Uses {
        match self.young.place(number) {
            Some(&Place::Here(slot)) => Uses::of_file(self.get(slot)),
            Some(Place::Gone(uses)) => **uses,
            None => Uses::default(),
        }
    }

    /// Stops watching a file.
    pub fn unwatch(&mut self, number: u64) {
        self.young.unwatch(number);
    }

    /// Gives a file a name.
    pub fn add_name(&mut self, slot: Slot, name: NameLife) {
        let hash = self.hash_of(self.get(slot).server, &name);
        index(&mut self.names, hash, slot);
        let memory = name.memory();
        self.get_mut(slot).names.push(name);
        self.lives += 1;
        match self.get(slot).names.len() {
            1 => self.count(slot, self.get(slot).memory()),
            _ => self.count(slot, self.counted[slot] + memory),
        }
    }

    /// Takes a name from a file.
    pub fn take_name(&mut self, found: Found) -> NameLife {
        let inode = &mut self.slab[found.slot];
        let server = inode.server;
        let name = inode.names.remove(found.index);
        let hash = self.hash_of(server, &name);
        unindex(&mut self.names, hash, found.slot);
        self.lives -= 1;
        self.count(found.slot, self.counted[found.slot].saturating_sub(name.memory()));
        name
    }

    /// Updates the counted bytes of a file.
    fn count(&mut self, slot: Slot, memory: usize) {
        self.memory = self.memory + memory - self.counted[slot];
        self.counted[slot] = memory;
    }

    /// Spills the longest idle files to disk if memory holds more than the given lives or bytes.
    pub fn spill_excess(&mut self, (most, bytes): (usize, usize)) -> Result<(), spill::Error> {
        if self.lives <= most && self.memory <= bytes || self.slab.is_empty() {
            return Ok(());
        }
        let last_seen = |(slot, inode): (Slot, &Inode)| (inode.life.last_seen, slot);
        let mut idle: Vec<(i64, Slot)> = self.slab.iter().map(last_seen).collect();
        let some = idle.len().div_ceil(4);
        idle.select_nth_unstable(some - 1);
        idle.truncate(some);
        let mut spill_excess = Vec::with_capacity(some);
        for (_, slot) in idle {
            let inode = self.remove(slot);
            let mut hashes = self.name_hashes(&inode);
            hashes.extend(self.handle_hashes(&inode));
            spill_excess.push((hashes, inode));
        }
        self.spill.put(&spill_excess)
    }

    /// Marks the hosts of all files.
    pub fn hosts(&self, hosts: &mut Hosts) {
        hosts.join(&self.spill.hosts);
        self.slab.iter().for_each(|(_, inode)| hosts.note(inode));
    }

    /// Whether a directory is alive (or, once in 2^64, another file with its hash).
    pub fn alive(&mut self, server: u32, handle: &[u8]) -> bool {
        let hash = self.key(server, handle).hash;
        self.handles.find(hash, |i| i.hash == hash).is_some() || self.spill.holds(hash)
    }

    /// Drains some of the files, none if none are left. They are no longer found, but still count
    /// as [`Inodes::alive`].
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

    /// Returns an error if a file could not be restored since the last call.
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

    /// Restores a spilled file to memory.
    fn restore(&mut self, hash: u64, wanted: impl Fn(&Inode) -> bool) -> Option<Slot> {
        let inode = self.spill.take(hash, wanted)?;
        let slot = self.insert(inode);
        self.share_handles(slot);
        Some(slot)
    }

    /// Shares the bytes of directory handles between a file's names and the directories in memory.
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

    fn handle_hashes(&self, inode: &Inode) -> impl Iterator<Item = u64> {
        let own = inode.handle.as_deref().map(|handle| self.key(inode.server, handle).hash);
        let data: Vec<u64> =
            inode.data.iter().map(|data| self.data_key(&data.handle).hash).collect();
        own.into_iter().chain(data)
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
    match key.server {
        DATA_SERVERS => inode.data.iter().any(|data| *data.handle == *key.handle),
        server => inode.server == server && inode.handle.as_deref() == Some(key.handle),
    }
}

/// The index of a name of a file.
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

#[cfg(test)]
mod tests {
    use super::super::life::{Caller, Operation};
    use super::*;

    fn named(number: u64) -> (Inode, NameLife) {
        let caller = Caller { uid: None, gid: None, client: 2 };
        let op = Operation { server: 3, time: 4, at: number as i64, caller };
        let long = |length: usize| {
            let mut bytes = vec![b'x'; length];
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            Bytes::from(bytes)
        };
        (Inode::new(&op, Some(long(128))), NameLife::new(&op, long(128), long(255), None))
    }

    #[test]
    fn files_of_the_longest_names_and_handles_keep_to_their_share_and_are_found_on_disk() {
        let mut inodes = Inodes::default();
        for number in 0..3000 {
            let (inode, name) = named(number);
            let slot = inodes.insert(inode);
            inodes.add_name(slot, name);
            inodes.spill_excess((usize::MAX, 1 << 20)).unwrap();
            let held: usize = inodes.slab.iter().map(|(_, inode)| inode.memory()).sum();
            assert_eq!(inodes.memory, held);
            assert!(held <= 1 << 20);
        }
        assert!(inodes.slab.len() < 1500);
        let (inode, name) = named(0);
        let handle = inode.handle.unwrap();
        let slot = inodes.by_handle(&inodes.key(3, &handle)).unwrap();
        assert_eq!(inodes.get(slot).names[0].name, name.name);
        inodes.take_name(Found { slot, index: 0 });
        inodes.remove(slot);
        let held: usize = inodes.slab.iter().map(|(_, inode)| inode.memory()).sum();
        assert_eq!(inodes.memory, held);
    }
}
