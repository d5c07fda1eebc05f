//! The buffer cache: blocks in memory, in the order of their use, and dirty ones among them.

use super::device::{Extent, Ticket};
use hashbrown::HashMap;

/// No buffer.
pub const NONE: u32 = u32::MAX;

/// A buffer: a block of a file, or of the device.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Which of the owner's: a file's block, or a fragment's address.
    pub number: u32,
    /// Its position on the disk, its contents, and its owner.
    pub extent: Extent,
    /// Whether it is not on the disk yet.
    pub dirty: bool,
    /// Whether its use triggers reading ahead (`B_RAM`).
    pub marked: bool,
    /// When it was read or written last.
    pub written: u32,
    /// The read under way, if there is one.
    pub ticket: Option<Ticket>,
    older: u32,
    newer: u32,
    before: u32,
    after: u32,
}

impl Buffer {
    /// One in no list.
    fn clean(number: u32, extent: Extent) -> Buffer {
        let (dirty, marked, written, ticket) = (false, false, 0, None);
        let (older, newer, before, after) = (NONE, NONE, NONE, NONE);
        Buffer { number, extent, dirty, marked, written, ticket, older, newer, before, after }
    }
}

/// The buffers.
#[derive(Debug)]
pub struct Cache {
    buffers: Vec<Buffer>,
    unused: Vec<u32>,
    index: HashMap<u64, u32>,
    /// Per owner its first clean and its first dirty buffer.
    lists: Vec<[u32; 2]>,
    oldest: u32,
    newest: u32,
    fragments: u64,
    limit: u64,
    dirty: u32,
}

/// The owner's number and that of its block, as one.
#[inline]
pub fn key(owner: u32, number: u32) -> u64 {
    u64::from(owner) << 32 | u64::from(number)
}

impl Cache {
    /// An empty one for so many fragments and owners.
    pub fn new(limit: u64, owners: usize) -> Cache {
        Cache {
            buffers: Vec::new(),
            unused: Vec::new(),
            index: HashMap::new(),
            lists: vec![[NONE; 2]; owners],
            oldest: NONE,
            newest: NONE,
            fragments: 0,
            limit,
            dirty: 0,
        }
    }

    /// How many buffers are dirty.
    #[inline]
    pub fn dirty(&self) -> u32 {
        self.dirty
    }

    /// A buffer.
    #[inline]
    pub fn get(&self, at: u32) -> &Buffer {
        &self.buffers[at as usize]
    }

    /// A buffer, whose place in the lists is not the caller's.
    #[inline]
    pub fn get_mut(&mut self, at: u32) -> &mut Buffer {
        &mut self.buffers[at as usize]
    }

    /// The index of an owner's block, if it is here.
    #[inline]
    pub fn find(&self, owner: u32, number: u32) -> Option<u32> {
        self.index.get(&key(owner, number)).copied()
    }

    /// Makes a buffer the one used last.
    #[inline]
    pub fn used(&mut self, at: u32) {
        if self.newest != at {
            self.unlink_age(at);
            self.link_age(at);
        }
    }

    /// Takes a block in. It must not be here.
    pub fn insert(&mut self, number: u32, extent: Extent) -> u32 {
        let made = Buffer::clean(number, extent);
        let at = match self.unused.pop() {
            Some(at) => at,
            None => {
                self.buffers.push(made);
                (self.buffers.len() - 1) as u32
            }
        };
        self.buffers[at as usize] = made;
        self.index.insert(key(extent.owner, number), at);
        self.fragments += u64::from(extent.fragments);
        self.link_age(at);
        self.link_owner(at);
        at
    }

    /// Removes a buffer.
    pub fn remove(&mut self, at: u32) {
        let Buffer { number, extent, dirty, .. } = *self.get(at);
        self.index.remove(&key(extent.owner, number));
        self.unlink_age(at);
        self.unlink_owner(at);
        self.dirty -= u32::from(dirty);
        self.fragments -= u64::from(extent.fragments);
        self.unused.push(at);
    }

    /// Sets a buffer's block and length.
    pub fn moved(&mut self, at: u32, address: u32, fragments: u32) {
        let extent = &mut self.buffers[at as usize].extent;
        self.fragments = self.fragments - u64::from(extent.fragments) + u64::from(fragments);
        (extent.address, extent.fragments) = (address, fragments);
    }

    /// Sets whether it is dirty. Returns whether that changed.
    pub fn set_dirty(&mut self, at: u32, dirty: bool) -> bool {
        if self.get(at).dirty == dirty {
            return false;
        }
        self.unlink_owner(at);
        self.get_mut(at).dirty = dirty;
        self.link_owner(at);
        self.dirty = if dirty { self.dirty + 1 } else { self.dirty - 1 };
        true
    }

