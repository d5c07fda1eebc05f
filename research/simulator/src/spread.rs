//! Mean and quantiles of times in constant memory.

/// Steps of a power of two: the relative error of a quantile is below 1 in 128.
const STEPS: u32 = 7;

/// Counts of times, in steps of less than a hundredth.
#[derive(Clone, Debug, Default)]
pub struct Spread {
    counts: Vec<u64>,
    count: u64,
    sum: u128,
}

impl Spread {
    /// Count a time.
    pub fn add(&mut self, time: u64) {
        let step = step(time);
        if step >= self.counts.len() {
            self.counts.resize(step + 1, 0);
        }
        self.counts[step] += 1;
        self.count += 1;
        self.sum += u128::from(time);
    }

    /// Number of times.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their mean; 0 if empty.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }

    /// The quantile of a share from 0 to 1; 0 if empty.
    pub fn quantile(&self, share: f64) -> f64 {
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (step, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return middle(step);
            }
        }
        0.0
    }
}

/// The step of a time: those below 2 to the power of `STEPS` have one each.
fn step(time: u64) -> usize {
    let shift = (64 - time.leading_zeros()).saturating_sub(STEPS + 1);
    ((u64::from(shift) << STEPS) + (time >> shift)) as usize
}

/// The middle of a step.
fn middle(step: usize) -> f64 {
    let shift = (step >> STEPS).saturating_sub(1);
    let first = ((step - (shift << STEPS)) as u64) << shift;
    first as f64 + (((1_u64 << shift) - 1) as f64) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn quantiles_are_those_of_a_sorted_list_but_for_a_hundredth() {
        let mut random = Random::new(1);
        let mut spread = Spread::default();
        let mut times: Vec<u64> =
            (0..10_000).map(|_| (random.normal() * 4.0 + 15.0).exp() as u64).collect();
        times.iter().for_each(|&time| spread.add(time));
        times.sort_unstable();
        for (share, place) in [(0.0, 0), (0.5, 4_999), (0.95, 9_499), (0.99, 9_899), (1.0, 9_999)] {
            let (found, expected) = (spread.quantile(share), times[place] as f64);
            assert!((found - expected).abs() <= expected / 128.0, "{found}, expected {expected}");
        }
        let mean = times.iter().map(|&time| time as f64).sum::<f64>() / 1e4;
        assert!((spread.mean() / mean - 1.0).abs() < 1e-12);
        assert_eq!(spread.count(), 10_000);
    }

    #[test]
    fn small_times_are_exact_and_none_is_0() {
        let mut spread = Spread::default();
        assert_eq!((spread.mean(), spread.quantile(0.5)), (0.0, 0.0));
        for time in [0, 1, 2, 100, 255] {
            spread.add(time);
            assert_eq!(spread.quantile(1.0), time as f64);
        }
        spread.add(u64::MAX);
        assert!((spread.quantile(1.0) / u64::MAX as f64 - 1.0).abs() < 0.01);
    }
}
