//! A directory: the entries in each of its blocks of 512 bytes.

/// Bytes of a directory's block (`DIRBLKSIZ`).
pub const BLOCK: u32 = 512;
/// Bytes of an entry before its name.
const HEADER: u32 = 8;
/// No name: unused room of an entry.
const UNUSED: u32 = u32::MAX;
/// The name of "." and "..", which no trace removes.
const DOTS: u32 = u32::MAX - 1;

/// Bytes that an entry needs: its name ends with a zero, and is rounded up to words (`DIRSIZ`).
#[inline]
pub fn entry_bytes(name: &[u8]) -> u16 {
    (HEADER + (name.len().min(255) as u32 + 4) / 4 * 4) as u16
}

/// An entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of its name.
    pub name: u32,
    /// What it leads to.
    pub object: u32,
    /// When it was made.
    pub stamp: u32,
    /// Bytes that it needs.
    needs: u16,
    /// Bytes up to the next entry (`d_reclen`).
    length: u16,
}

impl Entry {
    fn free(&self) -> u16 {
        match self.name {
            UNUSED => self.length,
            _ => self.length - self.needs,
        }
    }
}

/// A directory's blocks, and the room in each.
#[derive(Clone, Debug)]
pub struct Directory {
    blocks: Vec<Vec<Entry>>,
    /// The largest room behind one entry.
    most: Vec<u16>,
    /// The total room.
    all: Vec<u16>,
    /// Whether it has been read whole, so that entries are found by hash (`ufsdirhash_build`).
    pub hashed: bool,
}

/// Position of a new entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Put {
    /// The block.
    pub block: u32,
    /// Whether the directory grew by it.
    pub grown: bool,
}

impl Default for Directory {
    fn default() -> Directory {
        Directory::new()
    }
}

impl Directory {
    /// One with "." and ".." alone.
    pub fn new() -> Directory {
        let dot = Entry { name: DOTS, object: 0, stamp: 0, needs: 12, length: 12 };
        let rest = Entry { length: (BLOCK - 12) as u16, ..dot };
        let mut made =
            Directory { blocks: vec![vec![dot, rest]], most: vec![0], all: vec![0], hashed: false };
        made.count(0);
        made
    }

    /// Its bytes.
    #[inline]
    pub fn size(&self) -> u64 {
        u64::from(BLOCK) * self.blocks.len() as u64
    }

    /// Whether it has no entries but "." and "..".
    pub fn is_empty(&self) -> bool {
        self.entries().next().is_none()
    }

    /// The entries but "." and "..", in order, each with its block.
    pub fn entries(&self) -> impl Iterator<Item = (u32, &Entry)> {
        let blocks = (0u32..).zip(&self.blocks);
        let all = blocks.flat_map(|(block, entries)| entries.iter().map(move |e| (block, e)));
        all.filter(|(_, entry)| entry.name < DOTS)
    }

    /// Makes an entry in the room that `ufs_lookup` finds: behind the first entry with enough, else
    /// in the first block with enough in total, else in a new block.
    pub fn insert(&mut self, name: u32, object: u32, needs: u16, stamp: u32) -> Put {
        let entry = Entry { name, object, stamp, needs, length: needs };
        let first = |room: &[u16]| room.iter().position(|&free| free >= needs);
        let found = first(&self.most).or_else(|| first(&self.all));
        let (block, grown) = match found {
            Some(block) => (block, false),
            None => (self.grow(), true),
        };
        place(&mut self.blocks[block], entry);
        self.count(block);
        Put { block: block as u32, grown }
    }

    /// Takes an entry out: the one before gets its room (`ufs_dirremove`).
    pub fn remove(&mut self, block: u32, name: u32) -> Option<Entry> {
        let entries = self.blocks.get_mut(block as usize)?;
        let at = entries.iter().position(|entry| entry.name == name)?;
        let gone = entries[at];
        match at.checked_sub(1) {
            Some(before) => {
                entries[before].length += gone.length;
                entries.remove(at);
            }
            None => entries[0].name = UNUSED,
        }
        self.count(block as usize);
        Some(gone)
    }

    /// Redirects an entry (`ufs_dirrewrite`). Returns the former one.
    pub fn replace(&mut self, block: u32, name: u32, object: u32, stamp: u32) -> Option<Entry> {
        let entries = self.blocks.get_mut(block as usize)?;
        let entry = entries.iter_mut().find(|entry| entry.name == name)?;
        let before = *entry;
        (entry.object, entry.stamp) = (object, stamp);
        Some(before)
    }

