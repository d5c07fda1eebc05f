//! Durations of work that is not modelled further: an observed or assumed distribution.

use serde::Deserialize;

/// Work with a random duration that grows with its bytes.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Shares from 0 to 1 with their quantiles in nanoseconds, ascending; geometric between.
    pub quantiles: Vec<(f64, f64)>,
    /// Nanoseconds for each byte besides.
    pub per_byte: f64,
}

/// An invalid distribution.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum WorkError {
    /// Shares that do not go from 0 to 1.
    #[error("quantiles: expected shares that ascend from 0 to 1")]
    Shares,
    /// Times that descend, or are not above 0.
    #[error("quantiles: expected times above 0 that do not descend")]
    Times,
    /// A negative time per byte.
    #[error("per_byte: expected 0 or more nanoseconds")]
    PerByte,
}

impl Work {
    /// Work of constant duration, in nanoseconds.
    pub fn constant(nanoseconds: f64) -> Self {
        Self { quantiles: vec![(0.0, nanoseconds), (1.0, nanoseconds)], per_byte: 0.0 }
    }

    /// Whether it is a distribution.
    pub fn check(&self) -> Result<(), WorkError> {
        let all = &self.quantiles;
        let ends =
            all.first().map(|own| own.0) == Some(0.0) && all.last().map(|own| own.0) == Some(1.0);
        if !ends || !all.windows(2).all(|pair| pair[0].0 < pair[1].0) {
            return Err(WorkError::Shares);
        }
        let positive = all.iter().all(|own| own.1 > 0.0 && own.1.is_finite());
        if !positive || !all.windows(2).all(|pair| pair[0].1 <= pair[1].1) {
            return Err(WorkError::Times);
        }
        if self.per_byte >= 0.0 && self.per_byte.is_finite() {
            Ok(())
        } else {
            Err(WorkError::PerByte)
        }
    }

    /// The duration with a number of bytes, at the quantile `chance`.
    pub fn time(&self, chance: f64, bytes: u64) -> u64 {
        let next = self.quantiles.partition_point(|own| own.0 <= chance);
        let next = next.clamp(1, self.quantiles.len() - 1);
        let (low, high) = (self.quantiles[next - 1], self.quantiles[next]);
        let part = ((chance - low.0) / (high.0 - low.0)).clamp(0.0, 1.0);
        let drawn = if low.1 == high.1 { low.1 } else { low.1 * (high.1 / low.1).powf(part) };
        (drawn + self.per_byte * bytes as f64).round() as u64
    }
}

/// A random number in [0, 1): the same for the same seed, number and purpose.
///
/// So a call gets the same random numbers on every server, and the difference between two servers
/// is not random (common random numbers). The mixing is SplitMix64's (Steele, Lea and Flood, 2014).
pub fn chance(seed: u64, number: u64, purpose: u64) -> f64 {
    let mixed = mix(mix(seed ^ mix(purpose)) ^ number);
    (mixed >> 11) as f64 / (1u64 << 53) as f64
}

/// The finalizer of SplitMix64, behind one step of its counter.
pub fn mix(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(quantiles: &[(f64, f64)]) -> Work {
        Work { quantiles: quantiles.to_vec(), per_byte: 2.0 }
    }

    #[test]
    fn times_lie_between_the_quantiles_and_grow_with_the_bytes() {
        let work = work(&[(0.0, 100.0), (0.5, 400.0), (1.0, 400.0)]);
        let times = [0.0, 0.25, 0.5, 0.75, 0.999].map(|chance| work.time(chance, 0));
        assert_eq!(times, [100, 200, 400, 400, 400]);
        assert_eq!(work.time(0.25, 10), 220);
    }

    #[test]
    fn what_is_no_distribution_is_refused() {
        for shares in [&[(0.0, 1.0)][..], &[(0.1, 1.0), (1.0, 2.0)], &[(0.0, 1.0), (0.9, 2.0)], &[]]
        {
            assert_eq!(work(shares).check(), Err(WorkError::Shares), "{shares:?}");
        }
        for times in [[(0.0, 0.0), (1.0, 1.0)], [(0.0, 2.0), (1.0, 1.0)]] {
            assert_eq!(work(&times).check(), Err(WorkError::Times));
        }
        let work = Work { per_byte: -1.0, ..Work::constant(5.0) };
        assert_eq!(work.check(), Err(WorkError::PerByte));
        assert_eq!(Work::constant(5.0).check(), Ok(()));
    }

    #[test]
    fn chance_is_even_and_the_same_for_the_same_call() {
        let draws: Vec<f64> = (0..10_000).map(|number| chance(1, number, 2)).collect();
        let mean = draws.iter().sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.01, "{mean}");
        assert_eq!(chance(1, 77, 2), draws[77]);
        assert_ne!(chance(2, 77, 2), draws[77]);
        assert_ne!(chance(1, 77, 3), draws[77]);
    }
}
