//! Changes of a shared history, for copies on other machines.

use super::alias;
use super::reader::Directory;
use super::words::WordsMut;
use super::writer::Writer;
use arrow_array::types::{TimestampMicrosecondType, UInt64Type};
use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
use birthmark_columns::arrays::times;
use birthmark_columns::{get, Source};
use birthmark_learn::history::{to_batch, values, Error, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Evicted keys, records by key, and directories by alias with the time of their last use.
///
/// To update a copy, remove the evicted keys, then put the rest. Keys are those of the file, which
/// include the subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    evicted: BTreeSet<u64>,
    records: BTreeMap<u64, Record>,
    directories: BTreeMap<u64, (Directory, i64)>,
}

impl Changes {
    /// Adds the eviction of a key.
    pub fn remove(&mut self, key: u64) {
        self.records.remove(&key);
        self.evicted.insert(key);
    }

    /// Adds the record of a key.
    pub fn put(&mut self, key: u64, record: Record) {
        self.records.insert(key, record);
    }

    /// Adds the directory of an alias, and its last use in microseconds since the epoch.
    pub fn directory(&mut self, alias: u64, directory: Directory, at: i64) {
        self.directories.insert(alias, (directory, at));
    }

    /// Adds all aliases of a directory ([`Writer::call`]).
    pub fn call(&mut self, handle: &[u8], path: Option<&[u8]>, shape: Option<u64>, at: i64) {
        let (directory, aliases) = alias::of_directory(handle, path, shape);
        aliases.for_each(|alias| self.directory(alias, directory, at));
    }

    /// Adds later changes.
    pub fn merge(&mut self, later: &Changes) {
        later.evicted.iter().for_each(|&key| self.remove(key));
        self.records.extend(&later.records);
        self.directories.extend(&later.directories);
    }

