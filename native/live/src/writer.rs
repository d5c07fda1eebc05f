//! The writer of a shared history, which mirrors a follower's records.

use super::alias;
use super::changes::Changes;
use super::header::{Clocks, Counts, Facts, Layout, Report, DIRECTORY, SEQUENCE};
use super::reader::Directory;
use super::table::{Table, FREE, WAYS};
use super::words::{Words, WordsMut};
use birthmark_learn::history::{Record, WORDS as RECORD};
use std::sync::atomic::Ordering;

/// The only writer of a shared history.
///
/// Changes are staged, and stored by [`Writer::commit`] at once: readers see all of them or none, and
/// retry during the stores.
pub struct Writer<W> {
    words: W,
    sequence: u64,
    records: Plan<RECORD>,
    directories: Plan<DIRECTORY>,
}

impl<W: WordsMut> Writer<W> {
    /// Writes into words that are all 0, as many as in the layout.
    pub fn new(words: W, layout: Layout, boot: u64, generation: u64, follower: &str) -> Writer<W> {
        layout.write(&words, boot, generation, follower);
        let records = Plan::new(layout.records);
        Writer { words, sequence: 0, records, directories: Plan::new(layout.directories) }
    }

    /// The words of the history.
    pub fn words(&self) -> &W {
        &self.words
    }

    /// Sets the record of a key, from the next commit on.
    ///
    /// If both its buckets are full, it evicts the key with the oldest last birth, maybe this one.
    #[inline]
    pub fn put(&mut self, key: u64, record: &Record) {
        self.records.put(key, record.to_words(), record.last_birth);
    }

    /// Removes a key, from the next commit on.
    pub fn remove(&mut self, key: u64) {
        self.records.remove(key);
    }

    /// Sets the directory of an alias, from the next commit on. `at` is its last use in microseconds
    /// since the epoch: a full bucket evicts the alias with the oldest use.
    pub fn directory(&mut self, alias: u64, directory: &Directory, at: i64) {
        let Directory { dir, shape } = *directory;
        self.directories.put(alias, [dir, shape.unwrap_or(0), shape.is_some().into()], at);
    }

    /// Removes an alias, from the next commit on.
    pub fn remove_directory(&mut self, alias: u64) {
        self.directories.remove(alias);
    }

    /// Sets all aliases of a directory: its handle, the handle's inode, and its path, if known.
    /// `shape` is the hash of its own name's shape.
    pub fn call(&mut self, handle: &[u8], path: Option<&[u8]>, shape: Option<u64>, at: i64) {
        let (directory, aliases) = alias::of_directory(handle, path, shape);
        aliases.for_each(|alias| self.directory(alias, &directory, at));
    }

    /// The whole history as of the last commit, without invalid records.
    pub fn everything(&self) -> Changes {
        let mut changes = Changes::default();
        for (key, _, words) in self.records.all(&self.words) {
            if let Some(record) = Record::from_words(&words) {
                changes.put(key, record);
            }
        }
        for (alias, used, [dir, shape, has_shape]) in self.directories.all(&self.words) {
            let shape = (has_shape == 1).then_some(shape);
            changes.directory(alias, Directory { dir, shape }, used);
        }
        changes
    }

    /// The numbers of keys and aliases.
    pub fn counts(&self) -> Counts {
        Counts {
            keys: self.records.stored,
            keys_gave_way: self.records.gave_way,
            aliases: self.directories.stored,
            aliases_gave_way: self.directories.gave_way,
        }
    }

    /// Stores all staged changes, and the follower's status, as one update.
    pub fn commit(&mut self, report: Report, updated: Clocks) {
        let facts = Facts { report, updated, counts: self.counts() };
        self.records.expect(&self.words);
        self.directories.expect(&self.words);
        self.words.store(SEQUENCE, self.sequence + 1);
        self.words.fence(Ordering::Release);
        self.records.store(&self.words);
        self.directories.store(&self.words);
        facts.write(&self.words);
        self.words.fence(Ordering::Release);
        self.sequence += 2;
        self.words.store(SEQUENCE, self.sequence);
    }
}

/// The content of a table as of the next update.
///
/// It has a copy of the keys, because the writer never reads the file, which may be damaged.
struct Plan<const VALUE: usize> {
    table: Table<VALUE>,
    keys: Vec<u64>,
    used: Vec<i64>,
    staged: Vec<Change<VALUE>>,
    stored: u64,
    gave_way: u64,
}

struct Change<const VALUE: usize> {
    way: usize,
    key: u64,
    value: [u64; VALUE],
}

impl<const VALUE: usize> Plan<VALUE> {
    fn new(table: Table<VALUE>) -> Plan<VALUE> {
        let (keys, used) = (vec![FREE; table.ways()], vec![i64::MIN; table.ways()]);
        Plan { table, keys, used, staged: Vec::new(), stored: 0, gave_way: 0 }
    }

