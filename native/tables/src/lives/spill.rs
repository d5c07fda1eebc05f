//! The longest idle lives, in temporary files: a trace may show more files than fit into memory,
//! and most are never named again.
//!
//! Inodes are appended to a log. An index on disk finds them by the hashes of their handle and
//! names; a filter in memory excludes most absent hashes. An inode that is taken back is marked in
//! the log, which is rewritten when most of it is marked.

use super::filter::Filter;
use super::hosts::Hosts;
use super::life::Inode;
use super::runs::Runs;
use super::scratch;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;

/// A temporary file that failed or is damaged.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Error {
    #[error("a temporary file of idle file lives: {0}")]
    File(#[from] io::Error),
    #[error("a temporary file of idle file lives is damaged: {0}")]
    Record(#[from] postcard::Error),
}

/// An inode, and the hashes by which it is found.
pub type Record = (Vec<u64>, Inode);

/// Records rewritten at a time.
const CHUNK: usize = 1 << 14;
/// The bytes written at once: few enough for the processor's cache.
const WRITTEN: usize = 1 << 19;
/// The bytes read at once, plus one record.
const READ: usize = 1 << 24;

/// Inodes out of memory.
#[derive(Default)]
pub struct Spill {
    log: Option<Log>,
    index: Runs,
    filter: Filter,
    failure: Option<Error>,
    /// The hosts in use by the inodes.
    pub hosts: Hosts,
}

impl Spill {
    /// Puts inodes.
    pub fn put(&mut self, records: &[Record]) -> Result<(), Error> {
        self.append(records)?;
        let Some(log) = self.log.take_if(|log| log.dead > log.live) else {
            return Ok(());
        };
        *self = Spill::default();
        let mut from = 0;
        loop {
            let records = log.read_on(&mut from, CHUNK)?;
            if records.is_empty() {
                return Ok(());
            }
            self.append(&records)?;
        }
    }

    /// Takes back the wanted inode with a hash. The next [`Spill::check`] reports a failure.
    #[inline]
    pub fn take(&mut self, hash: u64, wanted: impl Fn(&Inode) -> bool) -> Option<Inode> {
        let (place, inode) = self.find(hash, wanted)?;
        let marked = self.log.as_mut().map_or(Ok(()), |log| log.mark(place));
        self.noting_error(marked.map_err(Error::File)).map(|()| inode)
    }

    /// Whether there is an inode with a hash. The next [`Spill::check`] reports a failure.
    pub fn holds(&mut self, hash: u64) -> bool {
        self.find(hash, |_| true).is_some()
    }

    /// The next inodes in the log from `from` on, none if none are left.
    pub fn read_on(&self, from: &mut u64, most: usize) -> Result<Vec<Record>, Error> {
        let read_on = |log: &Log| log.read_on(from, most);
        self.log.as_ref().map_or(Ok(Vec::new()), read_on)
    }

    /// Returns the error of an earlier [`Spill::take`] or [`Spill::holds`].
    pub fn check(&mut self) -> Result<(), Error> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn append(&mut self, records: &[Record]) -> Result<(), Error> {
        let log = match &mut self.log {
            Some(log) => log,
            None => self.log.insert(Log::new()?),
        };
        let mut entries = Vec::with_capacity(2 * records.len());
        for (place, (hashes, _)) in log.append(records)?.into_iter().zip(records) {
            entries.extend(hashes.iter().map(|&hash| (hash, place)));
        }
        records.iter().for_each(|(_, inode)| self.hosts.note(inode));
        entries.iter().for_each(|entry| self.filter.add(entry.0));
        Ok(self.index.add(entries)?)
    }

    /// The wanted inode with a hash, and its offset.
    #[inline]
    fn find(&mut self, hash: u64, wanted: impl Fn(&Inode) -> bool) -> Option<(u64, Inode)> {
        if !self.filter.may_hold(hash) {
            return None;
        }
        let found = self.look_up(hash, wanted);
        self.noting_error(found)?
    }

    fn look_up(
        &self,
        hash: u64,
        wanted: impl Fn(&Inode) -> bool,
    ) -> Result<Option<(u64, Inode)>, Error> {
        let Some(log) = &self.log else {
            return Ok(None);
        };
        for place in self.index.find(hash)? {
            if let Some((_, inode)) = log.read(place)?.filter(|record| wanted(&record.1)) {
                return Ok(Some((place, inode)));
            }
        }
        Ok(None)
    }

    /// Stores an error for [`Spill::check`], and returns the value otherwise.
    fn noting_error<T>(&mut self, found: Result<T, Error>) -> Option<T> {
        found.map_err(|error| self.failure = Some(error)).ok()
    }
}

/// Records in sequence: whether it is present, its length in four bytes, itself.
struct Log {
    file: File,
    end: u64,
    live: u64,
    dead: u64,
}

/// The state of a record.
const HERE: u8 = 1;
const TAKEN: u8 = 0;
/// The bytes before a record.
const HEAD: usize = 5;
/// Most records fit into this many bytes.
const USUAL: usize = 1024;

impl Log {
    fn new() -> io::Result<Log> {
        Ok(Log { file: scratch::file()?, end: 0, live: 0, dead: 0 })
    }

    /// The offset of each record.
    fn append(&mut self, records: &[Record]) -> Result<Vec<u64>, Error> {
        let mut places = Vec::with_capacity(records.len());
        let mut bytes = Vec::with_capacity(USUAL + WRITTEN);
        for record in records {
            let start = bytes.len();
            places.push(self.end + start as u64);
            bytes.extend([HERE, 0, 0, 0, 0]);
            bytes = postcard::to_extend(record, bytes)?;
            let len = (bytes.len() - start - HEAD) as u32;
            bytes[start + 1..start + HEAD].copy_from_slice(&len.to_le_bytes());
            if bytes.len() >= WRITTEN {
                self.write(&mut bytes)?;
            }
        }
        self.write(&mut bytes)?;
        self.live += records.len() as u64;
        Ok(places)
    }

    fn write(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        self.file.write_all_at(bytes, self.end).map_err(scratch::named)?;
        self.end += bytes.len() as u64;
        bytes.clear();
        Ok(())
    }

    /// The record at an offset, if it was not taken.
    fn read(&self, place: u64) -> Result<Option<Record>, Error> {
        let mut usual = [0; USUAL];
        let usual = &mut usual[..USUAL.min((self.end - place) as usize)];
        self.file.read_exact_at(usual, place)?;
        let (state, len) = head(usual);
        if state == TAKEN {
            return Ok(None);
        }
        if let Some(bytes) = usual.get(HEAD..HEAD + len) {
            return Ok(Some(postcard::from_bytes(bytes)?));
        }
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, place + HEAD as u64)?;
        Ok(Some(postcard::from_bytes(&bytes)?))
    }

    /// Marks the record at an offset as taken.
    fn mark(&mut self, place: u64) -> io::Result<()> {
        self.live -= 1;
        self.dead += 1;
        self.file.write_all_at(&[TAKEN], place)
    }

    fn read_on(&self, from: &mut u64, most: usize) -> Result<Vec<Record>, Error> {
        let mut reader = BufReader::with_capacity(USUAL * 64, &self.file);
        reader.seek(SeekFrom::Start(*from))?;
        let mut records = Vec::new();
        let mut bytes = Vec::new();
        let stop = from.saturating_add(READ as u64);
        while records.len() < most && *from < self.end.min(stop) {
            let mut start = [0; HEAD];
            reader.read_exact(&mut start)?;
            let (state, len) = head(&start);
            bytes.resize(len, 0);
            reader.read_exact(&mut bytes)?;
            *from += (HEAD + len) as u64;
            if state == HERE {
                records.push(postcard::from_bytes(&bytes)?);
            }
            if records.is_empty() && *from >= stop {
                return self.read_on(from, most); // an empty list says that none are left
            }
        }
        Ok(records)
    }
}

