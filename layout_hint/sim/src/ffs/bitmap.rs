//! A set of small numbers, in words.

use std::ops::Range;

/// A set of the numbers below a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
}

impl Bitmap {
    /// The empty set of numbers below `bound`.
    pub fn new(bound: u32) -> Bitmap {
        Bitmap { words: vec![0; bound.div_ceil(64) as usize] }
    }

    /// Whether a number is in it.
    #[inline]
    pub fn has(&self, number: u32) -> bool {
        self.words[(number / 64) as usize] >> (number % 64) & 1 != 0
    }

    /// Puts a number in, or takes it out.
    #[inline]
    pub fn set(&mut self, number: u32, value: bool) {
        let (word, bit) = (&mut self.words[(number / 64) as usize], number % 64);
        *word = *word & !(1 << bit) | u64::from(value) << bit;
    }

    /// The lowest number in it that is not below `from`.
    #[inline]
    pub fn next(&self, from: u32) -> Option<u32> {
        let first = (from / 64) as usize;
        let rest = self.words.get(first)? & (u64::MAX << (from % 64));
        if rest != 0 {
            return Some(first as u32 * 64 + rest.trailing_zeros());
        }
        let later = self.words[first + 1..].iter().position(|&word| word != 0)? + first + 1;
        Some(later as u32 * 64 + self.words[later].trailing_zeros())
    }

    /// The lowest number outside `skip` that is not below `from`; where there is none, the lowest
    /// outside `skip`.
    #[inline]
    pub fn next_around(&self, from: u32, skip: &Range<u32>) -> Option<u32> {
        self.next_outside(from, skip).or_else(|| self.next_outside(0, skip))
    }

    /// The first of `length` numbers in a row that are in it and not in `skip`, none of them below
    /// `from`.
    pub fn row(&self, from: u32, length: u32, skip: &Range<u32>) -> Option<u32> {
        let bound = self.words.len() as u32 * 64;
        let is = |number: u32| number < bound && self.has(number) && !skip.contains(&number);
        let mut start = self.next_outside(from, skip)?;
        loop {
            match (start..start + length).find(|&number| !is(number)) {
                Some(gap) => start = self.next_outside(gap + 1, skip)?,
                None => return Some(start),
            }
        }
    }

    #[inline]
    fn next_outside(&self, from: u32, skip: &Range<u32>) -> Option<u32> {
        let found = self.next(from)?;
        if skip.contains(&found) {
            return self.next(skip.end);
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_number_is_that_of_a_plain_scan() {
        let mut set = Bitmap::new(300);
        let members = [0u32, 5, 6, 63, 64, 130, 131, 255, 256, 257, 299];
        members.iter().for_each(|&number| set.set(number, true));
        for from in 0..300 {
            let next = members.iter().copied().find(|&number| number >= from);
            assert_eq!(set.next(from), next);
            assert_eq!(set.has(from), members.contains(&from));
            let skip = 60..131;
            let outside = || members.iter().copied().filter(|number| !skip.contains(number));
            let around = outside().find(|&number| number >= from).or_else(|| outside().next());
            assert_eq!(set.next_around(from, &skip), around);
            for length in 1..4 {
                let is = |number| members.contains(&number) && !skip.contains(&number);
                let row = (from..300).find(|&first| (first..first + length).all(is));
                assert_eq!(set.row(from, length, &skip), row);
            }
        }
        assert_eq!(set.next(1000), None);
        [257, 299].iter().for_each(|&number| set.set(number, false));
        assert_eq!((set.next(257), set.next_around(257, &(0..0))), (None, Some(0)));
    }
}
