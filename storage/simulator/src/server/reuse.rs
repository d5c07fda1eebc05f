//! Reuse distances: the number of other blocks touched since the last touch of a block.
//!
//! A least-recently-used cache has a block if its distance is less than the cache's capacity
//! (Mattson, Gecsei, Slutz and Traiger, "Evaluation techniques for storage hierarchies", IBM
//! Systems Journal 9(2), 1970).

use super::call::{Call, Class};
use super::per_file::PerFile;

/// The reuse distance of a first access.
pub const FIRST: u64 = u64::MAX;

/// Blocks in the order of their last touch.
#[derive(Clone, Debug)]
pub struct Reuse {
    block: u64,
    last: PerFile<u32>,
    /// A binary indexed tree over instants: 1 at the last touch of a block.
    tree: Vec<u32>,
    clock: u32,
    live: u32,
}

impl Reuse {
    /// No touched blocks; blocks have `block` bytes.
    pub fn new(block: u64) -> Self {
        let last = PerFile::default();
        Self { block, last, tree: vec![0; 1 << 16], clock: 0, live: 0 }
    }

    /// Record a call; return the greatest distance of its blocks if it reads, and all or none of
    /// them were touched before. Others have no defined distance.
    pub fn touch(&mut self, call: &Call) -> Option<u64> {
        if let Some((file, end)) = call.cut() {
            self.forget(file, end.div_ceil(self.block));
        }
        if !matches!(call.class, Class::Read | Class::Write) {
            return None;
        }
        let first = call.offset / self.block;
        let end = (call.offset + u64::from(call.bytes.max(1))).div_ceil(self.block);
        let (mut least, mut most) = (FIRST, 0);
        for index in first..end {
            let distance = self.block(call.file, index);
            (least, most) = (least.min(distance), most.max(distance));
        }
        let is_defined = call.class == Class::Read && (most != FIRST || least == FIRST);
        is_defined.then_some(most)
    }

    fn block(&mut self, file: u32, index: u64) -> u64 {
        if self.clock as usize + 1 == self.tree.len() {
            self.renumber();
        }
        self.clock += 1;
        let now = self.clock;
        let before = self.last.insert(file, index, now);
        let distance = before.map_or(FIRST, |before| {
            let between = self.live - self.upto(before);
            self.add(before, u32::MAX);
            u64::from(between)
        });
        self.live += u32::from(before.is_none());
        self.add(now, 1);
        distance
    }

    /// Drop a file's blocks from one on: no cache has them any more.
    fn forget(&mut self, file: u32, from: u64) {
        for at in self.last.take(file, from) {
            self.add(at, u32::MAX);
            self.live -= 1;
        }
    }

    /// Add to an instant's count; `u32::MAX` takes one away.
    fn add(&mut self, at: u32, change: u32) {
        let mut at = at as usize;
        while at < self.tree.len() {
            self.tree[at] = self.tree[at].wrapping_add(change);
            at += at & at.wrapping_neg();
        }
    }

    /// Number of blocks last touched at that instant or before.
    fn upto(&self, at: u32) -> u32 {
        let (mut at, mut sum) = (at as usize, 0u32);
        while at > 0 {
            sum = sum.wrapping_add(self.tree[at]);
            at &= at - 1;
        }
        sum
    }

    /// Renumber the instants, without outdated ones.
    fn renumber(&mut self) {
        let mut order: Vec<_> = self.last.iter().map(|(block, at)| (at, block)).collect();
        order.sort_unstable();
        let room = (order.len() * 2).max(1 << 16);
        self.tree.clear();
        self.tree.resize(room, 0);
        self.clock = 0;
        for (_, block) in order {
            self.clock += 1;
            self.last.insert(block.0, block.1, self.clock);
            self.add(self.clock, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::call::NO_END;
    use super::super::work::mix;
    use super::*;

    fn read(file: u32, offset: u64, bytes: u32) -> Call {
        let class = Class::Read;
        Call {
            at: 0,
            replied: 0,
            stream: 0,
            connection: 0,
            class,
            file,
            target: 0,
            directory: false,
            hints: 0,
            offset,
            bytes,
            end: NO_END,
            stable: false,
        }
    }

    #[test]
    fn distances_are_those_in_a_list() {
        let mut reuse = Reuse::new(4096);
        let mut list: Vec<u64> = Vec::new();
        for step in 0..80_000 {
            let index = mix(step) % 50;
            let found = list.iter().rev().position(|own| *own == index);
            let expected = found.map_or(FIRST, |at| at as u64);
            list.retain(|own| *own != index);
            list.push(index);
            assert_eq!(reuse.touch(&read(1, index * 4096, 4096)), Some(expected), "{step}");
        }
    }

    #[test]
    fn what_was_removed_or_cut_lies_between_nothing() {
        let mut reuse = Reuse::new(4096);
        for (file, offset) in [(1, 0), (2, 0), (2, 4096), (3, 0)] {
            reuse.touch(&read(file, offset, 4096));
        }
        let call = read(9, 0, 0);
        reuse.touch(&Call { class: Class::Setattr, file: 2, end: 5, ..call });
        assert_eq!(reuse.touch(&read(1, 0, 10)), Some(2));
        reuse.touch(&Call { class: Class::Remove, target: 3, ..call });
        reuse.touch(&Call { class: Class::Setattr, file: 2, ..call });
        assert_eq!(reuse.touch(&read(2, 0, 10)), Some(1));
        assert_eq!(reuse.touch(&read(3, 0, 10)), Some(FIRST));
    }

    #[test]
    fn a_read_has_the_distance_of_the_block_touched_longest_ago() {
        let mut reuse = Reuse::new(4096);
        for (file, offset) in [(1, 0), (1, 4096), (2, 0), (3, 0)] {
            reuse.touch(&read(file, offset, 4096));
        }
        assert_eq!(reuse.touch(&read(1, 100, 5000)), Some(3));
        let write = Call { class: Class::Write, ..read(4, 0, 10) };
        assert_eq!(reuse.touch(&write), None);
        assert_eq!(reuse.touch(&read(4, 0, 10)), Some(0));
        assert_eq!(reuse.touch(&read(4, 0, 5000)), None, "one block of two");
        assert_eq!(reuse.touch(&read(5, 0, 5000)), Some(FIRST));
    }
}
