//! Storage for the words of a shared history.
//!
//! Readers and writers are the same over a mapped file, over memory, and over the memory model in
//! which `loom` tries every order that the language allows.

use std::sync::atomic::{fence, AtomicU64, Ordering};
use std::sync::Arc;

/// Words that others may change at any time.
pub trait Words {
    /// The number of words.
    fn count(&self) -> usize;

    /// Loads a word with `Ordering::Relaxed`: any value ever stored in it. 0 beyond the last word.
    fn load(&self, at: usize) -> u64;

    /// A fence between loads and stores, as `std::sync::atomic::fence`.
    fn fence(&self, order: Ordering);

    /// Spins for a moment without yielding the processor.
    fn pause(&self) {
        std::hint::spin_loop();
    }
}

/// Words with this as their only writer.
pub trait WordsMut: Words {
    /// Stores a word with `Ordering::Relaxed`; does nothing beyond the last word.
    fn store(&self, at: usize, word: u64);
}

impl<W: Words> Words for Arc<W> {
    fn count(&self) -> usize {
        (**self).count()
    }

    #[inline]
    fn load(&self, at: usize) -> u64 {
        (**self).load(at)
    }

    #[inline]
    fn fence(&self, order: Ordering) {
        (**self).fence(order);
    }

    fn pause(&self) {
        (**self).pause();
    }
}

impl<W: WordsMut> WordsMut for Arc<W> {
    #[inline]
    fn store(&self, at: usize, word: u64) {
        (**self).store(at, word);
    }
}

/// Words in the memory of one process.
impl Words for Vec<AtomicU64> {
    fn count(&self) -> usize {
        self.len()
    }

    fn load(&self, at: usize) -> u64 {
        self.get(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    fn fence(&self, order: Ordering) {
        fence(order);
    }
}

impl WordsMut for Vec<AtomicU64> {
    fn store(&self, at: usize, word: u64) {
        if let Some(place) = self.get(at) {
            place.store(word, Ordering::Relaxed);
        }
    }
}
