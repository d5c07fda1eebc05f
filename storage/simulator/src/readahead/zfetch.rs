//! OpenZFS's reading ahead.

use super::{Ahead, Held, Read};
use serde::Deserialize;
use std::collections::HashMap;
use std::ops::Range;

/// OpenZFS's `zfetch` parameters, in bytes but for the number of streams.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ZfetchRules {
    /// Streams of a file at most (`zfetch_max_streams`).
    pub streams: usize,
    /// Initial distance of reading ahead; it doubles at each read.
    pub min_distance: u64,
    /// Greatest distance of reading ahead.
    pub max_distance: u64,
    /// Greatest gap of an early read that still belongs to a stream (`zfetch_max_reorder`); 0, as
    /// before OpenZFS 2.4: none.
    pub max_reorder: u64,
    /// Idle nanoseconds after which a stream may be replaced (`zfetch_min_sec_reap`).
    pub min_reap: u64,
}

impl ZfetchRules {
    /// Those of OpenZFS 2.4.
    pub const V2_4: Self = Self {
        streams: 8,
        min_distance: 4 << 20,
        max_distance: 64 << 20,
        max_reorder: 16 << 20,
        min_reap: 1_000_000_000,
    };
    /// Those of OpenZFS 2.2.
    pub const V2_2: Self = Self { max_reorder: 0, ..Self::V2_4 };
}

/// Streams of each file: positions of sequential reading.
#[derive(Clone, Debug)]
pub struct Zfetch {
    rules: ZfetchRules,
    files: HashMap<u64, Vec<Stream>>,
}

#[derive(Clone, Debug)]
struct Stream {
    next: u64,
    /// Reads that came early, in the order of their offsets.
    early: Vec<Range<u64>>,
    /// End of the data read ahead.
    fetched: u64,
    distance: u64,
    /// Time of the last read.
    used: u64,
}

impl Zfetch {
    /// No file has a stream.
    pub fn new(rules: ZfetchRules) -> Self {
        Self { rules, files: HashMap::new() }
    }
}

impl Ahead for Zfetch {
    fn read(&mut self, file: u64, read: &Read, _: &dyn Held) -> Range<u64> {
        let streams = self.files.entry(file).or_default();
        let belongs = |own: &&mut Stream| own.accepts(read.offset, self.rules.max_reorder);
        if let Some(stream) = streams.iter_mut().find(belongs) {
            stream.used = read.at;
            stream.take(read);
            return stream.fetch(read, &self.rules);
        }
        let end = read.end();
        let new = Stream { next: end, early: vec![], fetched: end, distance: 0, used: read.at };
        if streams.len() < self.rules.streams {
            streams.push(new);
        } else if let Some(oldest) = streams.iter_mut().min_by_key(|own| own.used) {
            if oldest.used + self.rules.min_reap <= read.at {
                *oldest = new;
            }
        }
        end..end
    }
}

impl Stream {
    /// Whether a read continues here, or will once others have come.
    fn accepts(&self, offset: u64, reorder: u64) -> bool {
        (self.next..=self.next + reorder).contains(&offset)
    }

    /// Advance, as far as reads have come without a gap.
    fn take(&mut self, read: &Read) {
        let place = self.early.partition_point(|own| own.start < read.offset);
        self.early.insert(place, read.offset..read.end());
        let came = self.early.iter().take_while(|own| {
            let follows = own.start <= self.next;
            if follows {
                self.next = self.next.max(own.end);
            }
            follows
        });
        let came = came.count();
        self.early.drain(..came);
    }

    /// The bytes to read ahead of a read.
    fn fetch(&mut self, read: &Read, rules: &ZfetchRules) -> Range<u64> {
        self.distance = if self.distance < rules.min_distance {
            (2 * self.distance.max(read.bytes)).min(rules.min_distance)
        } else {
            (self.distance + self.distance / 8).min(rules.max_distance)
        };
        let from = self.fetched.max(self.next);
        let to = self.next + self.distance;
        if to <= from {
            return read.offset..read.offset;
        }
        self.fetched = to;
        from..to
    }
}
