//! Random numbers from a seed.

use crate::ffs::Random;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;

/// Random numbers from a seed.
#[derive(Clone, Debug)]
pub struct Seeded(SplitMix64);

impl Seeded {
    /// The generator of `seed`.
    pub fn new(seed: u64) -> Seeded {
        Seeded(SplitMix64::from_seed(seed.to_le_bytes()))
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A number above 0 and up to 1.
    fn unit(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    /// A number of the standard normal distribution (Box and Muller).
    pub fn normal(&mut self) -> f64 {
        let (radius, turn) = (self.unit(), self.unit());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * turn).cos()
    }
}

impl Random for Seeded {
    fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of Vigna's splitmix64.c, on which figures of the layout depend.
    #[test]
    fn a_seed_gives_the_numbers_that_it_always_gave() {
        let mut numbers = Seeded::new(0);
        assert_eq!(numbers.next_u64(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(numbers.next_u32(), 0x6e78_9e6a);
        assert_eq!(Seeded::new(0).below(1000), 883);
    }
}
