//! Random numbers from a seed, in the distributions of loads.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Random numbers from a seed.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A uniform number above 0 and at most 1.
    pub fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// A uniform whole number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(end)) >> 64) as u64
    }

    /// An exponential number.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.unit().ln()
    }

    /// A normal number with mean 0 and deviation 1 (Box and Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A Poisson number: how many exponential gaps with mean 1 fit into `mean`.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        let (mut number, mut left) = (0, mean - self.exponential(1.0));
        while left > 0.0 {
            number += 1;
            left -= self.exponential(1.0);
        }
        number
    }
}

/// Numbers below a bound, where number `i` has weight (i + 1)^-exponent (Zipf).
#[derive(Clone, Debug)]
pub struct Zipf {
    /// Cumulative shares.
    below: Vec<f64>,
}

impl Zipf {
    /// `count` numbers, at least one.
    pub fn new(count: usize, exponent: f64) -> Self {
        let mut sum = 0.0;
        let mut below: Vec<f64> = (1..=count)
            .map(|rank| {
                sum += (rank as f64).powf(-exponent);
                sum
            })
            .collect();
        below.iter_mut().for_each(|share| *share /= sum);
        Self { below }
    }

    /// The next number.
    pub fn draw(&self, random: &mut Random) -> usize {
        let unit = random.unit();
        self.below.partition_point(|share| *share < unit).min(self.below.len() - 1)
    }

    /// The share of a number.
    pub fn share(&self, number: usize) -> f64 {
        self.below[number] - number.checked_sub(1).map_or(0.0, |before| self.below[before])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWN: usize = 200_000;

    fn moments(mut draw: impl FnMut(&mut Random) -> f64) -> (f64, f64) {
        let mut random = Random::new(1);
        let all: Vec<f64> = (0..DRAWN).map(|_| draw(&mut random)).collect();
        let mean = all.iter().sum::<f64>() / DRAWN as f64;
        let squares = all.iter().map(|own| (own - mean) * (own - mean)).sum::<f64>();
        (mean, squares / DRAWN as f64)
    }

    fn near(found: (f64, f64), mean: f64, variance: f64) {
        assert!((found.0 - mean).abs() < 0.02 * variance.sqrt(), "{found:?}");
        assert!((found.1 / variance - 1.0).abs() < 0.03, "{found:?}");
    }

    #[test]
    fn distributions_have_their_moments() {
        near(moments(Random::unit), 0.5, 1.0 / 12.0);
        near(moments(|random| random.below(10) as f64), 4.5, 8.25);
        near(moments(|random| random.exponential(3.0)), 3.0, 9.0);
        near(moments(Random::normal), 0.0, 1.0);
        near(moments(|random| random.poisson(3.5) as f64), 3.5, 3.5);
    }

    #[test]
    fn each_number_comes_with_its_share() {
        let zipf = Zipf::new(4, 1.0);
        let mut random = Random::new(2);
        let mut counts = [0; 4];
        (0..DRAWN).for_each(|_| counts[zipf.draw(&mut random)] += 1);
        let sum = 1.0 + 0.5 + 1.0 / 3.0 + 0.25;
        for (rank, count) in (1..).zip(counts) {
            let expected = 1.0 / f64::from(rank) / sum;
            assert!((zipf.share(rank as usize - 1) - expected).abs() < 1e-12);
            assert!((f64::from(count) / DRAWN as f64 - expected).abs() < 0.01);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            [random.below(1 << 60), random.below(1 << 60)]
        };
        assert_eq!(numbers(3), numbers(3));
        assert_ne!(numbers(3), numbers(4));
    }
}
