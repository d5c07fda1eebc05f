//! Histograms of latencies, whose buckets can be added.

/// Buckets in each doubling, as a power of two: 32, so that a bucket is no wider than 1/32 of its
/// lower bound.
const BITS: u32 = 5;
/// Values below this have a bucket each.
const EXACT: u64 = 2 << BITS;
/// More buckets than this are stored in an array.
const FEW: usize = 24;

/// The bucket of a value.
#[inline]
pub fn bucket(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    let shift = 63 - value.leading_zeros() - BITS;
    ((shift as usize) << BITS) + (value >> shift) as usize
}

/// The least value of a bucket.
pub fn low(bucket: usize) -> u64 {
    if bucket < EXACT as usize {
        return bucket as u64;
    }
    let shift = (bucket >> BITS) - 1;
    let first = (bucket & ((1 << BITS) - 1)) + (1 << BITS);
    u64::try_from((first as u128) << shift.min(64)).unwrap_or(u64::MAX)
}

/// The greatest value of a bucket.
fn high(bucket: usize) -> u64 {
    match low(bucket + 1) {
        u64::MAX => u64::MAX,
        next => next - 1,
    }
}

/// Counts by bucket: a short list for few buckets, as in a table by file, else an array.
#[derive(Clone, Debug)]
pub enum Histogram {
    /// Buckets and counts, in the order of the buckets.
    Few(Vec<(u16, u64)>),
    /// Counts, by bucket.
    Many(Vec<u64>),
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::Few(Vec::new())
    }
}

impl Histogram {
    /// Adds `count` to a bucket.
    #[inline]
    pub fn add(&mut self, bucket: usize, count: u64) {
        match self {
            Histogram::Many(counts) => {
                if counts.len() <= bucket {
                    counts.resize(bucket + 1, 0);
                }
                counts[bucket] += count;
            }
            Histogram::Few(list) => {
                match list.binary_search_by_key(&bucket, |(at, _)| usize::from(*at)) {
                    Ok(at) => list[at].1 += count,
                    Err(at) => list.insert(at, (bucket as u16, count)),
                }
                if list.len() > FEW {
                    self.spread();
                }
            }
        }
    }

    /// Adds all of another's counts.
    pub fn merge(&mut self, other: &Histogram) {
        other.counts(|bucket, count| self.add(bucket, count));
    }

    /// Calls `each` with every bucket that has a count, in order.
    pub fn counts(&self, mut each: impl FnMut(usize, u64)) {
        match self {
            Histogram::Few(list) => list.iter().for_each(|(at, n)| each(usize::from(*at), *n)),
            Histogram::Many(counts) => {
                let filled = counts.iter().enumerate().filter(|(_, n)| **n > 0);
                filled.for_each(|(at, n)| each(at, *n));
            }
        }
    }

    /// The number of values.
    pub fn total(&self) -> u64 {
        let mut total = 0;
        self.counts(|_, count| total += count);
        total
    }

    /// The least value that `percent` of all do not exceed, rounded up to the end of its bucket.
    pub fn quantile(&self, percent: u64) -> u64 {
        let rank = (u128::from(self.total()) * u128::from(percent)).div_ceil(100).max(1);
        let (mut seen, mut found) = (0, None);
        self.counts(|bucket, count| {
            seen += u128::from(count);
            if found.is_none() && seen >= rank {
                found = Some(high(bucket));
            }
        });
        found.unwrap_or_default()
    }

    fn spread(&mut self) {
        let mut counts = Vec::new();
        self.counts(|bucket, count| {
            counts.resize(bucket, 0);
            counts.push(count);
        });
        *self = Histogram::Many(counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_the_bucket_that_begins_at_most_a_32nd_below_it() {
        let powers = (0..64).flat_map(|shift| [1u64 << shift, (1 << shift) - 1, 3 << (shift / 2)]);
        for value in powers.chain(0..5000).chain([u64::MAX]) {
            let at = bucket(value);
            assert!(low(at) <= value && value <= high(at), "{value}");
            assert!(u128::from(high(at) - low(at)) * 32 <= u128::from(low(at)), "{value}");
            assert_eq!(bucket(low(at)), at);
        }
    }

    #[test]
    fn quantiles_are_never_too_low_and_at_most_a_32nd_too_high() {
        let mut histogram = Histogram::default();
        (1..=10_000u64).for_each(|value| histogram.add(bucket(value * 7), 1));
        for percent in [1, 50, 90, 99, 100] {
            let exact = percent * 100 * 7;
            let found = histogram.quantile(percent);
            assert!(exact <= found && found <= exact + exact / 32, "{percent}: {found}");
        }
        assert_eq!(Histogram::default().quantile(50), 0);
    }

    #[test]
    fn merging_parts_gives_the_whole_in_either_form() {
        let values: Vec<u64> = (0..3000).map(|i| i * i % 7919).collect();
        let mut whole = Histogram::default();
        values.iter().for_each(|value| whole.add(bucket(*value), 1));
        let mut merged = Histogram::default();
        for part in values.chunks(20) {
            let mut few = Histogram::default();
            part.iter().for_each(|value| few.add(bucket(*value), 1));
            merged.merge(&few);
        }
        let list = |histogram: &Histogram| {
            let mut all = Vec::new();
            histogram.counts(|bucket, count| all.push((bucket, count)));
            all
        };
        assert_eq!(list(&whole), list(&merged));
        assert_eq!(merged.total(), 3000);
    }
}
