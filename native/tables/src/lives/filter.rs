//! A Bloom filter of hashes.

/// A Bloom filter that stores the four bits of a hash in one word. It holds some fifty million
/// hashes before false positives become frequent.
#[derive(Default)]
pub struct Filter {
    words: Vec<u64>,
}

impl Filter {
    // 64 MB: four bits for each of fifty million hashes fill a third of it
    const WORDS: usize = 1 << 23;

    /// Adds a hash.
    pub fn add(&mut self, hash: u64) {
        if self.words.is_empty() {
            self.words = vec![0; Filter::WORDS];
        }
        let (word, bits) = Filter::place(hash);
        self.words[word] |= bits;
    }

    /// Returns false only for a hash that was not added.
    pub fn may_hold(&self, hash: u64) -> bool {
        let (word, bits) = Filter::place(hash);
        self.words.get(word).is_some_and(|word| word & bits == bits)
    }

    fn place(hash: u64) -> (usize, u64) {
        let bit = |shift: u32| 1 << (hash >> shift & 63);
        let word = (hash >> 24) as usize % Filter::WORDS;
        (word, bit(0) | bit(6) | bit(12) | bit(18))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_lets_few_strange_hashes_through() {
        let mut filter = Filter::default();
        let hash = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        assert!(!filter.may_hold(0));
        (0..1_000_000).for_each(|i| filter.add(hash(i)));
        assert!((0..1_000_000).all(|i| filter.may_hold(hash(i))));
        let strange = (1_000_000..2_000_000).filter(|&i| filter.may_hold(hash(i)));
        assert!(strange.count() < 1_000);
    }
}
