//! Addresses by number: most are low and without gaps, few may be very high.

use std::collections::BTreeMap;

/// Numbers below this are stored in an array.
const NEAR: u32 = 1 << 16;

/// Addresses by number. 0 is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Addresses {
    near: Vec<u32>,
    far: BTreeMap<u32, u32>,
}

impl Addresses {
    #[inline]
    pub fn get(&self, key: u32) -> Option<u32> {
        let address = match key < NEAR {
            true => self.near.get(key as usize),
            false => self.far.get(&key),
        };
        address.copied().filter(|&address| address != 0)
    }

    #[inline]
    pub fn set(&mut self, key: u32, address: u32) {
        if key >= NEAR {
            self.far.insert(key, address);
            return;
        }
        let at = key as usize;
        if self.near.len() <= at {
            self.near.resize(at + 1, 0);
        }
        self.near[at] = address;
    }

    /// The numbers that have or had an address, and those between low ones, in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        (0..self.near.len() as u32).chain(self.far.keys().copied())
    }

    /// The one of [`Self::keys`] before a number.
    pub fn before(&self, key: u32) -> Option<u32> {
        let far = if key > NEAR { self.far.range(..key).next_back() } else { None };
        let near = (self.near.len() as u32).min(key).checked_sub(1);
        far.map(|(&key, _)| key).or(near)
    }

    /// Drops those from a number on. If there were any, the one before it remains a key, which
    /// finds the pointers to both.
    pub fn cut(&mut self, end: u32) {
        let near = self.near.len() > end as usize;
        self.near.truncate(end as usize);
        let far = !self.far.split_off(&end).is_empty();
        if let Some(last) =
            end.checked_sub(1).filter(|&last| (near || far) && self.get(last).is_none())
        {
            self.set(last, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_is_found_low_and_high() {
        let mut addresses = Addresses::default();
        let keys = [0, 3, NEAR - 1, NEAR, NEAR + 9, u32::MAX];
        keys.iter().for_each(|&key| addresses.set(key, key.wrapping_add(7)));
        assert!(keys.iter().all(|&key| addresses.get(key) == Some(key.wrapping_add(7))));
        assert_eq!((addresses.get(1), addresses.get(NEAR + 1)), (None, None));
        assert_eq!(addresses.keys().count(), NEAR as usize + 3);
        assert_eq!((addresses.before(0), addresses.before(NEAR + 1)), (None, Some(NEAR)));
        assert_eq!((addresses.before(NEAR), addresses.before(3)), (Some(NEAR - 1), Some(2)));
        assert_eq!(addresses.before(u32::MAX), Some(NEAR + 9));
        addresses.cut(NEAR + 9);
        let (last, gap) = (addresses.keys().next_back(), addresses.get(NEAR + 8));
        assert_eq!((last, gap, addresses.get(NEAR + 9)), (Some(NEAR + 8), None, None));
        addresses.cut(2);
        assert_eq!(addresses.keys().collect::<Vec<_>>(), [0, 1]);
        let mut high = Addresses::default();
        high.set(NEAR + 5, 1);
        high.cut(6);
        assert_eq!(high.keys().next_back(), Some(5));
    }
}
