//! Where the values of a mapping come from: the operating system's randomness, or, for examples
//! that are to come out alike, a stated seed.

use std::fs::File;
use std::io::{self, Read};

const SYSTEM: &str = "/dev/urandom";

/// How much is asked of the system at a time.
const CHUNK: usize = 1 << 12;

/// Random numbers.
pub enum Random {
    /// The system's; bytes from the index on were not used yet.
    System(File, Vec<u8>, usize),
    /// SplitMix64 (Steele et al., OOPSLA 2014): anyone who knows the seed knows the numbers.
    Seeded(u64),
}

impl Random {
    /// The system's randomness.
    pub fn system() -> io::Result<Random> {
        Ok(Random::System(File::open(SYSTEM)?, Vec::new(), 0))
    }

    /// Numbers that follow from a seed, after `drawn` of them were used.
    pub fn seeded(seed: u64, drawn: u64) -> Random {
        Random::Seeded(seed.wrapping_add(drawn.wrapping_mul(STEP)))
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> io::Result<u64> {
        match self {
            Random::System(file, bytes, used) => {
                if *used == bytes.len() {
                    bytes.resize(CHUNK, 0);
                    file.read_exact(bytes)?;
                    *used = 0;
                }
                let mut eight = [0; 8];
                eight.copy_from_slice(&bytes[*used..*used + 8]);
                *used += 8;
                Ok(u64::from_le_bytes(eight))
            }
            Random::Seeded(state) => {
                *state = state.wrapping_add(STEP);
                let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                Ok(mixed ^ (mixed >> 31))
            }
        }
    }

    /// A number below `bound`, which must not be 0; each as likely as the others, to 2^-32.
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

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
