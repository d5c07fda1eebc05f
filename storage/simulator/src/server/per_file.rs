//! Values for parts of files, which can be dropped by file.

use foldhash::fast::FixedState;
use std::collections::HashMap;

/// Values by file and part.
#[derive(Clone, Debug)]
pub struct PerFile<V> {
    values: HashMap<(u32, u64), V, FixedState>,
    /// Upper bound of the parts of each file with a value.
    furthest: HashMap<u32, u64, FixedState>,
}

impl<V> Default for PerFile<V> {
    fn default() -> Self {
        let values = HashMap::with_hasher(FixedState::default());
        Self { values, furthest: HashMap::with_hasher(FixedState::default()) }
    }
}

impl<V: Copy> PerFile<V> {
    /// The value of a part of a file, if it has one.
    pub fn get(&self, file: u32, part: u64) -> Option<V> {
        self.values.get(&(file, part)).copied()
    }

    /// The value of a part of a file, to be changed, if it has one.
    pub fn get_mut(&mut self, file: u32, part: u64) -> Option<&mut V> {
        self.values.get_mut(&(file, part))
    }

    /// Give a part of a file a value; return the one that it had.
    pub fn insert(&mut self, file: u32, part: u64, value: V) -> Option<V> {
        let before = self.values.insert((file, part), value);
        if before.is_none() {
            let furthest = self.furthest.entry(file).or_default();
            *furthest = part.max(*furthest);
        }
        before
    }

    /// All files, their parts, and values.
    pub fn iter(&self) -> impl Iterator<Item = ((u32, u64), V)> + '_ {
        self.values.iter().map(|(part, value)| (*part, *value))
    }

    /// Take the value of a part of a file away.
    pub fn remove(&mut self, file: u32, part: u64) {
        self.values.remove(&(file, part));
    }

    /// Take the values of a file's parts away, from one on.
    pub fn take(&mut self, file: u32, from: u64) -> Vec<V> {
        let mut values = Vec::new();
        let Some(&furthest) = self.furthest.get(&file).filter(|furthest| **furthest >= from) else {
            return values;
        };
        if furthest - from <= self.values.len() as u64 {
            values.extend((from..=furthest).filter_map(|part| self.values.remove(&(file, part))));
        } else {
            self.values.retain(|&(own, part), value| {
                let stays = own != file || part < from;
                values.extend((!stays).then_some(*value));
                stays
            });
        }
        match from.checked_sub(1) {
            Some(last) => self.furthest.insert(file, last),
            None => self.furthest.remove(&file),
        };
        values
    }

    /// Number of values.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.values.len() + self.furthest.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_behind_a_part_is_taken_and_nothing_else_however_far_apart_it_lies() {
        for far in [5, 1 << 40] {
            let mut map: PerFile<u64> = PerFile::default();
            for (file, part) in [(1, 0), (1, 3), (1, far), (2, 3), (2, far)] {
                map.insert(file, part, part + 1);
            }
            let mut values = map.take(1, 3);
            values.sort_unstable();
            assert_eq!(values, [4, far + 1]);
            assert_eq!((map.get(1, 0), map.get(1, 3), map.get(2, 3)), (Some(1), None, Some(4)));
            assert!(map.take(1, 3).is_empty() && map.take(3, 0).is_empty());
            map.insert(1, 7, 8);
            map.remove(1, 0);
            assert_eq!(map.take(1, 0), [8]);
            map.take(2, 0);
            assert_eq!(map.len(), 0);
        }
    }
}
