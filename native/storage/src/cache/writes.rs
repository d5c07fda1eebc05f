//! Blocks that wait to be written.

use super::{parts, Lru};
use std::collections::VecDeque;

/// When what was written goes to the medium (Hsu and Smith, section 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteRules {
    /// Room, in blocks.
    pub most: usize,
    /// Writing to the medium ends when no more than this share of the room waits.
    pub low: f64,
    /// It begins when more than this share waits.
    pub high: f64,
    /// Nothing waits for longer, in nanoseconds, unless the arm has no time.
    pub age: u64,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// All its blocks waited before it.
    Again,
    /// It made blocks wait.
    Anew,
    /// There is no room for it, and it is not taken.
    NoRoom,
}

/// Blocks that go to the medium in one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The first.
    pub block: u64,
    /// How many.
    pub blocks: u64,
}

/// What was written, until it is on the medium; the block written least lately goes first, and with it
/// those right before and behind that wait, too.
#[derive(Clone, Debug)]
pub struct WriteBuffer {
    rules: WriteRules,
    waiting: Lru<Waits>,
    /// Since when blocks wait; those of which this is no longer so are skipped.
    since: VecDeque<(u64, u64)>,
    leaving: Vec<Group>,
    leaving_blocks: u64,
    draining: bool,
}

#[derive(Clone, Copy, Debug)]
struct Waits {
    held: u8,
    since: u64,
}

impl WriteBuffer {
    /// An empty one.
    pub fn new(rules: WriteRules) -> Self {
        Self {
            rules,
            waiting: Lru::default(),
            since: VecDeque::new(),
            leaving: Vec::new(),
            leaving_blocks: 0,
            draining: false,
        }
    }

    /// Take a write at time `now`, not before the last; one that is larger than the room, if nothing
    /// else is there.
    pub fn write(&mut self, sector: u64, sectors: u64, now: u64) -> Written {
        let new =
            parts(sector, sectors).filter(|(block, _)| self.waiting.get(*block).is_none()).count();
        let used = self.waiting.len() + self.leaving_blocks as usize;
        if new > 0 && used > 0 && used + new > self.rules.most {
            self.draining = true;
            return Written::NoRoom;
        }
        for (block, own) in parts(sector, sectors) {
            if let Some(waits) = self.waiting.touch(block) {
                waits.held |= own;
            } else {
                self.waiting.add(block, Waits { held: own, since: now });
                self.since.push_back((now, block));
            }
        }
        self.draining |= self.above(self.rules.high);
        if new == 0 {
            Written::Again
        } else {
            Written::Anew
        }
    }

    /// Take the blocks that are to go to the medium at time `now`; they keep their room until they are
    /// [`there`](Self::there).
    pub fn leave(&mut self, now: u64) -> Option<Group> {
        let drained = self.waiting.oldest().filter(|_| self.draining);
        let first = drained.or_else(|| self.overdue(now))?;
        let group = self.group(first);
        for block in group.block..group.block + group.blocks {
            self.waiting.remove(block);
        }
        self.leaving.push(group);
        self.leaving_blocks += group.blocks;
        self.draining = self.draining && self.above(self.rules.low);
        Some(group)
    }

    /// Give the room of blocks back that are on the medium.
    pub fn there(&mut self, group: Group) {
        if let Some(at) = self.leaving.iter().position(|own| *own == group) {
            self.leaving.swap_remove(at);
            self.leaving_blocks -= group.blocks;
        }
    }

    /// Which sectors of a block are here, a bit each; of one that is on its way to the medium, all.
    pub fn held(&self, block: u64) -> u8 {
        let leaves = |own: &Group| (own.block..own.block + own.blocks).contains(&block);
        if self.leaving.iter().any(leaves) {
            return 0xff;
        }
        self.waiting.get(block).map_or(0, |waits| waits.held)
    }

    /// When a block will have waited for as long as it may.
    pub fn due(&mut self) -> Option<u64> {
        while let Some(&(since, block)) = self.since.front() {
            if self.waiting.get(block).is_some_and(|waits| waits.since == since) {
                return Some(since.saturating_add(self.rules.age));
            }
            self.since.pop_front();
        }
        None
    }

    /// Whether less waits than what is midway between the marks.
    pub fn is_drained(&self) -> bool {
        !self.above(f64::midpoint(self.rules.low, self.rules.high))
    }

    /// Whether more than a share of the room waits.
    fn above(&self, share: f64) -> bool {
        self.waiting.len() as f64 > share * self.rules.most as f64
    }

    /// A block that has waited for as long as it may.
    fn overdue(&mut self, now: u64) -> Option<u64> {
        self.due().filter(|due| *due <= now)?;
        self.since.front().map(|own| own.1)
    }

