//! The calls of the last [`super::WINDOW`], in the order in which they came, and by their keys.

use crate::message::{CallKey, Procedure};
use hashbrown::{DefaultHashBuilder, HashTable};
use std::collections::VecDeque;
use std::hash::BuildHasher;
use std::ops::{Index, IndexMut};

/// A call, and its state.
#[derive(Debug)]
pub struct Remembered {
    pub key: CallKey,
    pub time: i64,
    pub procedure: Procedure,
    /// Distinguishes a retransmission from another call with the same XID.
    pub fingerprint: u64,
    pub state: State,
}

/// The state of a call.
#[derive(Clone, Copy, Debug)]
pub enum State {
    /// It is pending, at this index.
    Waiting(u32),
    /// Its rows, which are consecutive: one, or one for each operation of a compound.
    Answered(u64, u32),
    /// Another call had its XID.
    Replaced,
}

/// The calls remembered. The table holds only their numbers: most are looked up soon after their
/// arrival, while they are still in the processor's cache, and dropped in sequence.
#[derive(Debug, Default)]
pub struct Calls {
    calls: VecDeque<(u64, Remembered)>,
    /// The number of the first; numbers wrap.
    first: u32,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Calls {
    /// The number of calls.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// The keys of all.
    pub fn keys(&self) -> impl Iterator<Item = &CallKey> {
        self.calls.iter().map(|(_, call)| &call.key)
    }

    /// The time of the first.
    pub fn first(&self) -> Option<i64> {
        self.calls.front().map(|(_, call)| call.time)
    }

    /// The number of the call with a key.
    #[inline]
    pub fn find(&self, key: &CallKey) -> Option<u32> {
        let hash = self.hasher.hash_one(key);
        self.numbers.find(hash, |number| self[*number].key == *key).copied()
    }

    /// Adds a call, in place of the one that [`Calls::find`] finds.
    pub fn push(&mut self, call: Remembered, replaced: Option<u32>) {
        let hash = self.hasher.hash_one(call.key);
        let (calls, first) = (&self.calls, self.first);
        let number = first.wrapping_add(calls.len() as u32);
        let place = replaced.and_then(|old| self.numbers.find_mut(hash, |number| *number == old));
        match place {
            Some(place) => *place = number,
            None => {
                let hash_of = |number: &u32| calls[number.wrapping_sub(first) as usize].0;
                self.numbers.insert_unique(hash, number, hash_of);
            }
        }
        if let Some(old) = replaced {
            self[old].state = State::Replaced;
        }
        self.calls.push_back((hash, call));
    }

    /// Drops the first.
    pub fn pop(&mut self) -> Option<Remembered> {
        let (hash, call) = self.calls.pop_front()?;
        let number = self.first;
        self.first = number.wrapping_add(1);
        if let Ok(place) = self.numbers.find_entry(hash, |other| *other == number) {
            place.remove();
        }
        Some(call)
    }
}

impl Index<u32> for Calls {
    type Output = Remembered;

    fn index(&self, number: u32) -> &Remembered {
        &self.calls[number.wrapping_sub(self.first) as usize].1
    }
}

impl IndexMut<u32> for Calls {
    fn index_mut(&mut self, number: u32) -> &mut Remembered {
        &mut self.calls[number.wrapping_sub(self.first) as usize].1
    }
}