/// A record's state and length.
fn head(bytes: &[u8]) -> (u8, usize) {
    let len = u32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]);
    (bytes[0], len as usize)
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

    fn rest(spill: &Spill, from: &mut u64, most: usize) -> Vec<Vec<u8>> {
        let records = spill.read_on(from, most).unwrap();
        records.into_iter().filter_map(|record| handle(Some(record.1))).collect()
    }

    #[test]
    fn an_inode_is_found_by_each_of_its_hashes_once() {
        let mut spill = Spill::default();
        spill.put(&[(vec![1, 2], inode(b"a")), (vec![3], inode(b"b"))]).unwrap();
        assert!(spill.holds(1) && spill.holds(2) && !spill.holds(4));
        assert_eq!(handle(spill.take(2, |_| true)), Some(b"a".to_vec()));
        assert!(!spill.holds(1) && !spill.holds(2));
        assert!(spill.take(1, |_| true).is_none());
        spill.put(&[(vec![9], inode(b"c"))]).unwrap();
        assert!(spill.take(1, |_| true).is_none());
        spill.check().unwrap();
    }

    #[test]
    fn inodes_with_the_same_hash_are_distinguished() {
        let mut spill = Spill::default();
        let inodes = [(vec![7], inode(b"a")), (vec![7], inode(b"b"))];
        spill.put(&inodes).unwrap();
        let wanted = |inode: &Inode| inode.handle.as_deref() == Some(b"b");
        assert_eq!(handle(spill.take(7, wanted)), Some(b"b".to_vec()));
        assert!(spill.take(7, wanted).is_none());
        assert_eq!(handle(spill.take(7, |_| true)), Some(b"a".to_vec()));
    }

    #[test]
    fn an_inode_of_any_size_comes_back_whole() {
        let mut spill = Spill::default();
        let long = vec![b'x'; 3 * USUAL];
        spill.put(&[(vec![1], inode(&long)), (vec![2], inode(b"b"))]).unwrap();
        assert_eq!(handle(spill.take(1, |_| true)), Some(long));
        assert_eq!(handle(spill.take(2, |_| true)), Some(b"b".to_vec()));
    }

    #[test]
    fn remaining_records_are_read_in_order() {
        let mut spill = Spill::default();
        for name in [b"a", b"b", b"c", b"d"] {
            spill.put(&[(vec![name[0].into()], inode(name))]).unwrap();
        }
        spill.take(u64::from(b'b'), |_| true).unwrap();
        let mut from = 0;
        assert_eq!(rest(&spill, &mut from, 2), [b"a", b"c"]);
        assert_eq!(rest(&spill, &mut from, 2), [b"d"]);
        assert!(rest(&spill, &mut from, 2).is_empty());
    }

    #[test]
    fn a_mostly_taken_log_is_rewritten() {
        let mut spill = Spill::default();
        let name = |i: u64| i.to_string().into_bytes();
        for i in 0..1000 {
            spill.put(&[(vec![i], inode(&name(i)))]).unwrap();
            if i % 10 != 0 {
                assert_eq!(handle(spill.take(i, |_| true)), Some(name(i)));
            }
        }
        let log = spill.log.as_ref().unwrap();
        assert_eq!(log.live, 100);
        assert!(log.dead <= log.live + 1);
        assert!((0..1000).all(|i| spill.holds(i) == (i % 10 == 0)));
        let rest = rest(&spill, &mut 0, 1000);
        assert!(rest.into_iter().eq((0..1000).step_by(10).map(name)));
    }
}