    /// Drops unused blocks at the end, as the next create in a directory does (`i_endoff`). Returns
    /// whether there were any.
    pub fn cut(&mut self) -> bool {
        let unused = |entries: &Vec<Entry>| entries.len() == 1 && entries[0].name == UNUSED;
        let used = self.blocks.iter().rposition(|entries| !unused(entries)).map_or(1, |at| at + 1);
        let shorter = used < self.blocks.len();
        self.blocks.truncate(used);
        self.most.truncate(used);
        self.all.truncate(used);
        shorter
    }

    fn grow(&mut self) -> usize {
        let length = BLOCK as u16;
        self.blocks.push(vec![Entry { name: UNUSED, object: 0, stamp: 0, needs: 0, length }]);
        self.most.push(length);
        self.all.push(length);
        self.blocks.len() - 1
    }

    fn count(&mut self, block: usize) {
        let free = self.blocks[block].iter().map(Entry::free);
        (self.most[block], self.all[block]) =
            free.fold((0, 0), |(most, all), free| (most.max(free), all + free));
    }
}

/// Puts an entry into a block with room, compacting entries if necessary (`ufs_direnter`).
fn place(entries: &mut Vec<Entry>, mut entry: Entry) {
    let alone = entries.iter().position(|other| other.free() >= entry.needs);
    if let Some(at) = alone {
        if entries[at].name == UNUSED {
            entry.length = entries[at].length;
            entries[at] = entry;
            return;
        }
        entry.length = entries[at].free();
        entries[at].length = entries[at].needs;
        entries.insert(at + 1, entry);
        return;
    }
    let (mut free, mut at) = (0, 0);
    while free < entry.needs && at < entries.len() {
        free += entries[at].free();
        entries[at].length -= entries[at].free();
        at += 1;
    }
    entry.length = free;
    entries.insert(at, entry);
    entries.retain(|other| other.name != UNUSED);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The room of a block of a directory, byte by byte: which entry owns each.
    fn naive_room(directory: &Directory, needs: u16) -> Option<(usize, bool)> {
        for whole in [false, true] {
            for (at, entries) in directory.blocks.iter().enumerate() {
                let mut sum = 0;
                for entry in entries {
                    let used = if entry.name == UNUSED { 0 } else { entry.needs };
                    sum = if whole { sum } else { 0 } + entry.length - used;
                    if sum >= needs {
                        return Some((at, whole));
                    }
                }
            }
        }
        None
    }

    fn check(directory: &Directory) {
        for entries in &directory.blocks {
            let sum: u32 = entries.iter().map(|entry| u32::from(entry.length)).sum();
            assert_eq!(sum, BLOCK);
            assert!(entries.iter().all(|e| e.name == UNUSED || e.length >= e.needs));
        }
    }

    #[test]
    fn entries_take_eight_bytes_and_their_names_with_a_zero_in_words() {
        let bytes: Vec<_> = [1, 3, 4, 7, 8, 255].map(|n| entry_bytes(&vec![b'x'; n])).into();
        assert_eq!(bytes, [12, 12, 16, 16, 20, 264]);
    }

    #[test]
    fn an_entry_goes_where_a_scan_of_all_entries_finds_room() {
        let mut directory = Directory::new();
        let mut live: Vec<(u32, u32)> = Vec::new();
        let mut state = 1u64;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        for name in 0..20_000 {
            if live.len() > 300 || (!live.is_empty() && below(5) < 2) {
                let (name, block) = live.swap_remove(below(live.len() as u64) as usize);
                assert_eq!(directory.remove(block, name).unwrap().name, name);
                assert_eq!(directory.remove(block, name), None);
            }
            let needs = entry_bytes(&vec![b'n'; 1 + below(40) as usize]);
            let before = directory.blocks.len();
            let expected = naive_room(&directory, needs).map_or(before, |(block, _)| block);
            let put = directory.insert(name, name, needs, 0);
            assert_eq!((put.block as usize, put.grown), (expected, expected == before));
            live.push((name, put.block));
            check(&directory);
        }
        let mut found: Vec<_> = directory.entries().map(|(block, e)| (e.name, block)).collect();
        found.sort_unstable();
        live.sort_unstable();
        assert_eq!(found, live);
    }

    #[test]
    fn blocks_that_nothing_uses_are_cut_at_the_end_only() {
        let mut directory = Directory::new();
        let put: Vec<_> = (0..100).map(|name| directory.insert(name, 1, 100, 0).block).collect();
        assert_eq!(directory.size(), 512 * 21);
        (0..99).for_each(|name| assert!(directory.remove(put[name as usize], name).is_some()));
        assert!(!directory.cut());
        directory.remove(put[99], 99);
        assert!(directory.cut() && directory.is_empty());
        assert_eq!(directory.size(), 512);
    }
}
