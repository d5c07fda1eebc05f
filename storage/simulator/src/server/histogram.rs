//! Histograms of latencies in constant memory.

/// Bits of bins per doubling: the relative error of a latency is at most 1.6 %.
const BITS: u32 = 5;

/// Counts of latencies in logarithmic bins.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum: u64,
}

impl Histogram {
    /// Count a latency in nanoseconds.
    pub fn add(&mut self, latency: u64) {
        let bin = bin(latency);
        if bin >= self.counts.len() {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += 1;
        self.count += 1;
        self.sum += latency;
    }

    /// Add the counts of another one.
    pub fn merge(&mut self, other: &Self) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (own, count) in self.counts.iter_mut().zip(&other.counts) {
            *own += count;
        }
        self.count += other.count;
        self.sum += other.sum;
    }

    /// Number of latencies.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean, in nanoseconds; 0 if there are none.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }

    /// A quantile in nanoseconds: the middle of its bin; 0 if empty.
    pub fn quantile(&self, share: f64) -> f64 {
        let wanted = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (bin, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return (start(bin) as f64 + start(bin + 1) as f64 - 1.0) / 2.0;
            }
        }
        0.0
    }
}

fn bin(latency: u64) -> usize {
    let octave = (u64::BITS - latency.leading_zeros()).saturating_sub(BITS + 1);
    (((u64::from(octave)) << BITS) + (latency >> octave)) as usize
}

/// The least latency of a bin.
fn start(bin: usize) -> u64 {
    let octave = (bin >> BITS).saturating_sub(1);
    ((bin - (octave << BITS)) as u64) << octave
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_follow_one_another_without_gaps() {
        for bin_number in 0..1500 {
            assert_eq!(bin(start(bin_number)), bin_number);
            assert_eq!(bin(start(bin_number + 1) - 1), bin_number);
        }
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_latencies() {
        let mut histogram = Histogram::default();
        let mut all: Vec<u64> = (0..10_001).map(|step| 100 + step * step).collect();
        for latency in &all {
            histogram.add(*latency);
        }
        all.sort_unstable();
        for (share, at) in [(0.5, 5000), (0.95, 9500), (0.99, 9900)] {
            let exact = all[at] as f64;
            assert!((histogram.quantile(share) / exact - 1.0).abs() < 0.017, "{share}");
        }
        let mean = all.iter().sum::<u64>() as f64 / 10_001.0;
        assert!((histogram.mean() - mean).abs() < 1e-6);
    }

    #[test]
    fn merged_they_are_as_if_counted_together() {
        let (mut one, mut other) = (Histogram::default(), Histogram::default());
        one.add(5);
        other.add(5_000_000);
        one.merge(&other);
        assert_eq!((one.count(), one.mean()), (2, 2_500_002.5));
        assert_eq!(one.quantile(0.5), 5.0);
        assert!(one.quantile(1.0) > 4_900_000.0);
        assert_eq!(Histogram::default().quantile(0.5), 0.0);
    }
}
