//! Random numbers for loads.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random numbers from a seed.
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / 2f64.powi(53)
    }

    /// Whether an event with a probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A number in [0, end), for an end above 0.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(end)) >> 64) as u64
    }

    /// 1 or more, geometrically distributed with a mean of 1 or more.
    pub fn count(&mut self, mean: f64) -> u64 {
        if mean <= 1.0 {
            return 1;
        }
        1 + ((1.0 - self.unit()).ln() / (1.0 - 1.0 / mean).ln()) as u64
    }

    /// 1 or more, with a mean and a long tail: the excess over 1 is log-normal with a coefficient
    /// of variation of 2.1, as are lengths of runs in HP's week of 1992
    /// (`benchmarks/storage_places.py`).
    pub fn long_tailed(&mut self, mean: f64) -> u64 {
        const DEVIATION: f64 = 1.3;
        let median = (mean - 1.0) / (DEVIATION * DEVIATION / 2.0).exp();
        1 + (self.log_normal(median, DEVIATION).round() as u64).min(1000)
    }

    /// A log-normal number, with a median and the deviation of the logarithm.
    pub fn log_normal(&mut self, median: f64, deviation: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        let angle = std::f64::consts::TAU * self.unit();
        median * (deviation * radius * angle.cos()).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean(mut draw: impl FnMut(&mut Random) -> f64) -> f64 {
        let mut random = Random::new(7);
        (0..100_000).map(|_| draw(&mut random)).sum::<f64>() / 1e5
    }

    #[test]
    fn means_are_as_they_should_be() {
        let near =
            |found: f64, mean: f64| assert!((found / mean - 1.0).abs() < 0.02, "{found} {mean}");
        near(mean(Random::unit), 0.5);
        near(mean(|random| random.below(11) as f64), 5.0);
        near(mean(|random| f64::from(u8::from(random.happens(0.3)))), 0.3);
        for expected in [1.0, 1.5, 20.0] {
            near(mean(|random| random.count(expected) as f64), expected);
        }
        near(mean(|random| random.long_tailed(8.0) as f64), 8.0);
        near(mean(|random| random.log_normal(3.0, 0.5)), 3.0 * (0.125_f64).exp());
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let draw = |seed| Random::new(seed).below(1 << 40);
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
