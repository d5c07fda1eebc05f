//! The places of files whose use is to be emitted.

use super::events::Uses;
use super::inodes::Slot;
use super::life::Inode;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The place of a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Place {
    /// In memory.
    Here(Slot),
    /// Spilled, with its use.
    Gone(Box<Uses>),
}

/// The places of files by the number of their birth.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Young {
    first: u64,
    places: VecDeque<Option<Place>>,
}

impl Young {
    /// Watches a file in memory.
    pub fn watch(&mut self, number: u64, slot: Slot) {
        if self.places.is_empty() {
            self.first = number;
        }
        if number.checked_sub(self.first) == Some(self.places.len() as u64) {
            self.places.push_back(Some(Place::Here(slot)));
        }
    }

    /// Records that a file came into memory.
    #[inline]
    pub fn next_id(&mut self, number: u64, slot: Slot) {
        if let Some(place) = self.at(number).and_then(Option::as_mut) {
            *place = Place::Here(slot);
        }
    }

    /// Records that a file left memory.
    #[inline]
    pub fn went(&mut self, number: u64, inode: &Inode) {
        if let Some(place) = self.at(number).and_then(Option::as_mut) {
            *place = Place::Gone(Box::new(Uses::of_file(inode)));
        }
    }

    /// Returns the same with all files spilled, with their uses.
    pub fn all_gone(&self, uses: impl Fn(Slot) -> Uses) -> Young {
        let mut young = self.clone();
        for place in young.places.iter_mut().flatten() {
            if let Place::Here(slot) = *place {
                *place = Place::Gone(Box::new(uses(slot)));
            }
        }
        young
    }

    /// Returns the place of a file, if watched.
    pub fn place(&mut self, number: u64) -> Option<&Place> {
        self.at(number)?.as_ref()
    }

    /// Stops watching a file.
    pub fn unwatch(&mut self, number: u64) {
        self.at(number).map(Option::take);
        while self.places.front().is_some_and(Option::is_none) {
            self.places.pop_front();
            self.first += 1;
        }
    }

    #[inline]
    fn at(&mut self, number: u64) -> Option<&mut Option<Place>> {
        let place = number.checked_sub(self.first)?;
        self.places.get_mut(usize::try_from(place).ok()?)
    }
}
