//! The records by key, of bounded number.

use super::changes::{Changed, Changes};
use super::keys::KEYS;
use super::outcomes::Outcome;
use super::record::Record;
use hashbrown::HashMap;

/// A record's place, valid until the next eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot(u32);

impl Slot {
    /// The slot of a missing or evicted record.
    pub const NONE: Slot = Slot(u32::MAX);

    /// The place, if there is a record.
    pub fn place(self) -> Option<u32> {
        (self != Slot::NONE).then_some(self.0)
    }
}

/// Records by key.
#[derive(Clone)]
pub struct Store {
    most: usize,
    slots: HashMap<u64, Slot>,
    records: Vec<Record>,
    /// The changes, after the first call of [`Store::take_changed`].
    changes: Option<Changes>,
}

impl Store {
    /// An empty store for at most `most` records, fewer than there are slots.
    pub fn new(most: usize) -> Store {
        let most = most.min(Slot::NONE.0 as usize);
        Store { most, slots: HashMap::new(), records: Vec::new(), changes: None }
    }

    /// The greatest number of records.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The record of a key; empty without one.
    #[inline]
    pub fn get(&self, key: u64) -> Record {
        self.slots
            .get(&key)
            .and_then(|slot| self.records.get(slot.0 as usize))
            .copied()
            .unwrap_or_default()
    }

    /// The record of a key, inserted if it is missing.
    #[inline]
    pub fn get_or_insert(&mut self, key: u64) -> (Slot, &mut Record) {
        let next = Slot(self.records.len() as u32);
        let slot = *self.slots.entry(key).or_insert(next);
        if slot == next {
            self.records.push(Record::default());
        }
        if let Some(changes) = &mut self.changes {
            changes.changed(slot.0, key);
        }
        (slot, &mut self.records[slot.0 as usize])
    }

    /// The record in a slot that was just returned.
    #[inline]
    pub fn at(&mut self, slot: Slot) -> Option<&mut Record> {
        self.records.get_mut(slot.0 as usize)
    }

    /// Learns an outcome in the records of a birth.
    #[inline]
    pub fn learn(&mut self, places: &[Slot; KEYS], outcome: &Outcome) {
        for slot in places {
            if let Some(record) = self.records.get_mut(slot.0 as usize) {
                record.learn(outcome.time, &outcome.fact);
                if let Some(changes) = &mut self.changes {
                    changes.changed_again(slot.0);
                }
            }
        }
    }

    /// Evicts a quarter of the records, those with the oldest last birth, repeatedly until there is
    /// room for those of another birth, and updates `places`.
    pub fn make_room<'a>(&mut self, places: impl Iterator<Item = &'a mut Slot>) {
        let mut left = self.records.len();
        while left + KEYS > self.most && left > 0 {
            left -= left.div_ceil(4);
        }
        if left == self.records.len() {
            return;
        }
        let moved = self.evict(self.records.len() - left);
        for slot in places {
            *slot = moved.get(slot.0 as usize).copied().unwrap_or(Slot::NONE);
        }
    }

    fn evict(&mut self, count: usize) -> Vec<Slot> {
        let mut idle: Vec<(i64, u64, Slot)> = self
            .slots
            .iter()
            .map(|(&key, &slot)| (self.records[slot.0 as usize].last_birth, key, slot))
            .collect();
        idle.select_nth_unstable(count - 1);
        let mut moved = vec![Slot::NONE; self.records.len()];
        let mut records = Vec::with_capacity(self.records.len() - count);
        for &(_, key, slot) in &idle[count..] {
            moved[slot.0 as usize] = Slot(records.len() as u32);
            self.slots.insert(key, moved[slot.0 as usize]);
            records.push(self.records[slot.0 as usize]);
        }
        for (_, key, _) in &idle[..count] {
            self.slots.remove(key);
        }
        self.records = records;
        if let Some(changes) = &mut self.changes {
            changes.moved(idle[..count].iter().map(|(_, key, _)| *key), &moved);
        }
        moved
    }

    /// The changes since the last call; at first, all records.
    pub fn take_changed(&mut self) -> Changed {
        let slots = &self.slots;
        let changes = self.changes.get_or_insert_with(|| {
            let mut changes = Changes::default();
            slots.iter().for_each(|(&key, slot)| changes.changed(slot.0, key));
            changes
        });
        changes.take(&self.records)
    }

    /// All records, in the order of their keys.
    pub fn sorted(&self) -> Vec<(u64, Record)> {
        let record = |slot: &Slot| self.records[slot.0 as usize];
        let mut rows: Vec<_> = self.slots.iter().map(|(&key, slot)| (key, record(slot))).collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        rows
    }

    /// Puts a record; returns false if its key already had one.
    pub fn put(&mut self, key: u64, record: Record) -> bool {
        let new = self.slots.insert(key, Slot(self.records.len() as u32)).is_none();
        self.records.push(record);
        new
    }

    /// The key of each place.
    pub fn keys(&self) -> Vec<u64> {
        let mut keys = vec![0; self.records.len()];
        self.slots.iter().for_each(|(&key, slot)| keys[slot.0 as usize] = key);
        keys
    }

    /// The place of a key's record, if there is one.
    pub fn find(&self, key: u64) -> Option<Slot> {
        self.slots.get(&key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::Fact;
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
        store.make_room(places.iter_mut().flatten());
        assert_eq!([5, 6].map(|key| store.get(key).births), [0, 0]);
        assert_eq!([0, 4, 7].map(|key| store.get(key).births), [1, 1, 2]);
        assert_eq!(store.at(places[0][0]).map(|record| record.last_birth), Some(100));
        assert_eq!(store.at(places[1][0]).map(|record| record.last_birth), Some(200));
        assert_eq!(places[0][1], Slot::NONE);
        assert_eq!(store.sorted().len(), 6);
    }

    #[test]
    fn changes_are_returned_once_after_evicted_keys() {
        let mut store = Store::new(KEYS + 7);
        let slots: Vec<Slot> = (0..8).map(|i| bear(&mut store, i, 100 + i as i64)).collect();
        let keys = |changed: &Changed| changed.records.iter().map(|r| r.0).collect::<Vec<u64>>();
        assert_eq!(keys(&store.take_changed()).len(), 8);
        assert_eq!(store.take_changed(), Changed::default());
        let mut places = [Slot::NONE; KEYS];
        (places[0], places[1]) = (slots[1], slots[7]);
        store.learn(&places, &Outcome { time: 1, birth: 0, fact: Fact::Died(5) });
        bear(&mut store, 7, 200);
        store.make_room(places.iter_mut());
        store.learn(&places, &Outcome { time: 2, birth: 0, fact: Fact::Died(5) });
        bear(&mut store, 0, 201);
        let mut changed = store.take_changed();
        changed.evicted.sort_unstable();
        assert_eq!((keys(&changed), changed.evicted.as_slice()), (vec![7, 0], &[0, 1][..]));
        assert_eq!(changed.records[0].1, store.get(7));
        assert_eq!(store.get(7).last_death, Some(2));
        assert_eq!(store.take_changed(), Changed::default());
    }

    #[test]
    fn there_is_room_for_the_keys_of_a_birth_in_the_smallest_store() {
        let mut store = Store::new(KEYS);
        for at in 0..100 {
            store.make_room([].iter_mut());
            (0..KEYS as u64).for_each(|key| {
                bear(&mut store, at as u64 * 100 + key, at);
            });
            assert_eq!(store.sorted().len(), KEYS);
        }
    }
}
