//! The write buffer beside a naive one.

use super::*;
use crate::cache::BLOCK;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;

fn rules(low: f64, high: f64, age: u64) -> WriteRules {
    WriteRules { most: 10, low, high, age }
}

/// The same as a list of blocks, each with the time of its first write and the number of its last.
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
            Written::New
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
        assert_eq!(buffer.write(2 * block * BLOCK, 1, 0), Written::New);
        assert_eq!(buffer.leave(0), None);
    }
    assert_eq!(buffer.write(0, 1, 0), Written::Again);
    buffer.write(90 * BLOCK, 1, 0);
    let left: Vec<u64> = std::iter::from_fn(|| buffer.leave(0)).map(|group| group.block).collect();
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
