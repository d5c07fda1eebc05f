//! The records by key, as many as memory has room for.

use super::keys::KEYS;
use super::outcomes::Outcome;
use super::record::Record;
use hashbrown::HashMap;

/// A record's place. It holds until room is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(u32);

impl Slot {
    /// Of a record that there is not, or not any more.
    pub const NONE: Slot = Slot(u32::MAX);
}

/// Records by key.
pub struct Store {
    most: usize,
    slots: HashMap<u64, Slot>,
    records: Vec<Record>,
}

impl Store {
    /// An empty store for so many, which are fewer than there are places.
    pub fn new(most: usize) -> Store {
        Store { most: most.min(Slot::NONE.0 as usize), slots: HashMap::new(), records: Vec::new() }
    }

    /// How many it has room for.
    pub fn most(&self) -> usize {
        self.most
    }

    /// What is known under a key.
    #[inline]
    pub fn get(&self, key: u64) -> Record {
        self.slots
            .get(&key)
            .and_then(|slot| self.records.get(slot.0 as usize))
            .copied()
            .unwrap_or_default()
    }

    /// The record of a key, an empty one if it has none.
    #[inline]
    pub fn get_or_insert(&mut self, key: u64) -> (Slot, &mut Record) {
        let next = Slot(self.records.len() as u32);
        let slot = *self.slots.entry(key).or_insert(next);
        if slot == next {
            self.records.push(Record::default());
        }
        (slot, &mut self.records[slot.0 as usize])
    }

    /// The record at a place.
    #[inline]
    pub fn at(&mut self, slot: Slot) -> Option<&mut Record> {
        self.records.get_mut(slot.0 as usize)
    }

    /// Takes in what came to be known of a birth, whose records are there.
    #[inline]
    pub fn learn(&mut self, places: &[Slot; KEYS], outcome: &Outcome) {
        for slot in places {
            if let Some(record) = self.records.get_mut(slot.0 as usize) {
                record.learn(outcome.time, &outcome.fact);
            }
        }
    }

    /// Forgets a quarter of the records, those whose last birth is longest ago, if there is no room
    /// for those of another birth; and tells where the others have gone.
    pub fn make_room(&mut self, places: &mut [[Slot; KEYS]]) {
        while self.records.len() + KEYS > self.most && !self.records.is_empty() {
            let moved = self.forget(self.records.len().div_ceil(4));
            for slot in places.iter_mut().flatten() {
                *slot = moved.get(slot.0 as usize).copied().unwrap_or(Slot::NONE);
            }
        }
    }

    fn forget(&mut self, some: usize) -> Vec<Slot> {
        let mut idle: Vec<(i64, u64, Slot)> = self
            .slots
            .iter()
            .map(|(&key, &slot)| (self.records[slot.0 as usize].last_birth, key, slot))
            .collect();
        idle.select_nth_unstable(some - 1);
        let mut moved = vec![Slot::NONE; self.records.len()];
        let mut kept = Vec::with_capacity(self.records.len() - some);
        for &(_, key, slot) in &idle[some..] {
            moved[slot.0 as usize] = Slot(kept.len() as u32);
            self.slots.insert(key, moved[slot.0 as usize]);
            kept.push(self.records[slot.0 as usize]);
        }
        for (_, key, _) in &idle[..some] {
            self.slots.remove(key);
        }
        self.records = kept;
        moved
    }

    /// All records, in the order of their keys.
    pub fn sorted(&self) -> Vec<(u64, Record)> {
        let record = |slot: &Slot| self.records[slot.0 as usize];
        let mut rows: Vec<_> = self.slots.iter().map(|(&key, slot)| (key, record(slot))).collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        rows
    }

    /// Puts a record; false if there is one under its key.
    pub fn put(&mut self, key: u64, record: Record) -> bool {
        let new = self.slots.insert(key, Slot(self.records.len() as u32)).is_none();
        self.records.push(record);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bear(store: &mut Store, key: u64, at: i64) -> Slot {
        let (slot, record) = store.get_or_insert(key);
        record.bear(at);
        slot
    }

    #[test]
    fn those_that_were_idle_longest_make_room_and_the_others_are_found_where_they_went() {
        let mut store = Store::new(KEYS + 7);
        let slots: Vec<Slot> = (0..8).map(|i| bear(&mut store, i, 100 - i as i64)).collect();
        bear(&mut store, 7, 200);
        let mut places = [[Slot::NONE; KEYS]; 2];
        (places[0][0], places[0][1], places[1][0]) = (slots[0], slots[6], slots[7]);
        store.make_room(&mut places);
        assert_eq!([5, 6].map(|key| store.get(key).births), [0, 0]);
        assert_eq!([0, 4, 7].map(|key| store.get(key).births), [1, 1, 2]);
        assert_eq!(store.at(places[0][0]).map(|record| record.last_birth), Some(100));
        assert_eq!(store.at(places[1][0]).map(|record| record.last_birth), Some(200));
        assert_eq!(places[0][1], Slot::NONE);
        assert_eq!(store.sorted().len(), 6);
    }

    #[test]
    fn there_is_room_for_the_keys_of_a_birth_in_the_smallest_store() {
        let mut store = Store::new(KEYS);
        for at in 0..100 {
            store.make_room(&mut []);
            (0..KEYS as u64).for_each(|key| {
                bear(&mut store, at as u64 * 100 + key, at);
            });
            assert_eq!(store.sorted().len(), KEYS);
        }
    }
}
