//! The randomness of a mapping: the operating system's, or, for reproducible examples, a seed's.

use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use std::io;

/// Bytes requested from the system at a time, to amortize the call.
const CHUNK: usize = 1 << 12;

/// How far the state of SplitMix64 goes with each number (Steele et al., OOPSLA 2014).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Random numbers.
pub enum Random {
    /// The system's; bytes from the index on are unused.
    System(Vec<u8>, usize),
    /// Anyone who knows the seed knows the numbers.
    Seeded(SplitMix64),
}

impl Random {
    /// The system's randomness.
    pub fn system() -> Random {
        Random::System(Vec::new(), 0)
    }

    /// Returns the numbers that follow from a seed, after the first `drawn`.
    pub fn seeded(seed: u64, drawn: u64) -> Random {
        let state = seed.wrapping_add(drawn.wrapping_mul(STEP));
        Random::Seeded(SplitMix64::from_seed(state.to_le_bytes()))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> io::Result<u64> {
        match self {
            Random::System(bytes, used) => {
                if *used == bytes.len() {
                    bytes.resize(CHUNK, 0);
                    getrandom::fill(bytes)?;
                    *used = 0;
                }
                let mut eight = [0; 8];
                eight.copy_from_slice(&bytes[*used..*used + 8]);
                *used += 8;
                Ok(u64::from_le_bytes(eight))
            }
            Random::Seeded(numbers) => Ok(numbers.next_u64()),
        }
    }

    /// Returns a number below `bound`, which must not be 0, uniform to 2^-32.
    pub fn below(&mut self, bound: u32) -> io::Result<u32> {
        let product = u128::from(self.bits()?) * u128::from(bound);
        Ok((product >> 64) as u32)
    }

    /// Fills `out`.
    pub fn fill(&mut self, out: &mut [u8]) -> io::Result<()> {
        for chunk in out.chunks_mut(8) {
            let eight = self.bits()?.to_le_bytes();
            chunk.copy_from_slice(&eight[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first are those of Vigna's splitmix64.c; existing mappings depend on them.
    #[test]
    fn a_seed_always_gives_the_same_numbers() {
        let mut numbers = Random::seeded(0, 0);
        assert_eq!(numbers.bits().unwrap(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(numbers.bits().unwrap(), 0x6e78_9e6a_a1b9_65f4);
        assert_eq!(Random::seeded(0, 1).bits().unwrap(), 0x6e78_9e6a_a1b9_65f4);
        let mut bytes = [0; 10];
        Random::seeded(0, 0).fill(&mut bytes).unwrap();
        assert_eq!(bytes, [0xaf, 0xcd, 0x1d, 0x7b, 0x39, 0xa8, 0x20, 0xe2, 0xf4, 0x65]);
        assert_eq!(Random::seeded(0, 0).below(1000).unwrap(), 883);
    }

    #[test]
    fn the_system_repeats_nothing() {
        let mut numbers = Random::system();
        let drawn: Vec<_> = (0..2 * CHUNK / 8).map(|_| numbers.bits().unwrap()).collect();
        let distinct: std::collections::HashSet<_> = drawn.iter().collect();
        assert_eq!(distinct.len(), drawn.len());
    }
}
