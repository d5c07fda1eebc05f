//! Reads a shared history, while one writer changes it.
//!
//! A sequence lock (Boehm, "Can Seqlocks Get Along With Programming Language Memory Models?", MSPC
//! 2012, section 4): the writer makes a number odd, changes words, and makes it even. A reader loads
//! the number before and after, and retries if the two differ or are odd. Readers store nothing, and
//! take no lock.

use super::freshness::{Limits, StaleReason};
use super::header::{Facts, HeaderError, Layout, SEQUENCE, SUPERSEDED};
use super::words::Words;
use birthmark_learn::history::{Keys, Record, KEYS};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of a reader's tries: some tens of microseconds; an update of a few births takes one.
pub const TRIES: u32 = 16;
/// The longest pause between two tries, in moments of [`Words::pause`].
const LONGEST_PAUSE: u32 = 64;

/// A directory found by an alias.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directory {
    /// The hash of its handle, as in keys.
    pub dir: u64,
    /// The hash of its own name's shape, if that is known.
    pub shape: Option<u64>,
}

/// A reader of a shared history.
pub struct Reader<W> {
    words: W,
    layout: Layout,
    tries: u32,
    /// A sequence number at which a reader gave up. While it stays, no reader retries: the writer is
    /// dead, or suspended inside an update.
    given_up: AtomicU64,
}

/// The words during a lookup. They may be torn; then the result is dropped.
pub struct View<'a, W> {
    words: &'a W,
    layout: &'a Layout,
    damaged: Cell<bool>,
}

impl<W: Words> Reader<W> {
    /// Checks the header of a file, which must be written in the current boot of the machine.
    pub fn new(words: W, boot: u64) -> Result<Reader<W>, HeaderError> {
        let layout = Layout::read(&words, boot)?;
        Ok(Reader { words, layout, tries: TRIES, given_up: AtomicU64::new(0) })
    }

    /// Sets the number of tries.
    pub fn with_tries(self, tries: u32) -> Reader<W> {
        Reader { tries, ..self }
    }

    /// The words of the history.
    pub fn words(&self) -> &W {
        &self.words
    }

    /// Whether another file replaces this one.
    #[inline]
    pub fn is_superseded(&self) -> bool {
        let superseded = self.words.load(SUPERSEDED) != 0;
        // orders all that the other file's writer did before its mark before later loads
        self.words.fence(Ordering::Acquire);
        superseded
    }

    /// The result of `look` on a consistent state.
    ///
    /// It may be called several times, with records that never existed together: only the last
    /// result is returned, and only if all its words existed at one instant.
    #[inline]
    pub fn look<T>(&self, mut look: impl FnMut(&View<'_, W>) -> T) -> Result<T, StaleReason> {
        let view = View { words: &self.words, layout: &self.layout, damaged: Cell::new(false) };
        let mut before = 0;
        for attempt in 0..self.tries {
            before = self.words.load(SEQUENCE);
            self.words.fence(Ordering::Acquire);
            if before % 2 == 0 {
                view.damaged.set(false);
                let seen = look(&view);
                self.words.fence(Ordering::Acquire);
                if self.words.load(SEQUENCE) == before {
                    return if view.damaged.get() { Err(StaleReason::Damaged) } else { Ok(seen) };
                }
            } else if self.given_up.load(Ordering::Relaxed) == before {
                return Err(StaleReason::Busy);
            }
            (0..LONGEST_PAUSE.min(1 << attempt.min(31))).for_each(|_| self.words.pause());
        }
        if before % 2 == 1 {
            self.given_up.store(before, Ordering::Relaxed);
        }
        Err(StaleReason::Busy)
    }

    /// The records of keys (empty if missing), if the history is fresh at a time of the monotonic
    /// clock.
    pub fn read(
        &self,
        keys: &Keys,
        limits: &Limits,
        now: i64,
    ) -> Result<[Record; KEYS], StaleReason> {
        let looked = self.look(|view| {
            limits.check(&view.facts(), now)?;
            Ok(keys.map(|key| key.map_or_else(Record::default, |key| view.record(key))))
        });
        self.instead_of_busy(looked.and_then(|read| read), limits, now)
    }

    /// The follower's status.
    pub fn facts(&self) -> Result<Facts, StaleReason> {
        self.look(|view| view.facts())
    }

    /// Returns `Stale` in place of `Busy` if an update takes too long: its writer has died.
    pub fn instead_of_busy<T>(
        &self,
        looked: Result<T, StaleReason>,
        limits: &Limits,
        now: i64,
    ) -> Result<T, StaleReason> {
        // Each word is whole even while others change, and the time of an update is its last word.
        let updated = || Facts::read(&self.words).map_or(0, |facts| facts.updated.monotonic);
        match looked {
            Err(StaleReason::Busy) if limits.is_old(updated(), now) => Err(StaleReason::Stale),
            looked => looked,
        }
    }

    /// The number of updates.
    pub fn updates(&self) -> u64 {
        self.words.load(SEQUENCE) / 2
    }
}

impl<W: Words> View<'_, W> {
    /// The record of a key; empty if missing.
    #[inline]
    pub fn record(&self, key: u64) -> Record {
        let found = self.layout.records.find(self.words, key);
        found.map_or_else(Record::default, |words| {
            Record::from_words(&words).unwrap_or_else(|| {
                self.damaged.set(true);
                Record::default()
            })
        })
    }

    /// The directory of an alias.
    #[inline]
    pub fn directory(&self, alias: u64) -> Option<Directory> {
        let [dir, shape, has_shape] = self.layout.directories.find(self.words, alias)?;
        Some(Directory { dir, shape: (has_shape == 1).then_some(shape) })
    }

    /// The follower's status.
    #[inline]
    pub fn facts(&self) -> Facts {
        Facts::read(self.words).unwrap_or_else(|| {
            self.damaged.set(true);
            Facts::default()
        })
    }

    /// Prefetches the cache lines of keys, all at once.
    #[inline]
    pub fn expect(&self, keys: &Keys) {
        let records = &self.layout.records;
        for key in keys.iter().flatten() {
            for home in records.homes(*key) {
                std::hint::black_box(self.words.load(records.key_at(home * super::table::WAYS)));
            }
        }
    }
}
