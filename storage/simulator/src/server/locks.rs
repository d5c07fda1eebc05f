//! The locks of files; a writer has exclusive access.

use foldhash::fast::FixedState;
use std::collections::{HashMap, VecDeque};

/// Holders of a file, and waiting calls in the order of arrival.
#[derive(Clone, Debug, Default)]
struct Lock {
    readers: u32,
    writing: bool,
    waiting: VecDeque<(usize, bool)>,
}

/// The locks of all files in use.
#[derive(Clone, Debug)]
pub struct Locks {
    files: HashMap<u32, Lock, FixedState>,
}

impl Default for Locks {
    fn default() -> Self {
        Self { files: HashMap::with_hasher(FixedState::default()) }
    }
}

impl Locks {
    /// Request a file, to write it or not: return whether it is granted; else the call waits.
    pub fn ask(&mut self, file: u32, number: usize, write: bool) -> bool {
        let lock = self.files.entry(file).or_default();
        if lock.waiting.is_empty() && lock.admits(write) {
            lock.hold(write);
            return true;
        }
        lock.waiting.push_back((number, write));
        false
    }

    /// Release a file; return the waiting calls that have it now.
    pub fn release(&mut self, file: u32, write: bool) -> Vec<usize> {
        let mut next = Vec::new();
        let Some(lock) = self.files.get_mut(&file) else {
            return next;
        };
        if write {
            lock.writing = false;
        } else {
            lock.readers -= 1;
        }
        while let Some(&(number, write)) = lock.waiting.front() {
            if !lock.admits(write) {
                return next;
            }
            lock.hold(write);
            lock.waiting.pop_front();
            next.push(number);
        }
        if lock.readers == 0 && !lock.writing {
            self.files.remove(&file);
        }
        next
    }
}

impl Lock {
    fn admits(&self, write: bool) -> bool {
        !self.writing && (!write || self.readers == 0)
    }

    fn hold(&mut self, write: bool) {
        if write {
            self.writing = true;
        } else {
            self.readers += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_share_a_file_and_a_writer_has_it_alone() {
        let mut locks = Locks::default();
        assert!(locks.ask(1, 0, false) && locks.ask(1, 1, false) && locks.ask(2, 9, true));
        assert!(!locks.ask(1, 2, true) && !locks.ask(1, 3, false), "in the order of coming");
        assert!(locks.release(1, false).is_empty());
        assert_eq!(locks.release(1, false), [2]);
        assert_eq!(locks.release(1, true), [3]);
        assert!(locks.release(1, false).is_empty());
        assert!(locks.release(2, true).is_empty());
        assert!(locks.files.is_empty());
    }
}
