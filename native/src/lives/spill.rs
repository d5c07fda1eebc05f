//! The lives that have been idle longest, kept in a temporary file: a trace may show more files
//! than memory has room for, and most are never named again.
//!
//! Each inode is a record of its own, found by the hashes of its handle and its names. A filter
//! in memory tells most hashes that were never put from those that were.

use super::life::Inode;
use hashbrown::HashSet;
use redb::backends::FileBackend;
use redb::{Database, ReadOnlyTable, StorageBackend, TableDefinition};
use std::io;

/// Hashes and inodes, by the number of their putting.
const RECORDS: TableDefinition<u64, &[u8]> = TableDefinition::new("records");
/// Hashes, each with the number of a record.
const PLACES: TableDefinition<(u64, u64), ()> = TableDefinition::new("places");
/// What the database keeps in memory of its file, bytes.
const CACHE: usize = 32 << 20;

/// The temporary file could not be used, or does not hold what was put there.
#[derive(Debug, thiserror::Error)]
#[error("the temporary file of idle file lives: {0}")]
pub struct Error(String);

/// Inodes out of memory.
#[derive(Default)]
pub struct Spill {
    store: Option<Store>,
    filter: Filter,
    /// Records that were taken, and their hashes, until the next [`Spill::put`] removes them.
    taken: HashSet<u64>,
    taken_places: Vec<(u64, u64)>,
    drained: u64,
    failure: Option<Error>,
}

impl Spill {
    /// Puts inodes, each with its hashes.
    pub fn put(&mut self, inodes: &[(Vec<u64>, Inode)]) -> Result<(), Error> {
        let store = match self.store.take() {
            Some(store) => store,
            None => Store::new()?,
        };
        let numbered = (store.next..).zip(inodes);
        let mut places: Vec<(u64, u64)> = numbered
            .flat_map(|(number, (hashes, _))| hashes.iter().map(move |&hash| (hash, number)))
            .collect();
        places.sort_unstable();
        places.iter().for_each(|&(hash, _)| self.filter.add(hash));
        self.store = Some(store.change(&self.taken, &self.taken_places, inodes, &places)?);
        self.taken.clear();
        self.taken_places.clear();
        Ok(())
    }

    /// Takes back the inode that is wanted of those with a hash. A failure is told by the next
    /// [`Spill::check`].
    #[inline]
    pub fn take(&mut self, hash: u64, wanted: impl Fn(&Inode) -> bool) -> Option<Inode> {
        if !self.filter.may_hold(hash) {
            return None;
        }
        self.find(hash, wanted).unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            None
        })
    }

    /// Whether there is an inode with that hash.
    pub fn holds(&mut self, hash: u64) -> bool {
        let mut held = false;
        if self.filter.may_hold(hash) {
            match self.numbers(hash) {
                Ok(numbers) => held = !numbers.is_empty(),
                Err(error) => self.failure = Some(error),
            }
        }
        held
    }

    /// Takes some of the inodes in the order in which they were put, none if none are left.
    pub fn drain(&mut self, most: usize) -> Result<Vec<Inode>, Error> {
        let mut inodes = Vec::new();
        let Some(store) = &self.store else {
            return Ok(inodes);
        };
        for record in store.records.range(self.drained..).map_err(failed)? {
            if inodes.len() == most {
                break;
            }
            let (number, bytes) = record.map_err(failed)?;
            self.drained = number.value() + 1;
            if !self.taken.contains(&number.value()) {
                inodes.push(decode(bytes.value())?.1);
            }
        }
        Ok(inodes)
    }

    /// Fails if a [`Spill::take`] or a [`Spill::holds`] has failed.
    pub fn check(&mut self) -> Result<(), Error> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn find(&mut self, hash: u64, wanted: impl Fn(&Inode) -> bool) -> Result<Option<Inode>, Error> {
        for number in self.numbers(hash)? {
            let Some(record) = self.store.as_ref().map(|s| s.records.get(number)) else {
                break;
            };
            let record = record.map_err(failed)?;
            let record = record.ok_or_else(|| Error(format!("record {number} is gone")))?;
            let (hashes, inode) = decode(record.value())?;
            if wanted(&inode) {
                self.taken.insert(number);
                self.taken_places.extend(hashes.iter().map(|&hash| (hash, number)));
                return Ok(Some(inode));
            }
        }
        Ok(None)
    }

    /// The records with a hash.
    fn numbers(&self, hash: u64) -> Result<Vec<u64>, Error> {
        let mut numbers = Vec::new();
        let Some(store) = &self.store else {
            return Ok(numbers);
        };
        let range = store.places.range((hash, 0)..=(hash, u64::MAX));
        for place in range.map_err(failed)? {
            let number = place.map_err(failed)?.0.value().1;
            if !self.taken.contains(&number) {
                numbers.push(number);
            }
        }
        Ok(numbers)
    }
}

fn decode(record: &[u8]) -> Result<(Vec<u64>, Inode), Error> {
    postcard::from_bytes(record).map_err(failed)
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error(error.to_string())
}

/// The database, and how it was after the last change.
struct Store {
    database: Database,
    records: ReadOnlyTable<u64, &'static [u8]>,
    places: ReadOnlyTable<(u64, u64), ()>,
    next: u64,
}

impl Store {
    fn new() -> Result<Store, Error> {
        let file = tempfile::tempfile().map_err(failed)?;
        let backend = Unsynced(FileBackend::new(file).map_err(failed)?);
        let database = Database::builder()
            .set_cache_size(CACHE)
            .create_with_backend(backend)
            .map_err(failed)?;
        let write = database.begin_write().map_err(failed)?;
        write.open_table(RECORDS).map_err(failed)?;
        write.open_table(PLACES).map_err(failed)?;
        write.commit().map_err(failed)?;
        Store::open(database, 0)
    }

