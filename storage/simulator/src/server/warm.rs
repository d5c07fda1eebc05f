//! Memory before the first call: random extents of files, each whole or not at all.

use super::cache::Block;
use super::per_file::PerFile;
use super::work::chance;

/// Purpose of random numbers: whether an extent was in memory before.
const WARM: u64 = 2;
/// The blocks of an extent.
pub const EXTENT_BLOCKS: u64 = 64;

/// The contents of memory before the first call, until they are touched.
pub struct Warm {
    share: f64,
    seed: u64,
    /// Touched blocks of extents, one bit for each.
    touched: PerFile<u64>,
}

impl Warm {
    /// A share of all extents; `seed` selects them.
    pub fn new(share: f64, seed: u64) -> Self {
        Self { share, seed, touched: PerFile::default() }
    }

    /// Whether a block was in memory, and is untouched.
    pub fn has(&self, block: Block) -> bool {
        let (extent, bit) = place(block);
        self.was_in_memory(block) && self.touched.get(block.file, extent).unwrap_or(0) & bit == 0
    }

    /// Touch a block; return whether it was in memory, and untouched.
    pub fn touch(&mut self, block: Block) -> bool {
        if self.share == 0.0 {
            return false;
        }
        let (extent, bit) = place(block);
        let was = self.was_in_memory(block);
        let Some(bits) = self.touched.get_mut(block.file, extent) else {
            self.touched.insert(block.file, extent, bit);
            return was;
        };
        let first = *bits & bit == 0;
        *bits |= bit;
        was && first
    }

    /// Drop a removed file.
    pub fn forget(&mut self, file: u32) {
        self.touched.take(file, 0);
    }

    fn was_in_memory(&self, block: Block) -> bool {
        let extent = (u64::from(block.file) << 32) ^ (block.index / EXTENT_BLOCKS);
        self.share > 0.0 && chance(self.seed, extent, WARM) < self.share
    }
}

/// A block's extent, and its bit there.
fn place(block: Block) -> (u64, u64) {
    (block.index / EXTENT_BLOCKS, 1 << (block.index % EXTENT_BLOCKS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_were_in_memory_whole_until_they_are_touched() {
        let mut warm = Warm::new(0.5, 7);
        let block = |file, index| Block { file, index };
        let there: Vec<u32> = (0..1000).filter(|&file| warm.has(block(file, 0))).collect();
        assert!((420..580).contains(&there.len()), "{}", there.len());
        for &file in &there[..10] {
            assert!(warm.has(block(file, EXTENT_BLOCKS - 1)), "of the same extent");
            assert!(warm.touch(block(file, 3)));
            assert!(!warm.has(block(file, 3)) && !warm.touch(block(file, 3)));
            assert!(warm.has(block(file, 4)));
            warm.forget(file);
            assert!(warm.has(block(file, 3)));
        }
        let mut cold = Warm::new(0.0, 7);
        assert!((0..1000).all(|file| !cold.has(block(file, 0)) && !cold.touch(block(file, 0))));
    }
}
