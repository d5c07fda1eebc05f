//! The places of young files.

use super::early::Early;
use super::inodes::Slot;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The place of a file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Place {
    /// In memory.
    Here(Slot),
    /// Spilled, with its early use.
    Gone(Early),
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
        self.put(number, Place::Here(slot));
    }

    /// Records that a file left memory.
    #[inline]
    pub fn went(&mut self, number: u64, early: &Early) {
        self.put(number, Place::Gone(*early));
    }

    /// Returns the same with all files spilled, with their early uses.
    pub fn all_gone(&self, early: impl Fn(Slot) -> Early) -> Young {
        let mut young = self.clone();
        for place in young.places.iter_mut().flatten() {
            if let Place::Here(slot) = *place {
                *place = Place::Gone(early(slot));
            }
        }
        young
    }

    /// Stops watching a file.
    pub fn unwatch(&mut self, number: u64) -> Option<Place> {
        let place = self.at(number)?.take();
        while self.places.front().is_some_and(Option::is_none) {
            self.places.pop_front();
            self.first += 1;
        }
        place
    }

    #[inline]
    fn put(&mut self, number: u64, place: Place) {
        if let Some(watched @ Some(_)) = self.at(number) {
            *watched = Some(place);
        }
    }

    #[inline]
    fn at(&mut self, number: u64) -> Option<&mut Option<Place>> {
        let place = number.checked_sub(self.first)?;
        self.places.get_mut(usize::try_from(place).ok()?)
    }
}
