//! Which records changed, for those who keep a copy.

use super::record::Record;
use super::store::Slot;

/// What changed since it was asked last. A copy is brought up to date by taking out of it what was
/// forgotten, then putting in the records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// The keys that were forgotten; some may have a record again.
    pub forgotten: Vec<u64>,
    /// The records that changed, by key.
    pub records: Vec<(u64, Record)>,
}

/// The keys by place, and those that changed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    keys: Vec<u64>,
    changed: Vec<bool>,
    places: Vec<u32>,
    forgotten: Vec<u64>,
}

impl Changes {
    /// Notes that the record of a key, at that place, changes.
    pub fn changed(&mut self, place: u32, key: u64) {
        if place as usize >= self.keys.len() {
            self.keys.resize(place as usize + 1, 0);
            self.changed.resize(place as usize + 1, false);
        }
        self.keys[place as usize] = key;
        self.changed_again(place);
    }

    /// The same of a place that has had a record.
    pub fn changed_again(&mut self, place: u32) {
        if let Some(changed) = self.changed.get_mut(place as usize).filter(|changed| !**changed) {
            *changed = true;
            self.places.push(place);
        }
    }

    /// Notes which keys were forgotten, and where the records of all places have gone.
    pub fn moved(&mut self, forgotten: impl Iterator<Item = u64>, moved: &[Slot]) {
        self.forgotten.extend(forgotten);
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

    /// What changed since the last time.
    pub fn take(&mut self, records: &[Record]) -> Changed {
        let taken = std::mem::take(&mut self.places);
        let record = |place: u32| {
            self.changed[place as usize] = false;
            (self.keys[place as usize], records[place as usize])
        };
        let records = taken.into_iter().map(record).collect();
        Changed { forgotten: std::mem::take(&mut self.forgotten), records }
    }
}
