//! Values by key, in the order of their last use.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// No place.
const NONE: u32 = u32::MAX;

/// Values by key, with eviction of the least recently used.
///
/// Slots are reused: once it is full, nothing is allocated.
#[derive(Clone, Debug)]
pub struct Lru<T> {
    places: Vec<Place<T>>,
    by_key: HashMap<u64, u32, BuildHasherDefault<Spread>>,
    unused: Vec<u32>,
    newest: u32,
    oldest: u32,
}

#[derive(Clone, Debug)]
struct Place<T> {
    key: u64,
    value: T,
    newer: u32,
    older: u32,
}

impl<T> Default for Lru<T> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            by_key: HashMap::default(),
            unused: Vec::new(),
            newest: NONE,
            oldest: NONE,
        }
    }
}

impl<T: Copy> Lru<T> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// The value of a key, without marking it as used.
    pub fn get(&self, key: u64) -> Option<&T> {
        self.by_key.get(&key).map(|&place| &self.places[place as usize].value)
    }

    /// The value of a key, to be changed, without marking it as used.
    pub fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        self.by_key.get(&key).map(|&place| &mut self.places[place as usize].value)
    }

    /// The value of a key, which becomes the most recently used.
    pub fn touch(&mut self, key: u64) -> Option<&mut T> {
        let place = *self.by_key.get(&key)?;
        self.unlink(place);
        self.link(place);
        Some(&mut self.places[place as usize].value)
    }

    /// Add a new key as the most recently used.
    pub fn add(&mut self, key: u64, value: T) {
        let added = Place { key, value, newer: NONE, older: NONE };
        let place = if let Some(place) = self.unused.pop() {
            self.places[place as usize] = added;
            place
        } else {
            self.places.push(added);
            (self.places.len() - 1) as u32
        };
        self.by_key.insert(key, place);
        self.link(place);
    }

    /// Add a new key; if there are `most`, the least recently used is evicted.
    pub fn replace(&mut self, key: u64, value: T, most: usize) {
        if most == 0 {
            return;
        }
        if let Some(oldest) = self.oldest().filter(|_| self.len() >= most) {
            self.remove(oldest);
        }
        self.add(key, value);
    }

    /// Take a key away.
    pub fn remove(&mut self, key: u64) -> Option<T> {
        let place = self.by_key.remove(&key)?;
        self.unlink(place);
        self.unused.push(place);
        Some(self.places[place as usize].value)
    }

    /// The least recently used key.
    pub fn oldest(&self) -> Option<u64> {
        self.places.get(self.oldest as usize).filter(|_| self.oldest != NONE).map(|own| own.key)
    }

    fn link(&mut self, place: u32) {
        let before = self.newest;
        let own = &mut self.places[place as usize];
        (own.older, own.newer) = (before, NONE);
        self.newest = place;
        match self.places.get_mut(before as usize) {
            Some(before) => before.newer = place,
            None => self.oldest = place,
        }
    }

    fn unlink(&mut self, place: u32) {
        let Place { newer, older, .. } = self.places[place as usize];
        match self.places.get_mut(newer as usize) {
            Some(newer) => newer.older = older,
            None => self.newest = older,
        }
        match self.places.get_mut(older as usize) {
            Some(older) => older.newer = newer,
            None => self.oldest = newer,
        }
    }
}

/// Spreads keys that follow one another (Knuth's multiplicative hashing).
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = (self.0 ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Random;

    #[test]
    fn it_is_a_list_in_the_order_of_use() {
        let mut random = Random::seed_from_u64(5);
        let (mut lru, mut list) = (Lru::default(), Vec::<(u64, u64)>::new());
        for step in 0..5_000_u64 {
            let key = random.next_u64() % 40;
            let at = list.iter().position(|own| own.0 == key);
            match (random.next_u64() % 4, at) {
                (0, at) => assert_eq!(lru.remove(key), at.map(|at| list.remove(at).1)),
                (1, at) => assert_eq!(lru.get(key).copied(), at.map(|at| list[at].1)),
                (_, Some(at)) => {
                    let own = list.remove(at);
                    assert_eq!(lru.touch(key).copied(), Some(own.1));
                    list.push(own);
                }
                (_, None) => {
                    assert_eq!(lru.touch(key), None);
                    let most = [0, 25, usize::MAX][(step / 3 % 3) as usize];
                    lru.replace(key, step, most);
                    if most > 0 {
                        list.drain(..usize::from(list.len() >= most));
                        list.push((key, step));
                    }
                }
            }
            assert_eq!(lru.oldest(), list.first().map(|own| own.0));
            assert_eq!((lru.len(), lru.is_empty()), (list.len(), list.is_empty()));
        }
        assert!(lru.places.len() <= 40, "places are used again");
    }
}
