//! Births with pending outcomes.

use super::keys::KEYS;
use super::store::Slot;
use super::History;
use std::collections::VecDeque;

/// The latest births, each with the places of its records.
#[derive(Clone, Debug)]
pub struct Awaited {
    most: usize,
    first: u64,
    places: VecDeque<[Slot; KEYS]>,
}

impl Awaited {
    /// An empty queue of at most `most` births; older ones are dropped.
    pub fn new(most: usize) -> Awaited {
        Awaited { most, first: 0, places: VecDeque::new() }
    }

    /// The number of the next birth, counted from 0.
    pub fn next(&self) -> u64 {
        self.first + self.places.len() as u64
    }

    /// The greatest number of births in it.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The number of the first birth, and each birth's keys, 0 for those without a record.
    pub fn to_keys(&self, history: &History) -> (u64, Vec<[u64; KEYS]>) {
        let keys = history.store.keys();
        let key = |slot: &Slot| slot.place().and_then(|at| keys.get(at as usize)).copied();
        let births = self.places.iter();
        let births = births.map(|slots| slots.each_ref().map(|slot| key(slot).unwrap_or(0)));
        (self.first, births.collect())
    }

    /// Restores what [`Awaited::to_keys`] returned, for the same history.
    pub fn from_keys(
        most: usize,
        first: u64,
        births: impl IntoIterator<Item = [u64; KEYS]>,
        history: &History,
    ) -> Awaited {
        let slot = |key| history.store.find(key).unwrap_or(Slot::NONE);
        let places = births.into_iter().map(|keys| keys.map(slot)).collect();
        Awaited { most, first, places }
    }

    /// Adds a birth; returns its number.
    pub(super) fn push(&mut self, places: [Slot; KEYS]) -> u64 {
        let birth = self.next();
        self.places.push_back(places);
        if self.places.len() > self.most {
            self.places.pop_front();
            self.first += 1;
        }
        birth
    }

    /// The places of a birth's records, if it is still pending.
    #[inline]
    pub(super) fn get(&self, birth: u64) -> Option<&[Slot; KEYS]> {
        self.places.get(usize::try_from(birth.checked_sub(self.first)?).ok()?)
    }

    /// The places of all births' records.
    pub(super) fn places(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.places.iter_mut().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Create, Fact, Namer, Outcome, BYTES};
    use super::*;
    use std::collections::HashMap;

    fn bear(history: &mut History, awaited: &mut Awaited, name: &[u8], at: i64) -> Vec<u8> {
        let mut bytes = vec![0; BYTES];
        let create = Create { name: Some(name), uid: Some(1), ..Create::default() };
        let names = Namer::default().names(&create);
        history.tell(names, at, &mut bytes);
        history.bear(awaited, names, at);
        bytes
    }

    fn die(history: &mut History, awaited: &Awaited, birth: u64, time: i64) {
        history.learn(awaited, &Outcome { time, birth, fact: Fact::Died(7) });
    }

    fn deaths(history: &History) -> usize {
        history.records().iter().filter(|(_, record)| record.last_death.is_some()).count()
    }

    #[test]
    fn of_births_that_too_many_came_after_nothing_is_learned() {
        let mut history = History::new(1000).unwrap();
        let mut awaited = Awaited::new(2);
        for (at, name) in [b"a.x", b"b.y", b"c.z"].into_iter().enumerate() {
            bear(&mut history, &mut awaited, name, at as i64);
        }
        die(&mut history, &awaited, 0, 5);
        die(&mut history, &awaited, 3, 5);
        assert_eq!(deaths(&history), 0);
        die(&mut history, &awaited, 1, 5);
        assert!(deaths(&history) > 0);
    }

    #[test]
    fn a_copy_that_takes_in_all_changes_and_one_that_was_saved_are_as_the_history_is() {
        let mut history = History::new(4 * KEYS).unwrap();
        let mut awaited = Awaited::new(50);
        let mut copy = HashMap::new();
        for at in 0..400u64 {
            let name = format!("n{}.{}", at % 7, at * at % 11);
            bear(&mut history, &mut awaited, name.as_bytes(), at as i64);
            die(&mut history, &awaited, at / 2, at as i64);
            if at % 3 == 0 {
                let changed = history.take_changed();
                changed.evicted.iter().for_each(|key| {
                    copy.remove(key);
                });
                copy.extend(changed.records);
                let mut copied: Vec<_> = copy.iter().map(|(key, record)| (*key, *record)).collect();
                copied.sort_unstable_by_key(|(key, _)| *key);
                assert_eq!(copied, history.records());
            }
            if at % 10 == 0 {
                let (first, keys) = awaited.to_keys(&history);
                let (most, clock) = (history.most(), history.clock());
                let mut again = History::from_records(most, clock, history.records()).unwrap();
                let awaiting = Awaited::from_keys(awaited.most(), first, keys, &again);
                die(&mut again, &awaiting, at, 1000);
                die(&mut history, &awaited, at, 1000);
                assert_eq!(again.records(), history.records());
            }
        }
    }
}