    /// A block, with those right before and behind it that wait.
    fn group(&self, block: u64) -> Group {
        let waits = |block: &u64| self.waiting.get(*block).is_some();
        let before = (0..block).rev().take_while(waits).count() as u64;
        let behind = (block + 1..).take_while(waits).count() as u64;
        Group { block: block - before, blocks: before + 1 + behind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::BLOCK;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Random;

    fn rules(low: f64, high: f64, age: u64) -> WriteRules {
        WriteRules { most: 10, low, high, age }
    }

    /// The same by a list of blocks, each with when it was first and last written, the latter counted.
    #[derive(Default)]
    struct Naive {
        waiting: Vec<(u64, u64, u64)>,
        leaving: Vec<Group>,
        draining: bool,
        writes: u64,
    }

    impl Naive {
        fn waits(&self, block: u64) -> bool {
            self.waiting.iter().any(|own| own.0 == block)
        }

        fn write(&mut self, rules: WriteRules, block: u64, blocks: u64, now: u64) -> Written {
            let new = (block..block + blocks).filter(|own| !self.waits(*own)).count();
            let leaving: u64 = self.leaving.iter().map(|own| own.blocks).sum();
            let used = self.waiting.len() + leaving as usize;
            if new > 0 && used > 0 && used + new > rules.most {
                self.draining = true;
                return Written::NoRoom;
            }
            for block in block..block + blocks {
                self.writes += 1;
                match self.waiting.iter_mut().find(|own| own.0 == block) {
                    Some(own) => own.2 = self.writes,
                    None => self.waiting.push((block, now, self.writes)),
                }
            }
            self.draining |= self.waiting.len() as f64 > rules.high * rules.most as f64;
            if new == 0 {
                Written::Again
            } else {
                Written::Anew
            }
        }

        fn leave(&mut self, rules: WriteRules, now: u64) -> Option<Group> {
            let least = self.waiting.iter().min_by_key(|own| own.2).filter(|_| self.draining);
            let old = self.waiting.iter().filter(|own| own.1 + rules.age <= now);
            let first = least.or(old.min_by_key(|own| (own.1, own.0)))?.0;
            let mut all = vec![first];
            while first > 0 && all[0] > 0 && self.waits(all[0] - 1) {
                all.insert(0, all[0] - 1);
            }
            while self.waits(all[all.len() - 1] + 1) {
                all.push(all[all.len() - 1] + 1);
            }
            self.waiting.retain(|own| !all.contains(&own.0));
            let group = Group { block: all[0], blocks: all.len() as u64 };
            self.leaving.push(group);
            self.draining &= self.waiting.len() as f64 > rules.low * rules.most as f64;
            Some(group)
        }
    }

    #[test]
    fn it_does_what_a_naive_buffer_does() {
        for (seed, rules) in
            (1..).zip([rules(0.2, 0.8, 50), rules(0.0, 0.0, 1_000), rules(1.0, 1.0, 300)])
        {
            let mut random = Random::seed_from_u64(seed);
            let (mut buffer, mut naive) = (WriteBuffer::new(rules), Naive::default());
            let mut full = 0;
            for now in 0..4_000 {
                let (block, blocks) = (random.next_u64() % 30, 1 + random.next_u64() % 3);
                if random.next_u64() % 2 == 0 {
                    let found = buffer.write(block * BLOCK, blocks * BLOCK, now);
                    assert_eq!(found, naive.write(rules, block, blocks, now));
                    full += usize::from(found == Written::NoRoom);
                } else if random.next_u64() % 2 == 0 {
                    assert_eq!(buffer.leave(now), naive.leave(rules, now));
                } else if let Some(group) = naive.leaving.pop() {
                    buffer.there(group);
                }
                for block in 0..34 {
                    let leaves = |own: &Group| (own.block..own.block + own.blocks).contains(&block);
                    let held = naive.waits(block) || naive.leaving.iter().any(leaves);
                    assert_eq!(buffer.held(block) == 0xff, held);
                }
            }
            assert!(full > 20, "{full}");
        }
    }

    #[test]
    fn it_drains_from_the_high_mark_to_the_low_one() {
        let mut buffer = WriteBuffer::new(rules(0.2, 0.8, u64::MAX));
        for block in 0..8 {
            assert_eq!(buffer.write(2 * block * BLOCK, 1, 0), Written::Anew);
            assert_eq!(buffer.leave(0), None);
        }
        assert_eq!(buffer.write(0, 1, 0), Written::Again);
        buffer.write(90 * BLOCK, 1, 0);
        let left: Vec<u64> =
            std::iter::from_fn(|| buffer.leave(0)).map(|group| group.block).collect();
        // Block 0 was written again, and is not the first to go.
        assert_eq!(left, [2, 4, 6, 8, 10, 12, 14]);
    }

    #[test]
    fn what_has_waited_for_as_long_as_it_may_goes() {
        let mut buffer = WriteBuffer::new(rules(1.0, 1.0, 100));
        buffer.write(0, 8, 7);
        buffer.write(0, 8, 90);
        assert_eq!(buffer.due(), Some(107));
        assert_eq!(buffer.leave(106), None);
        assert_eq!(buffer.leave(107), Some(Group { block: 0, blocks: 1 }));
        assert_eq!(buffer.due(), None);
    }
}
