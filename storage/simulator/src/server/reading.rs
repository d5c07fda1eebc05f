//! Reads: on demand, and ahead.

use super::ahead::Reader;
use super::cache::Block;
use super::call::Call;
use super::store::Store;
use crate::cluster::{Blocks, ClusterRules, Wanted};
use crate::readahead::{Held, Read};
use std::ops::Range;

/// Number of requests that a call waits for, and their bytes.
type Waited = (u32, u64);

impl Store {
    /// Read for a call, and ahead of it.
    pub fn read(&mut self, call: &Call, flight: usize, now: u64) -> Waited {
        let mut reader = std::mem::take(&mut self.reader);
        let read = Read { offset: call.offset, bytes: call.bytes.into(), at: now };
        let waited = match &mut reader {
            Reader::Nothing => self.demand(call, flight, now),
            Reader::Counted(heuristic, rules) => {
                let count = heuristic.seen(call.file.into(), &read).into();
                let clusters = self.clusters(*rules, call, count, flight, now);
                let rest = self.demand(call, flight, now);
                (clusters.0 + rest.0, clusters.1 + rest.1)
            }
            Reader::Own(own) => {
                let range = own.read(call.file.into(), &read, &*self);
                let waited = self.demand(call, flight, now);
                let upto = range.end.min(end_of_file(call)).div_ceil(self.block);
                self.bring(call.file, range.start / self.block..upto, None, now);
                waited
            }
        };
        self.reader = reader;
        waited
    }

    /// Read the missing blocks of a call, and wait for those on their way.
    fn demand(&mut self, call: &Call, flight: usize, now: u64) -> Waited {
        let (mut awaited, mut bytes) = (0, 0);
        let mut missing: Option<u64> = None;
        let (first, end) = self.blocks(call);
        for index in first..end {
            self.asked += 1;
            let block = Block { file: call.file, index };
            let found = self.cache.touch(block);
            if found.is_none() && !self.was_warm(block) {
                missing.get_or_insert(index);
                continue;
            }
            self.hits += u64::from(found.is_none_or(|request| request.is_none()));
            if let Some(start) = missing.take() {
                awaited += self.fill(call.file, start, index, Some(flight), now);
                bytes += (index - start) * self.block;
            }
            awaited += self.wait(found.flatten(), flight);
        }
        if let Some(start) = missing {
            awaited += self.fill(call.file, start, end, Some(flight), now);
            bytes += (end - start) * self.block;
        }
        (awaited, bytes)
    }

    /// Read whole blocks of FreeBSD's file system for a call, and clusters ahead of it.
    fn clusters(
        &mut self,
        rules: ClusterRules,
        call: &Call,
        count: u64,
        flight: usize,
        now: u64,
    ) -> Waited {
        let (end, mut ahead) = (call.offset + u64::from(call.bytes.max(1)), Vec::new());
        let pages = rules.block / self.block;
        let upto = end_of_file(call).div_ceil(self.block);
        let pages_of = |own: &Range<u64>| own.start * pages..(own.end * pages).min(upto);
        let mut waited = (0, 0);
        for block in call.offset / rules.block..end.div_ceil(rules.block) {
            let bytes = end - call.offset.max(block * rules.block);
            let wanted = Wanted { file: call.file.into(), block, bytes, count };
            let mut clusters = Clusters { store: self, pages, upto, marks: Vec::new() };
            let asked = rules.read(&wanted, &mut clusters, &mut ahead);
            let marks = clusters.marks;
            if let Some(asked) = asked {
                let found = self.bring(call.file, pages_of(&asked), Some(flight), now);
                waited = (waited.0 + found.0, waited.1 + found.1);
            }
            for cluster in ahead.drain(..) {
                self.bring(call.file, pages_of(&cluster), None, now);
            }
            for block in marks {
                self.mark(Block { file: call.file, index: block * pages });
            }
        }
        waited
    }

    /// Read the missing ones of some blocks, for a call or ahead.
    fn bring(&mut self, file: u32, blocks: Range<u64>, flight: Option<usize>, now: u64) -> Waited {
        let (mut awaited, mut count) = (0, 0);
        let mut start = blocks.start;
        while start < blocks.end {
            let there = |index: &u64| self.holds(Block { file, index: *index });
            let first = (start..blocks.end).find(|index| !there(index)).unwrap_or(blocks.end);
            let behind = (first..blocks.end).find(there).unwrap_or(blocks.end);
            if first < behind {
                awaited += self.fill(file, first, behind, flight, now);
                count += behind - first;
            }
            start = behind.max(first + 1);
        }
        if flight.is_none() {
            self.ahead += count;
        }
        (awaited, count * self.block)
    }

    /// Wait for a request under way, if any; return how many more are awaited.
    fn wait(&mut self, request: Option<u32>, flight: usize) -> u32 {
        let Some(job) = request.and_then(|request| self.jobs.get_mut(request as usize)) else {
            return 0;
        };
        if job.waiters.last() == Some(&flight) {
            return 0;
        }
        job.waiters.push(flight);
        1
    }

    fn mark(&mut self, block: Block) {
        if !self.cache.holds(block) {
            self.was_warm(block);
        }
        self.cache.mark(block);
    }
}

/// The known end of a call's file.
fn end_of_file(call: &Call) -> u64 {
    call.end.max(call.offset + u64::from(call.bytes))
}

impl Held for Store {
    fn held(&self, file: u64, byte: u64) -> bool {
        self.holds(Block { file: file as u32, index: byte / self.block })
    }
}

/// The cache with blocks of the file system, each of `pages` cache blocks.
struct Clusters<'a> {
    store: &'a mut Store,
    pages: u64,
    /// The page behind the file's last.
    upto: u64,
    /// Blocks to mark, once they are there.
    marks: Vec<u64>,
}

impl Blocks for Clusters<'_> {
    fn held(&self, file: u64, block: u64) -> bool {
        let pages = block * self.pages..((block + 1) * self.pages).min(self.upto);
        !pages.is_empty()
            && pages.into_iter().all(|index| self.store.holds(Block { file: file as u32, index }))
    }

    fn contiguous(&self, _: u64, block: u64) -> u64 {
        self.upto.div_ceil(self.pages).saturating_sub(block)
    }

    fn mark(&mut self, _: u64, block: u64) {
        self.marks.push(block);
    }

    fn unmark(&mut self, file: u64, block: u64) -> bool {
        self.store.cache.unmark(Block { file: file as u32, index: block * self.pages })
    }
}