    fn open(database: Database, next: u64) -> Result<Store, Error> {
        let read = database.begin_read().map_err(failed)?;
        Ok(Store {
            records: read.open_table(RECORDS).map_err(failed)?,
            places: read.open_table(PLACES).map_err(failed)?,
            database,
            next,
        })
    }

    fn change(
        self,
        gone: &HashSet<u64>,
        gone_places: &[(u64, u64)],
        new: &[(Vec<u64>, Inode)],
        new_places: &[(u64, u64)],
    ) -> Result<Store, Error> {
        let write = self.database.begin_write().map_err(failed)?;
        {
            let mut records = write.open_table(RECORDS).map_err(failed)?;
            let mut places = write.open_table(PLACES).map_err(failed)?;
            for number in gone {
                records.remove(number).map_err(failed)?;
            }
            for place in gone_places {
                places.remove(place).map_err(failed)?;
            }
            for (number, record) in (self.next..).zip(new) {
                let bytes = postcard::to_allocvec(record).map_err(failed)?;
                records.insert(number, bytes.as_slice()).map_err(failed)?;
            }
            for place in new_places {
                places.insert(place, ()).map_err(failed)?;
            }
        }
        write.commit().map_err(failed)?;
        Store::open(self.database, self.next + new.len() as u64)
    }
}

/// A file that is never forced to disk: it dies with the process.
#[derive(Debug)]
struct Unsynced(FileBackend);

impl StorageBackend for Unsynced {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        self.0.read(offset, len)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self, _eventual: bool) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
}

/// A Bloom filter that keeps the four bits of a hash in one word. It has room for some fifty
/// million hashes before it lets many through.
#[derive(Default)]
struct Filter {
    words: Vec<u64>,
}

impl Filter {
    const WORDS: usize = 1 << 23;

    fn add(&mut self, hash: u64) {
        if self.words.is_empty() {
            self.words = vec![0; Filter::WORDS];
        }
        let (word, bits) = Filter::place(hash);
        self.words[word] |= bits;
    }

    fn may_hold(&self, hash: u64) -> bool {
        let (word, bits) = Filter::place(hash);
        self.words.get(word).is_some_and(|word| word & bits == bits)
    }

    fn place(hash: u64) -> (usize, u64) {
        let bit = |shift: u32| 1 << (hash >> shift & 63);
        let word = (hash >> 24) as usize % Filter::WORDS;
        (word, bit(0) | bit(6) | bit(12) | bit(18))
    }
}

#[cfg(test)]
mod tests {
    use super::super::life::{Caller, Operation};
    use super::*;
    use std::sync::Arc;

    fn inode(handle: &[u8]) -> Inode {
        let (uid, gid, client) = (Some(1), None, 2);
        let op = Operation { server: 3, time: 4, at: 5, caller: Caller { uid, gid, client } };
        Inode::new(&op, Some(Arc::from(handle)))
    }

    fn handle(inode: Option<Inode>) -> Option<Vec<u8>> {
        inode?.handle.map(|handle| handle.to_vec())
    }

    #[test]
    fn an_inode_is_found_by_each_of_its_hashes_once() {
        let mut spill = Spill::default();
        spill.put(&[(vec![1, 2], inode(b"a"))]).unwrap();
        assert!(spill.holds(1) && spill.holds(2) && !spill.holds(3));
        assert_eq!(handle(spill.take(2, |_| true)), Some(b"a".to_vec()));
        assert!(!spill.holds(1) && !spill.holds(2));
        assert!(spill.take(1, |_| true).is_none());
        spill.put(&[(vec![9], inode(b"b"))]).unwrap();
        assert!(spill.take(1, |_| true).is_none());
        spill.check().unwrap();
    }

    #[test]
    fn inodes_with_the_same_hash_are_told_apart() {
        let mut spill = Spill::default();
        let inodes = [(vec![7], inode(b"a")), (vec![7], inode(b"b"))];
        spill.put(&inodes).unwrap();
        let wanted = |inode: &Inode| inode.handle.as_deref() == Some(b"b");
        assert_eq!(handle(spill.take(7, wanted)), Some(b"b".to_vec()));
        assert!(spill.take(7, wanted).is_none());
        assert_eq!(handle(spill.take(7, |_| true)), Some(b"a".to_vec()));
    }

    #[test]
    fn what_was_not_taken_is_drained_in_order() {
        let mut spill = Spill::default();
        for name in [b"a", b"b", b"c", b"d"] {
            spill.put(&[(vec![name[0].into()], inode(name))]).unwrap();
        }
        spill.take(u64::from(b'b'), |_| true).unwrap();
        let drained = |spill: &mut Spill| -> Vec<Vec<u8>> {
            let inodes = spill.drain(2).unwrap();
            inodes.into_iter().filter_map(|inode| handle(Some(inode))).collect()
        };
        assert_eq!(drained(&mut spill), [b"a", b"c"]);
        assert_eq!(drained(&mut spill), [b"d"]);
        assert_eq!(drained(&mut spill).len(), 0);
    }

    #[test]
    fn the_filter_lets_few_strange_hashes_through() {
        let mut filter = Filter::default();
        let hash = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        assert!(!filter.may_hold(0));
        (0..1_000_000).for_each(|i| filter.add(hash(i)));
        assert!((0..1_000_000).all(|i| filter.may_hold(hash(i))));
        let strange = (1_000_000..2_000_000).filter(|&i| filter.may_hold(hash(i)));
        assert!(strange.count() < 1_000);
    }
}
