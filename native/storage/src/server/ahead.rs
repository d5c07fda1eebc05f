//! How much of a file a server reads before it is asked.
//!
//! The rules are those of Ellard and Seltzer, "NFS tricks and benchmarking traps", FREENIX 2003, and
//! of Linux since 5.4, as far as the captured calls show them.

use foldhash::fast::FixedState;
use serde::Deserialize;
use std::collections::HashMap;

/// How it is told whether a file is read from front to back.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Nothing is read ahead.
    None,
    /// FreeBSD 4's: a read elsewhere makes a file one that is not.
    Default,
    /// A read within 64 KB of where it was expected changes nothing; one farther away halves.
    SlowDown,
    /// The same for up to eight places of a file.
    Cursor,
    /// Every read is taken for sequential.
    Always,
    /// A window that doubles with each read that goes on where the last one ended.
    Linux,
}

/// A policy, and the most bytes that are read ahead.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Ahead {
    /// How sequential reads are told.
    pub policy: Policy,
    /// The most bytes ahead of a read.
    pub most: u64,
}

/// The heuristic counts calls up to here (`IO_SEQMAX`).
const COUNT_MOST: u32 = 127;
/// Bytes ahead for each call that was counted.
const UNIT: u64 = 16 << 10;
/// How far from the expected place a read may be.
const NEAR: u64 = 64 << 10;
/// How many places of a file are followed.
const CURSORS: usize = 8;
/// Linux begins with so many bytes.
const FIRST_WINDOW: u64 = 16 << 10;

/// A place in a file where somebody reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    next: u64,
    count: u32,
    used: u64,
}

/// Where each file is being read, and how sequentially.
#[derive(Clone, Debug)]
pub struct Heuristic {
    rule: Ahead,
    files: HashMap<u32, Vec<Place>, FixedState>,
    reads: u64,
}

impl Heuristic {
    /// A heuristic that has seen no read.
    pub fn new(rule: Ahead) -> Self {
        Self { rule, files: HashMap::with_hasher(FixedState::default()), reads: 0 }
    }

    /// Take note of a read; return how many bytes behind it should be read ahead.
    pub fn seen(&mut self, file: u32, offset: u64, bytes: u64) -> u64 {
        if self.rule.policy == Policy::None {
            return 0;
        }
        self.reads += 1;
        let places = self.files.entry(file).or_default();
        let cursors = if self.rule.policy == Policy::Cursor { CURSORS } else { 1 };
        let found = find(places, self.rule.policy, offset);
        let place = found.unwrap_or_else(|| admit(places, cursors, offset));
        let own = &mut places[place];
        own.count = counted(self.rule.policy, *own, offset);
        own.next = offset + bytes;
        own.used = self.reads;
        let wanted = match self.rule.policy {
            Policy::Linux if own.count == 0 => 0,
            Policy::Linux => FIRST_WINDOW << own.count.min(20),
            _ => u64::from(own.count) * UNIT,
        };
        wanted.min(self.rule.most)
    }
}

/// The place that a read goes on at: the nearest that is near, or a file's only one.
fn find(places: &[Place], policy: Policy, offset: u64) -> Option<usize> {
    let near = places.iter().enumerate().min_by_key(|(_, own)| own.next.abs_diff(offset))?;
    let is_it = policy != Policy::Cursor || near.1.next.abs_diff(offset) <= NEAR;
    is_it.then_some(near.0)
}

/// Follow a new place, instead of the one used least lately if there are as many as there may be.
fn admit(places: &mut Vec<Place>, most: usize, offset: u64) -> usize {
    let new = Place { next: offset, count: if offset == 0 { 4 } else { 0 }, used: 0 };
    if places.len() < most {
        places.push(new);
        return places.len() - 1;
    }
    let oldest = places.iter().enumerate().min_by_key(|(_, own)| own.used);
    let oldest = oldest.map_or(0, |(at, _)| at);
    places[oldest] = new;
    oldest
}

/// What a place's count becomes when a read begins at an offset.
fn counted(policy: Policy, place: Place, offset: u64) -> u32 {
    let goes_on = offset == place.next || (offset == 0 && place.count > 0);
    let near = offset.abs_diff(place.next) <= NEAR;
    match policy {
        Policy::None => 0,
        Policy::Always => COUNT_MOST,
        _ if goes_on => (place.count + 1).min(COUNT_MOST),
        Policy::Default => u32::from(place.count > 1),
        Policy::Linux => 0,
        Policy::SlowDown | Policy::Cursor if near => place.count,
        Policy::SlowDown | Policy::Cursor => place.count / 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KB: u64 = 1 << 10;

    fn reads(policy: Policy, blocks: &[u64]) -> Vec<u64> {
        let mut own = Heuristic::new(Ahead { policy, most: 256 * KB });
        blocks.iter().map(|block| own.seen(7, block * 8 * KB, 8 * KB) / KB).collect()
    }

    #[test]
    fn reads_that_go_on_are_followed_by_ever_more() {
        assert_eq!(reads(Policy::Default, &[0, 1, 2]), [80, 96, 112]);
        assert_eq!(reads(Policy::Linux, &[5, 6, 7, 8, 9, 10])[1..], [64, 128, 256, 256, 256]);
        assert_eq!(reads(Policy::None, &[0, 1]), [0, 0]);
        assert_eq!(reads(Policy::Always, &[9, 3]), [256, 256]);
    }

    #[test]
    fn two_reads_that_change_places_reset_the_default_and_not_slow_down() {
        let swapped = [0, 1, 2, 4, 3, 5];
        assert_eq!(reads(Policy::Default, &swapped)[3..], [16, 0, 0]);
        assert_eq!(reads(Policy::SlowDown, &swapped)[3..], [112, 112, 112]);
        assert_eq!(reads(Policy::Linux, &swapped)[3..], [0, 0, 0]);
    }

    #[test]
    fn only_cursors_follow_two_places_of_a_file() {
        let strides = [1000, 2000, 1001, 2001, 1002, 2002, 1003, 2003];
        assert_eq!(reads(Policy::SlowDown, &strides)[6..], [0, 0]);
        assert_eq!(reads(Policy::Cursor, &strides)[6..], [64, 64]);
    }

    #[test]
    fn of_more_places_than_are_followed_the_one_used_least_lately_is_forgotten() {
        let strides: Vec<u64> = (0..18).map(|read| 1000 * (1 + read % 9) + read / 9).collect();
        assert!(reads(Policy::Cursor, &strides)[9..].iter().all(|ahead| *ahead == 16));
    }
}
