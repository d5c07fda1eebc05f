//! What was used lately, up to a number of keys, without memory being asked for after the beginning.

const NONE: u32 = u32::MAX;

/// A cache of keys of which that goes first which was used least lately.
///
/// Keys lie in slots, which a doubly linked list keeps in the order of use; a table with open
/// addressing tells the slot of a key.
#[derive(Clone, Debug)]
pub struct Lru {
    slots: Vec<Slot>,
    table: Vec<u32>,
    capacity: usize,
    newest: u32,
    oldest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u64,
    newer: u32,
    older: u32,
}

impl Lru {
    /// An empty cache of at most `capacity` keys, fewer than 2^31.
    pub fn new(capacity: usize) -> Self {
        assert!(capacity < 1 << 31, "slots are numbered with 32 bits");
        Self {
            slots: Vec::with_capacity(capacity),
            table: vec![NONE; (2 * capacity).next_power_of_two().max(2)],
            capacity,
            newest: NONE,
            oldest: NONE,
        }
    }

    /// How many keys it holds.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Use a key; return whether it was held. If not, it is now, for that which was used least lately.
    pub fn touch(&mut self, key: u64) -> bool {
        let place = self.find(key);
        let slot = self.table[place];
        if slot != NONE {
            self.unlink(slot);
            self.link(slot);
            return true;
        }
        if self.slots.len() < self.capacity {
            self.table[place] = self.slots.len() as u32;
            self.slots.push(Slot { key, newer: NONE, older: NONE });
            self.link(self.table[place]);
        } else if self.capacity > 0 {
            self.replace(key);
        }
        false
    }

    /// Let a key take the slot of the one used least lately.
    fn replace(&mut self, key: u64) {
        let slot = self.oldest;
        let gone = self.find(self.slots[slot as usize].key);
        self.vacate(gone);
        self.unlink(slot);
        self.slots[slot as usize].key = key;
        let place = self.find(key);
        self.table[place] = slot;
        self.link(slot);
    }

    fn home(&self, key: u64) -> usize {
        let bits = self.table.len().trailing_zeros();
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits)) as usize
    }

    /// Where in the table a key is, or would be.
    fn find(&self, key: u64) -> usize {
        let mut place = self.home(key);
        while self.table[place] != NONE && self.slots[self.table[place] as usize].key != key {
            place = (place + 1) & (self.table.len() - 1);
        }
        place
    }

    /// Empty a place of the table, and move up what would not be found behind it.
    fn vacate(&mut self, mut hole: usize) {
        let mask = self.table.len() - 1;
        let mut place = hole;
        loop {
            place = (place + 1) & mask;
            let slot = self.table[place];
            if slot == NONE {
                break;
            }
            let home = self.home(self.slots[slot as usize].key);
            let before = place.wrapping_sub(home) & mask;
            if before >= (place.wrapping_sub(hole) & mask) {
                self.table[hole] = slot;
                hole = place;
            }
        }
        self.table[hole] = NONE;
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { newer, older, .. } = self.slots[slot as usize];
        match newer {
            NONE => self.newest = older,
            newer => self.slots[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            older => self.slots[older as usize].newer = newer,
        }
    }

    /// Make a slot the one used last.
    fn link(&mut self, slot: u32) {
        let older = self.newest;
        self.slots[slot as usize].newer = NONE;
        self.slots[slot as usize].older = older;
        match older {
            NONE => self.oldest = slot,
            older => self.slots[older as usize].newer = slot,
        }
        self.newest = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// A list of keys in the order of use, looked through each time.
    fn slow(keys: &mut Vec<u64>, capacity: usize, key: u64) -> bool {
        let held = keys.iter().position(|own| *own == key);
        held.map(|place| keys.remove(place));
        keys.push(key);
        if keys.len() > capacity {
            keys.remove(0);
        }
        held.is_some()
    }

    #[test]
    fn it_holds_what_a_list_in_the_order_of_use_holds() {
        for (capacity, keys) in [(0, 5), (1, 3), (2, 4), (7, 20), (64, 90), (1_000, 1_100)] {
            let (mut lru, mut list) = (Lru::new(capacity), Vec::new());
            let mut random = Random::new(capacity as u64);
            let mut hits = 0;
            for _ in 0..40_000 {
                // Keys of which many have the same home.
                let key = random.below(keys) << 40;
                let held = lru.touch(key);
                assert_eq!(held, slow(&mut list, capacity, key));
                assert_eq!((lru.len(), lru.is_empty()), (list.len(), list.is_empty()));
                hits += u64::from(held);
            }
            assert!(capacity == 0 || (1_000..40_000).contains(&hits), "{hits}");
        }
    }
}
