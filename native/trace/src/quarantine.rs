//! Records that could not be read: set aside with their place and the reason, and counted.

use std::collections::BTreeMap;

/// The most bytes of a damaged record that are kept.
pub const KEPT: usize = 4096;

/// How many records may wait until they are taken.
const WAITING: usize = 4096;

/// One damaged record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Where it begins, in decompressed bytes.
    pub offset: u64,
    /// Its line, from 1, in text.
    pub line: Option<u64>,
    /// Its length in bytes.
    pub length: u64,
    /// A short constant word for counting, such as `zero-block`.
    pub reason: &'static str,
    /// What was expected there, in words.
    pub expected: String,
    /// Its bytes, at most [`KEPT`] of them.
    pub bytes: Vec<u8>,
}

/// The damaged records of a trace.
#[derive(Debug, Default)]
pub struct Quarantine {
    /// How many there were, by reason.
    pub counts: BTreeMap<&'static str, u64>,
    held: Vec<Damaged>,
}

impl Quarantine {
    /// Sets a record aside. `bytes` may be the whole record: what exceeds [`KEPT`] is not kept.
    pub fn set_aside(
        &mut self,
        offset: u64,
        line: Option<u64>,
        reason: &'static str,
        expected: impl Into<String>,
        bytes: &[u8],
    ) {
        self.set_aside_long(offset, line, bytes.len() as u64, reason, expected, bytes);
    }

    /// As [`Quarantine::set_aside`], for a record of which only the first `bytes` are at hand.
    pub fn set_aside_long(
        &mut self,
        offset: u64,
        line: Option<u64>,
        length: u64,
        reason: &'static str,
        expected: impl Into<String>,
        bytes: &[u8],
    ) {
        *self.counts.entry(reason).or_default() += 1;
        self.held.push(Damaged {
            offset,
            line,
            length,
            reason,
            expected: expected.into(),
            bytes: bytes[..bytes.len().min(KEPT)].to_vec(),
        });
    }

    /// How many there were.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Whether it is time to take them.
    pub fn full(&self) -> bool {
        self.held.len() >= WAITING
    }

    /// The records set aside since the last time, in the order of the trace: what is wrong with one
    /// that was doubted comes to light later.
    pub fn take(&mut self) -> Vec<Damaged> {
        self.held.sort_by_key(|record| record.offset);
        std::mem::take(&mut self.held)
    }
}
