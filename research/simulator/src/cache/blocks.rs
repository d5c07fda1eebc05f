//! Blocks that were read.

use super::{parts, Lru};

/// Blocks of 4 KiB, with the present sectors of each; the least recently used is evicted.
#[derive(Clone, Debug)]
pub struct Blocks {
    held: Lru<u8>,
    most: usize,
}

impl Blocks {
    /// An empty cache of `most` blocks.
    pub fn new(most: usize) -> Self {
        Self { held: Lru::default(), most }
    }

    /// The sectors of a block that are present, a bit each.
    pub fn held(&self, block: u64) -> u8 {
        self.held.get(block).copied().unwrap_or(0)
    }

    /// Mark the present blocks of sectors as used.
    pub fn touch(&mut self, sector: u64, sectors: u64) {
        for (block, _) in parts(sector, sectors) {
            self.held.touch(block);
        }
    }

    /// Insert sectors; their blocks become the most recently used.
    pub fn fill(&mut self, sector: u64, sectors: u64) {
        for (block, own) in parts(sector, sectors) {
            if let Some(held) = self.held.touch(block) {
                *held |= own;
            } else {
                self.held.replace(block, own, self.most);
            }
        }
    }

    /// Note that sectors were written elsewhere: present blocks get them, too.
    pub fn overwrite(&mut self, sector: u64, sectors: u64) {
        for (block, own) in parts(sector, sectors) {
            if let Some(held) = self.held.get_mut(block) {
                *held |= own;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::BLOCK;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Random;
    use std::collections::HashSet;

    /// The same by a list of blocks and a set of sectors.
    struct Naive {
        order: Vec<u64>,
        sectors: HashSet<u64>,
        most: usize,
    }

    impl Naive {
        fn fill(&mut self, sector: u64, sectors: u64) {
            for sector in sector..sector + sectors {
                let block = sector / BLOCK;
                self.order.retain(|own| *own != block);
                self.order.push(block);
                if self.order.len() > self.most {
                    let gone = self.order.remove(0);
                    self.sectors.retain(|own| own / BLOCK != gone);
                }
                self.sectors.insert(sector);
            }
        }

        fn touch(&mut self, sector: u64, sectors: u64) {
            for block in sector / BLOCK..(sector + sectors).div_ceil(BLOCK) {
                if let Some(at) = self.order.iter().position(|own| *own == block) {
                    let own = self.order.remove(at);
                    self.order.push(own);
                }
            }
        }

        fn held(&self, block: u64) -> u8 {
            let there = |bit: &u64| self.sectors.contains(&(block * BLOCK + bit));
            (0..BLOCK).filter(there).map(|bit| 1 << bit).sum()
        }
    }

    #[test]
    fn it_holds_what_a_naive_cache_holds() {
        let mut random = Random::seed_from_u64(9);
        let mut naive = Naive { order: vec![], sectors: HashSet::new(), most: 6 };
        let mut blocks = Blocks::new(6);
        for _ in 0..3_000 {
            let (sector, sectors) = (random.next_u64() % 90, 1 + random.next_u64() % 20);
            if random.next_u64() % 2 == 0 {
                naive.fill(sector, sectors);
                blocks.fill(sector, sectors);
            } else {
                naive.touch(sector, sectors);
                blocks.touch(sector, sectors);
            }
            for block in 0..15 {
                assert_eq!(blocks.held(block), naive.held(block));
            }
        }
    }

    #[test]
    fn what_was_written_is_there_if_its_block_is() {
        let mut blocks = Blocks::new(2);
        blocks.fill(0, 2);
        blocks.overwrite(1, 10);
        assert_eq!((blocks.held(0), blocks.held(1)), (0xff, 0));
    }

    #[test]
    fn no_room_holds_nothing() {
        let mut blocks = Blocks::new(0);
        blocks.fill(0, 20);
        assert_eq!(blocks.held(0), 0);
    }
}