    /// The least recently used buffer, if the cache is over its limit. The last one used stays.
    #[inline]
    pub fn excess(&self) -> Option<u32> {
        (self.fragments > self.limit && self.oldest != self.newest).then_some(self.oldest)
    }

    /// The oldest dirty buffers, at most `most`.
    pub fn oldest_dirty(&self, most: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut at = self.oldest;
        while at != NONE && (found.len() as u32) < most {
            if self.get(at).dirty {
                found.push(at);
            }
            at = self.get(at).newer;
        }
        found
    }

    /// Whether an owner has dirty buffers.
    #[inline]
    pub fn has_dirty(&self, owner: u32) -> bool {
        self.lists[owner as usize][1] != NONE
    }

    /// An owner's dirty buffers, by their numbers.
    pub fn dirty_of(&self, owner: u32) -> Vec<u32> {
        let mut found: Vec<u32> = self.list(owner, 1).collect();
        found.sort_unstable_by_key(|&at| self.get(at).number);
        found
    }

    /// An owner's buffers.
    pub fn all_of(&self, owner: u32) -> Vec<u32> {
        self.list(owner, 0).chain(self.list(owner, 1)).collect()
    }

    fn list(&self, owner: u32, which: usize) -> impl Iterator<Item = u32> + '_ {
        let first = Some(self.lists[owner as usize][which]).filter(|&at| at != NONE);
        std::iter::successors(first, |&at| Some(self.get(at).after).filter(|&at| at != NONE))
    }

    fn link_age(&mut self, at: u32) {
        let newest = std::mem::replace(&mut self.newest, at);
        let buffer = &mut self.buffers[at as usize];
        (buffer.older, buffer.newer) = (newest, NONE);
        match newest {
            NONE => self.oldest = at,
            newest => self.buffers[newest as usize].newer = at,
        }
    }

    fn unlink_age(&mut self, at: u32) {
        let Buffer { older, newer, .. } = *self.get(at);
        match older {
            NONE => self.oldest = newer,
            older => self.buffers[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => self.buffers[newer as usize].older = older,
        }
    }

    fn link_owner(&mut self, at: u32) {
        let Buffer { extent, dirty, .. } = *self.get(at);
        let list = &mut self.lists[extent.owner as usize];
        let first = std::mem::replace(&mut list[usize::from(dirty)], at);
        let buffer = &mut self.buffers[at as usize];
        (buffer.before, buffer.after) = (NONE, first);
        if first != NONE {
            self.buffers[first as usize].before = at;
        }
    }

    fn unlink_owner(&mut self, at: u32) {
        let Buffer { extent, dirty, before, after, .. } = *self.get(at);
        match before {
            NONE => self.lists[extent.owner as usize][usize::from(dirty)] = after,
            before => self.buffers[before as usize].after = after,
        }
        if after != NONE {
            self.buffers[after as usize].before = before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Kind;

    /// Owner, number, dirty; the oldest first.
    type Naive = Vec<(u32, u32, bool)>;

    #[test]
    fn buffers_leave_in_the_order_of_their_use_and_owners_know_theirs() {
        let mut cache = Cache::new(40, 4);
        let mut naive: Naive = Vec::new();
        let mut state = 7u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 33) % n) as u32
        };
        for _ in 0..20_000 {
            let (owner, number) = (below(4), below(10));
            let same = |entry: &(u32, u32, bool)| (entry.0, entry.1) == (owner, number);
            let known = naive.iter().position(same);
            match (cache.find(owner, number), known) {
                (Some(at), Some(place)) => {
                    let mut entry = naive.remove(place);
                    match below(4) {
                        0 => cache.remove(at),
                        1 => {
                            assert!(cache.set_dirty(at, !entry.2));
                            entry.2 = !entry.2;
                            naive.insert(place, entry);
                        }
                        _ => {
                            cache.used(at);
                            naive.push(entry);
                        }
                    }
                }
                (None, None) => {
                    let kind = Kind::Data;
                    cache.insert(number, Extent { address: 5, fragments: 2, kind, owner });
                    naive.push((owner, number, false));
                }
                other => panic!("{other:?}"),
            }
            while let Some(at) = cache.excess() {
                let gone = naive.remove(0);
                assert_eq!((cache.get(at).extent.owner, cache.get(at).number), (gone.0, gone.1));
                cache.remove(at);
            }
            assert!(naive.len() <= 20);
            let mut dirty: Vec<_> =
                naive.iter().filter(|e| e.0 == owner && e.2).map(|e| e.1).collect();
            dirty.sort_unstable();
            let found: Vec<_> =
                cache.dirty_of(owner).into_iter().map(|at| cache.get(at).number).collect();
            assert_eq!(found, dirty);
            assert_eq!(cache.dirty() as usize, naive.iter().filter(|e| e.2).count());
            assert_eq!(cache.all_of(owner).len(), naive.iter().filter(|e| e.0 == owner).count());
        }
    }
}
