//! Reads a shared history, while one writer changes it.
//!
//! A sequence lock (Boehm, "Can Seqlocks Get Along With Programming Language Memory Models?", MSPC
//! 2012, section 4): the writer makes a number odd, changes words, and makes it even. A reader looks
//! at the number before and after, and drops what it read if the two differ or are odd. Readers
//! store nothing, take no lock and wait for nobody.

use super::freshness::{Limits, WhyNot};
use super::header::{Facts, HeaderError, Layout, SEQUENCE, SUPERSEDED};
use super::words::Words;
use birthmark_learn::history::{Keys, Record, KEYS};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often a reader tries: for some tens of microseconds, and an update of a few births takes one.
pub const TRIES: u32 = 16;
/// The longest pause between two tries, in moments of [`Words::pause`].
const LONGEST_PAUSE: u32 = 64;

/// A directory, as others than NFS clients name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directory {
    /// The hash of its handle, as keys have it.
    pub dir: u64,
    /// The hash of its own name's shape, if that is known.
    pub shape: Option<u64>,
}

/// A shared history that is read.
pub struct Reader<W> {
    words: W,
    layout: Layout,
    tries: u32,
    /// A sequence number at which a reader gave up. While it stays, none tries again: its writer is
    /// dead, or was put aside inside an update.
    given_up: AtomicU64,
}

/// What is there during a look. It may be torn; then what is made of it is dropped.
pub struct View<'a, W> {
    words: &'a W,
    layout: &'a Layout,
    damaged: Cell<bool>,
}

impl<W: Words> Reader<W> {
    /// Checks the header of a file that was written since the machine was started, of which `boot`
    /// is a number.
    pub fn new(words: W, boot: u64) -> Result<Reader<W>, HeaderError> {
        let layout = Layout::read(&words, boot)?;
        Ok(Reader { words, layout, tries: TRIES, given_up: AtomicU64::new(0) })
    }

    /// Tries only so often.
    pub fn with_tries(self, tries: u32) -> Reader<W> {
        Reader { tries, ..self }
    }

    /// What is read.
    pub fn words(&self) -> &W {
        &self.words
    }

    /// Whether another file has taken the place of this one.
    #[inline]
    pub fn is_superseded(&self) -> bool {
        let superseded = self.words.load(SUPERSEDED) != 0;
        // what the writer of the other file did before it said so is seen after this
        self.words.fence(Ordering::Acquire);
        superseded
    }

    /// What `look` makes of a state that was there at one instant.
    ///
    /// It may be called several times, and be shown records that were never there together: only
    /// what the last call returned is returned, and only if all it saw was there at once.
    #[inline]
    pub fn look<T>(&self, mut look: impl FnMut(&View<'_, W>) -> T) -> Result<T, WhyNot> {
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
                    return if view.damaged.get() { Err(WhyNot::Damaged) } else { Ok(seen) };
                }
            } else if self.given_up.load(Ordering::Relaxed) == before {
                return Err(WhyNot::Busy);
            }
            (0..LONGEST_PAUSE.min(1 << attempt.min(31))).for_each(|_| self.words.pause());
        }
        if before % 2 == 1 {
            self.given_up.store(before, Ordering::Relaxed);
        }
        Err(WhyNot::Busy)
    }

    /// The records of keys, an empty one where there is none, if they may be told from at a time of
    /// the monotonic clock.
    pub fn read(&self, keys: &Keys, limits: &Limits, now: i64) -> Result<[Record; KEYS], WhyNot> {
        let looked = self.look(|view| {
            limits.check(&view.facts(), now)?;
            Ok(keys.map(|key| key.map_or_else(Record::default, |key| view.record(key))))
        });
        self.instead_of_busy(looked.and_then(|read| read), limits, now)
    }

    /// How its follower is doing.
    pub fn facts(&self) -> Result<Facts, WhyNot> {
        self.look(|view| view.facts())
    }

    /// Says `Stale` of an update that has been under way for too long: its writer is dead.
    pub fn instead_of_busy<T>(
        &self,
        looked: Result<T, WhyNot>,
        limits: &Limits,
        now: i64,
    ) -> Result<T, WhyNot> {
        // Each word is whole even while others change, and the time of an update is its last word.
        let updated = || Facts::read(&self.words).map_or(0, |facts| facts.updated.monotonic);
        match looked {
            Err(WhyNot::Busy) if limits.is_old(updated(), now) => Err(WhyNot::Stale),
            looked => looked,
        }
    }

    /// How many updates there were.
    pub fn updates(&self) -> u64 {
        self.words.load(SEQUENCE) / 2
    }
}

impl<W: Words> View<'_, W> {
    /// What is known under a key, nothing where it is not there.
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

    /// How the follower is doing.
    #[inline]
    pub fn facts(&self) -> Facts {
        Facts::read(self.words).unwrap_or_else(|| {
            self.damaged.set(true);
            Facts::default()
        })
    }

    /// Has the lines brought in which keys may be, all at once.
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
