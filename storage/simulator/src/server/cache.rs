//! The block cache of a server, which evicts the least recently used block.

use super::per_file::PerFile;

const NONE: u32 = u32::MAX;

/// A block of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Block {
    /// The file's number.
    pub file: u32,
    /// The block's number in the file.
    pub index: u64,
}

/// A block that is in the cache.
#[derive(Clone, Copy, Debug)]
struct Entry {
    block: Block,
    newer: u32,
    older: u32,
    dirty: bool,
    /// A mark of [`crate::cluster`].
    marked: bool,
    /// The disk request that brings it, if it is not there yet.
    under_way: u32,
}

/// Blocks in the order of their last use, with a fixed capacity.
///
/// Every operation takes constant time.
#[derive(Clone, Debug)]
pub struct Cache {
    room: usize,
    entries: Vec<Entry>,
    places: PerFile<u32>,
    /// Free entries.
    free: Vec<u32>,
    newest: u32,
    oldest: u32,
}

impl Cache {
    /// An empty cache of `room` blocks, at least one.
    pub fn new(room: usize) -> Self {
        let room = room.clamp(1, NONE as usize - 1);
        let (places, free) = (PerFile::default(), Vec::new());
        Self { room, entries: Vec::new(), places, free, newest: NONE, oldest: NONE }
    }

    /// Whether it holds a block, without marking it as used.
    pub fn holds(&self, block: Block) -> bool {
        self.place(block).is_some()
    }

    /// Use a block; return the disk request that brings it, if any, or None without the block.
    pub fn touch(&mut self, block: Block) -> Option<Option<u32>> {
        let place = self.place(block)?;
        self.unlink(place);
        self.link(place);
        let request = self.entries[place as usize].under_way;
        Some((request != NONE).then_some(request))
    }

    /// Insert a block, with the disk request that brings it, if any; return an evicted dirty one.
    pub fn insert(&mut self, block: Block, request: Option<u32>) -> Option<Block> {
        debug_assert!(!self.holds(block));
        let entry = Entry {
            block,
            newer: NONE,
            older: NONE,
            dirty: false,
            marked: false,
            under_way: request.unwrap_or(NONE),
        };
        let (place, gone) = self.room_for_one(entry);
        self.entries[place as usize] = entry;
        self.places.insert(block.file, block.index, place);
        self.link(place);
        gone
    }

    /// Return an index for an entry, and the dirty block evicted for it, if any.
    fn room_for_one(&mut self, entry: Entry) -> (u32, Option<Block>) {
        if let Some(place) = self.free.pop() {
            return (place, None);
        }
        if self.entries.len() < self.room {
            self.entries.push(entry);
            return (self.entries.len() as u32 - 1, None);
        }
        let place = self.oldest;
        let gone = self.entries[place as usize];
        self.unlink(place);
        self.places.remove(gone.block.file, gone.block.index);
        (place, gone.dirty.then_some(gone.block))
    }

    /// Drop a file's blocks from one on, dirty ones included.
    pub fn forget(&mut self, file: u32, from: u64) {
        for place in self.places.take(file, from) {
            self.unlink(place);
            self.free.push(place);
        }
    }

    fn place(&self, block: Block) -> Option<u32> {
        self.places.get(block.file, block.index)
    }

    /// Record that a disk request has brought a block.
    pub fn arrived(&mut self, block: Block, request: u32) {
        if let Some(place) = self.place(block) {
            let entry = &mut self.entries[place as usize];
            if entry.under_way == request {
                entry.under_way = NONE;
            }
        }
    }

    /// Mark a present block as dirty; return whether it was clean.
    pub fn soil(&mut self, block: Block) -> bool {
        self.place(block)
            .is_some_and(|place| !std::mem::replace(&mut self.entries[place as usize].dirty, true))
    }

    /// Mark a block as clean; return whether it was dirty.
    pub fn clean(&mut self, block: Block) -> bool {
        self.place(block)
            .is_some_and(|place| std::mem::replace(&mut self.entries[place as usize].dirty, false))
    }

    /// Mark a block, if it is there.
    pub fn mark(&mut self, block: Block) {
        if let Some(place) = self.place(block) {
            self.entries[place as usize].marked = true;
        }
    }

    /// Remove a block's mark; return whether it had one.
    pub fn unmark(&mut self, block: Block) -> bool {
        let place = self.place(block);
        place.is_some_and(|place| std::mem::take(&mut self.entries[place as usize].marked))
    }

    fn link(&mut self, place: u32) {
        let was = std::mem::replace(&mut self.newest, place);
        self.entries[place as usize].newer = NONE;
        self.entries[place as usize].older = was;
        if was == NONE {
            self.oldest = place;
        } else {
            self.entries[was as usize].newer = place;
        }
    }

    fn unlink(&mut self, place: u32) {
        let Entry { newer, older, .. } = self.entries[place as usize];
        if newer == NONE {
            self.newest = older;
        } else {
            self.entries[newer as usize].older = older;
        }
        if older == NONE {
            self.oldest = newer;
        } else {
            self.entries[older as usize].newer = newer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::work::mix;
    use super::*;

    fn block(index: u64) -> Block {
        Block { file: 1, index }
    }

    #[test]
    fn it_holds_what_a_sorted_list_would() {
        let mut cache = Cache::new(7);
        let mut list: Vec<Block> = Vec::new();
        for step in 0..5_000 {
            let block = Block { file: (mix(step) % 2) as u32, index: mix(step + 9_000) % 9 };
            let found = cache.touch(block).is_some();
            assert_eq!(found, list.contains(&block));
            list.retain(|own| *own != block);
            if !found {
                cache.insert(block, None);
                if list.len() == 7 {
                    let gone = list.remove(0);
                    assert!(!cache.holds(gone));
                }
            }
            list.push(block);
            assert_eq!(cache.entries.len(), list.len());
        }
    }

    #[test]
    fn evicted_blocks_make_room_for_others() {
        let mut cache = Cache::new(4);
        for index in 0..4 {
            cache.insert(block(index), None);
            cache.soil(block(index));
        }
        cache.forget(1, 2);
        assert_eq!([0, 1, 2, 3].map(|index| cache.holds(block(index))), [true, true, false, false]);
        let other = |index| Block { file: 2, index };
        assert_eq!((cache.insert(other(0), None), cache.insert(other(1), None)), (None, None));
        assert_eq!(cache.insert(other(2), None), Some(block(0)));
        assert_eq!(cache.entries.len(), 4);
    }

    #[test]
    fn a_block_is_under_way_until_its_own_request_has_brought_it() {
        let mut cache = Cache::new(2);
        cache.insert(block(1), Some(5));
        assert_eq!(cache.touch(block(1)), Some(Some(5)));
        cache.arrived(block(1), 4);
        assert_eq!(cache.touch(block(1)), Some(Some(5)));
        cache.arrived(block(1), 5);
        assert_eq!(cache.touch(block(1)), Some(None));
        cache.arrived(block(3), 5);
        assert_eq!(cache.touch(block(3)), None);
    }

    #[test]
    fn evicting_a_dirty_block_returns_it() {
        let mut cache = Cache::new(2);
        cache.insert(block(1), None);
        cache.insert(block(2), None);
        assert!(cache.soil(block(1)) && !cache.soil(block(1)) && cache.soil(block(2)));
        assert!(cache.clean(block(2)) && !cache.clean(block(2)));
        assert_eq!(cache.insert(block(3), None), Some(block(1)));
        assert_eq!(cache.insert(block(4), None), None);
        assert!(!cache.soil(block(1)) && !cache.clean(block(1)));
    }
}
