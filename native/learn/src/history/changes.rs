//! Changes of records, for copies.

use super::record::Record;
use super::store::Slot;

/// The changes since the last call. To update a copy, remove the evicted keys, then put the records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The keys that were evicted; some may have a record again.
    pub evicted: Vec<u64>,
    /// The records that changed, by key.
    pub records: Vec<(u64, Record)>,
}

/// The keys by place, and those that changed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    keys: Vec<u64>,
    changed: Vec<bool>,
    places: Vec<u32>,
    evicted: Vec<u64>,
}

impl Changes {
    /// Records that the record of a key, at that place, changes.
    pub fn changed(&mut self, place: u32, key: u64) {
        if place as usize >= self.keys.len() {
            self.keys.resize(place as usize + 1, 0);
            self.changed.resize(place as usize + 1, false);
        }
        self.keys[place as usize] = key;
        self.changed_again(place);
    }

    /// The same for a place that already has a record.
    pub fn changed_again(&mut self, place: u32) {
        if let Some(changed) = self.changed.get_mut(place as usize).filter(|changed| !**changed) {
            *changed = true;
            self.places.push(place);
        }
    }

    /// Records the evicted keys, and the new places of all records.
    pub fn moved(&mut self, evicted: impl Iterator<Item = u64>, moved: &[Slot]) {
        self.evicted.extend(evicted);
        let left = moved.iter().filter(|slot| slot.place().is_some()).count();
        let keys = std::mem::replace(&mut self.keys, vec![0; left]);
        let changed = std::mem::replace(&mut self.changed, vec![false; left]);
        self.places.clear();
        for ((slot, key), changed) in moved.iter().zip(keys).zip(changed) {
            if let Some(place) = slot.place() {
                self.keys[place as usize] = key;
                if changed {
                    self.changed_again(place);
                }
            }
        }
    }

    /// The changes since the last call.
    pub fn take(&mut self, records: &[Record]) -> Changed {
        let places = std::mem::take(&mut self.places);
        let record = |place: u32| {
            self.changed[place as usize] = false;
            (self.keys[place as usize], records[place as usize])
        };
        let records = places.into_iter().map(record).collect();
        Changed { evicted: std::mem::take(&mut self.evicted), records }
    }
}