    /// Removes and returns the first `rows` rows, in the order in which they must be applied.
    pub fn take(&mut self, rows: usize) -> Changes {
        let evicted = pop(rows, || self.evicted.pop_first());
        let left = rows - evicted.len();
        let records = pop(left, || self.records.pop_first());
        let left = left - records.len();
        let directories = pop(left, || self.directories.pop_first());
        Changes {
            evicted: evicted.into_iter().collect(),
            records: records.into_iter().collect(),
            directories: directories.into_iter().collect(),
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.evicted.len() + self.records.len() + self.directories.len()
    }

    /// Applies the changes to another history, from its next commit on.
    pub fn write<W: WordsMut>(&self, writer: &mut Writer<W>) {
        self.evicted.iter().for_each(|&key| writer.remove(key));
        self.records.iter().for_each(|(&key, record)| writer.put(key, record));
        for (&alias, (directory, at)) in &self.directories {
            writer.directory(alias, directory, *at);
        }
    }

    /// The evicted keys; the records, with the columns of `History::to_batch`; and the directories:
    /// `key` is an alias, `directory` and `shape` are those of [`Directory`], `used` is the time.
    pub fn to_arrow(&self) -> Result<(UInt64Array, RecordBatch, RecordBatch), Error> {
        let rows = || self.directories.iter();
        let directory = rows().map(|(_, (directory, _))| directory.dir);
        let shape = rows().map(|(_, (directory, _))| directory.shape);
        let columns: [(&str, ArrayRef, bool); 4] = [
            (
                "key",
                Arc::new(UInt64Array::from_iter_values(self.directories.keys().copied())),
                false,
            ),
            ("directory", Arc::new(UInt64Array::from_iter_values(directory)), false),
            ("shape", Arc::new(shape.collect::<UInt64Array>()), true),
            ("used", times(rows().map(|(_, (_, at))| *at)), false),
        ];
        let directories = RecordBatch::try_from_iter_with_nullable(columns)?;
        let evicted = UInt64Array::from_iter_values(self.evicted.iter().copied());
        Ok((evicted, to_batch(self.records.iter())?, directories))
    }

    /// Restores [`Changes::to_arrow`], validated.
    pub fn from_arrow(
        evicted: &UInt64Array,
        records: &RecordBatch,
        directories: &RecordBatch,
    ) -> Result<Changes, Error> {
        let records = birthmark_learn::history::records(records)?;
        let aliases = values::<UInt64Type>(directories, "key")?;
        let of = values::<UInt64Type>(directories, "directory")?;
        let used = values::<TimestampMicrosecondType>(directories, "used")?;
        let shapes: &UInt64Array = Source::Table(directories).array("shape")?;
        let directory = |row: usize| Directory { dir: of[row], shape: get(shapes, row) };
        Ok(Changes {
            evicted: evicted.values().iter().copied().collect(),
            records: records.into_iter().collect(),
            directories: (0..aliases.len())
                .map(|row| (aliases[row], (directory(row), used[row])))
                .collect(),
        })
    }
}

fn pop<T>(most: usize, first: impl FnMut() -> Option<T>) -> Vec<T> {
    std::iter::from_fn(first).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::{Clocks, Layout, Report};
    use crate::reader::Reader;
    use std::sync::atomic::AtomicU64;

    type Memory = Arc<Vec<AtomicU64>>;

    fn writer() -> Writer<Memory> {
        let layout = Layout::with_room(100, 100).unwrap();
        let words: Memory = Arc::new((0..layout.words()).map(|_| AtomicU64::new(0)).collect());
        Writer::new(words, layout, 1, 2, "0.1.0")
    }

    fn born(at: i64) -> Record {
        let mut record = Record::default();
        record.bear(at);
        record
    }

    fn put(rows: &[(u64, i64)]) -> Changes {
        let mut changes = Changes::default();
        rows.iter().for_each(|&(key, at)| changes.put(key, born(at)));
        changes
    }

    #[test]
    fn a_copy_of_everything_equals_the_original() {
        let (mut one, mut other) = (writer(), writer());
        one.put(7, &born(1));
        one.put(9, &born(2));
        one.remove(9);
        one.call(b"a handle", Some(b"/home/ann"), Some(5), 6);
        one.commit(Report::default(), Clocks::default());
        let whole = one.everything();
        assert_eq!(whole.rows(), 3);
        whole.write(&mut other);
        other.commit(Report::default(), Clocks::default());
        assert_eq!(other.everything(), whole);
        let reader = Reader::new(other.words().clone(), 1).unwrap();
        assert_eq!(reader.look(|view| view.record(7)), Ok(born(1)));
        let directory = reader.look(|view| view.directory(alias::of_path(b"/home/ann"))).unwrap();
        assert_eq!(directory.unwrap().shape, Some(5));
    }

    #[test]
    fn damage_to_the_file_is_not_copied() {
        let mut writer = writer();
        writer.put(7, &born(1));
        writer.put(9, &born(1));
        writer.commit(Report::default(), Clocks::default());
        let words = writer.words();
        let place = (0..crate::words::Words::count(words))
            .find(|&at| crate::words::Words::load(words, at) == 7)
            .unwrap();
        words.store(place, 8);
        let copied = writer.everything();
        assert_eq!(copied, put(&[(7, 1), (9, 1)]), "keys are those that the writer knows");
    }

    #[test]
    fn later_changes_replace_earlier_ones_and_evicted_keys_can_return() {
        let mut changes = put(&[(1, 1), (2, 1), (3, 1)]);
        let mut later = Changes::default();
        later.remove(1);
        later.remove(2);
        later.put(2, born(5));
        later.put(3, born(6));
        changes.merge(&later);
        let mut expected = put(&[(2, 5), (3, 6)]);
        expected.evicted = [1, 2].into();
        assert_eq!(changes, expected);
    }

    #[test]
    fn parts_make_the_whole_with_evicted_keys_first() {
        let mut changes = put(&[(2, 5), (3, 6), (4, 6)]);
        changes.evicted = [1, 2].into();
        changes.call(b"a handle", None, None, 6);
        let (mut left, mut merged, mut sizes) = (changes.clone(), Changes::default(), Vec::new());
        while left.rows() > 0 {
            let part = left.take(4);
            sizes.push((part.evicted.len(), part.records.len(), part.directories.len()));
            merged.merge(&part);
        }
        assert_eq!(sizes, [(2, 2, 0), (0, 1, 1)]);
        assert_eq!(merged, changes);
    }

    #[test]
    fn tables_of_them_mean_the_same() {
        let mut changes = put(&[(2, 5), (u64::MAX, i64::MIN)]);
        changes.evicted = [1, 2].into();
        changes.call(b"a handle", Some(b"/"), Some(3), 6);
        changes.call(b"another", None, None, 7);
        for changes in [changes, Changes::default()] {
            let (evicted, records, directories) = changes.to_arrow().unwrap();
            assert_eq!(Changes::from_arrow(&evicted, &records, &directories).unwrap(), changes);
        }
    }
}