    fn put(&mut self, key: u64, value: [u64; VALUE], used: i64) {
        let Some(way) = self.way_for(key, used) else { return };
        (self.keys[way], self.used[way]) = (key, used);
        self.staged.push(Change { way, key, value });
    }

    fn remove(&mut self, key: u64) {
        if let Some(way) = self.way_of(key) {
            self.keys[way] = FREE;
            self.stored -= 1;
            self.staged.push(Change { way, key: FREE, value: [0; VALUE] });
        }
    }

    /// The stored keys, with their last use and value.
    fn all<'a>(
        &'a self,
        words: &'a impl Words,
    ) -> impl Iterator<Item = (u64, i64, [u64; VALUE])> + 'a {
        let used = (0..self.keys.len()).filter(|&way| self.keys[way] != FREE);
        used.map(|way| {
            let at = self.table.value_at(way);
            let value = std::array::from_fn(|word| words.load(at + word));
            (self.keys[way], self.used[way], value)
        })
    }

    fn ways(&self, key: u64) -> impl Iterator<Item = usize> {
        self.table.homes(key).into_iter().flat_map(|home| home * WAYS..(home + 1) * WAYS)
    }

    fn way_of(&self, key: u64) -> Option<usize> {
        self.ways(key).find(|&way| key != FREE && self.keys[way] == key)
    }

    /// The way of a key, or a new one for it: a free one of the emptier bucket, else that of the key
    /// with the oldest use; none if that is this key.
    fn way_for(&mut self, key: u64, used: i64) -> Option<usize> {
        if key == FREE {
            return None;
        }
        if let Some(way) = self.way_of(key) {
            return Some(way);
        }
        if let Some(way) = self.free_way(key) {
            self.stored += 1;
            return Some(way);
        }
        self.gave_way += 1;
        self.ways(key).min_by_key(|&way| self.used[way]).filter(|&way| self.used[way] <= used)
    }

    fn free_way(&self, key: u64) -> Option<usize> {
        let free = |home: usize| {
            let ways = home * WAYS..(home + 1) * WAYS;
            ways.filter(|&way| self.keys[way] == FREE)
        };
        let [first, second] = self.table.homes(key);
        let emptier = if free(first).count() >= free(second).count() { first } else { second };
        free(emptier).next()
    }

    /// Prefetches the cache lines of the stores, so that an update does not wait for them.
    fn expect(&self, words: &impl Words) {
        for Change { way, .. } in &self.staged {
            std::hint::black_box(words.load(self.table.key_at(*way)));
            std::hint::black_box(words.load(self.table.value_at(*way)));
        }
    }

    fn store(&mut self, words: &impl WordsMut) {
        for Change { way, key, value } in self.staged.drain(..) {
            words.store(self.table.key_at(way), key);
            let at = self.table.value_at(way);
            value.into_iter().enumerate().for_each(|(word, value)| words.store(at + word, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::Reader;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    use rand_xoshiro::SplitMix64;
    use std::sync::atomic::AtomicU64;
    use std::sync::Arc;

    type Memory = Arc<Vec<AtomicU64>>;

    fn pair(keys: usize, aliases: usize) -> (Writer<Memory>, Reader<Memory>) {
        let layout = Layout::with_room(keys, aliases).unwrap();
        let words: Memory = Arc::new((0..layout.words()).map(|_| AtomicU64::new(0)).collect());
        let writer = Writer::new(words.clone(), layout, 1, 2, "0.1.0");
        (writer, Reader::new(words, 1).unwrap())
    }

    fn born(at: i64) -> Record {
        let mut record = Record::default();
        record.bear(at);
        record
    }

    /// When the last birth under each key was, 0 for no birth.
    fn last(reader: &Reader<Memory>, keys: &[u64]) -> Vec<i64> {
        let births = |key: &u64| reader.look(|view| view.record(*key).last_birth).unwrap();
        keys.iter().map(births).collect()
    }

    #[test]
    fn changes_are_visible_after_the_commit() {
        let (mut writer, reader) = pair(100, 100);
        let directory = Directory { dir: 5, shape: None };
        writer.put(7, &born(1));
        writer.directory(8, &directory, 1);
        assert_eq!(last(&reader, &[7]), [0]);
        writer.commit(Report::default(), Clocks::default());
        writer.put(7, &born(2));
        writer.put(9, &born(3));
        assert_eq!(last(&reader, &[7, 9]), [1, 0]);
        writer.commit(Report { lag: 4, ..Report::default() }, Clocks::default());
        assert_eq!(last(&reader, &[7, 9]), [2, 3]);
        assert_eq!(reader.look(|view| view.directory(8)), Ok(Some(directory)));
        assert_eq!(reader.look(|view| view.directory(7)), Ok(None));
        let facts = reader.facts().unwrap();
        let counts = Counts { keys: 2, aliases: 1, ..Counts::default() };
        assert_eq!((facts.report.lag, facts.counts), (4, counts));
        assert_eq!(reader.updates(), 2);
    }

    #[test]
    fn removed_keys_make_room() {
        let (mut writer, reader) = pair(1, 1);
        (1..=8).for_each(|key| writer.put(key, &born(1)));
        writer.remove(3);
        writer.remove(3);
        writer.remove(99);
        writer.directory(8, &Directory { dir: 5, shape: Some(6) }, 1);
        writer.remove_directory(8);
        writer.commit(Report::default(), Clocks::default());
        assert_eq!(last(&reader, &[2, 3]), [1, 0]);
        assert_eq!(reader.look(|view| view.directory(8)), Ok(None));
        assert_eq!((writer.counts().keys, writer.counts().aliases), (7, 0));
        writer.put(17, &born(1));
        assert_eq!(writer.counts().keys_gave_way, 0);
    }

    #[test]
    fn full_buckets_evict_and_count_the_key_with_the_oldest_use() {
        let (mut writer, reader) = pair(1, 1);
        // two buckets of eight, which are the homes of every key
        let keys: Vec<u64> = (0..16).map(|key| key << 60 | 1 << 30).collect();
        for (key, at) in keys.iter().zip(100..) {
            writer.put(*key, &born(at));
        }
        let (stored, evicted): (Vec<_>, Vec<_>) =
            keys.iter().partition(|key| writer.records.way_of(**key).is_some());
        writer.put(50 << 40, &born(200));
        writer.put(51 << 40, &born(99));
        writer.commit(Report::default(), Clocks::default());
        let counts = writer.counts();
        assert_eq!(counts.keys_gave_way, evicted.len() as u64 + 2);
        assert_eq!(last(&reader, &[50 << 40, 51 << 40]), [200, 0]);
        let idle = last(&reader, &stored).iter().filter(|at| **at == 0).count();
        assert_eq!((idle, counts.keys), (1, stored.len() as u64));
    }

    #[test]
    fn hardly_a_key_gives_way_before_there_are_as_many_as_there_is_room_for() {
        let (mut writer, reader) = pair(60_000, 20_000);
        let mut random = SplitMix64::seed_from_u64(1);
        let keys: Vec<u64> = (0..60_000).map(|_| random.next_u64()).collect();
        keys.iter().zip(1..).for_each(|(key, at)| writer.put(*key, &born(at)));
        let directory = Directory { dir: 1, shape: None };
        keys[..20_000].iter().for_each(|alias| writer.directory(*alias, &directory, 1));
        writer.commit(Report::default(), Clocks::default());
        let counts = writer.counts();
        assert!(counts.keys_gave_way + counts.aliases_gave_way <= 4, "{counts:?}");
        assert_eq!(counts.keys + counts.keys_gave_way, 60_000);
        let there = (1..).zip(last(&reader, &keys)).filter(|(at, last)| at == last).count();
        assert_eq!(there as u64, counts.keys);
    }

    #[test]
    fn a_key_of_0_is_not_stored() {
        let (mut writer, reader) = pair(1, 1);
        writer.put(0, &born(1));
        writer.commit(Report::default(), Clocks::default());
        assert_eq!((last(&reader, &[0]), writer.counts().keys), (vec![0], 0));
    }

    #[test]
    fn words_that_no_record_has_are_damage() {
        let (mut writer, reader) = pair(1, 1);
        writer.put(7, &born(1));
        writer.commit(Report::default(), Clocks::default());
        let way = writer.records.way_of(7).unwrap();
        writer.words.store(writer.records.table.value_at(way) + 6, u64::MAX);
        let damaged = Err(crate::StaleReason::Damaged);
        assert_eq!(reader.look(|view| view.record(7).births), damaged);
        assert_eq!(reader.look(|view| view.record(8).births), Ok(0));
    }

    #[test]
    fn a_header_is_checked() {
        use crate::header::HeaderError;
        let (writer, _) = pair(100, 100);
        let words = writer.words();
        let damaged = |at: usize, word: u64| {
            let saved = words.load(at);
            words.store(at, word);
            let error = Reader::new(words.clone(), 1).err();
            words.store(at, saved);
            error
        };
        assert_eq!(damaged(0, 0), Some(HeaderError::Magic));
        assert_eq!(damaged(1, 9), Some(HeaderError::Version(9)));
        for (at, word) in [(2, 1), (3, 0), (3, 16), (3, u64::MAX), (4, 0), (4, 1 << 60)] {
            let found = damaged(at, word);
            assert!(matches!(found, Some(HeaderError::Size { .. })), "{found:?}");
        }
        assert_eq!(damaged(6, 2), Some(HeaderError::Boot));
        assert_eq!(damaged(0, words.load(0)), None);
        assert_eq!(crate::header::follower(words), "0.1.0");
    }
}
