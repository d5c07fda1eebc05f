//! Unreadable records: set aside with their place and the reason, and counted.

use std::collections::BTreeMap;

/// The most bytes stored of a damaged record.
pub const MOST_BYTES: usize = 4096;

/// The most records pending.
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
    /// Its bytes, at most [`MOST_BYTES`] of them.
    pub bytes: Vec<u8>,
}

/// The damaged records of a trace.
#[derive(Debug, Default)]
pub struct Quarantine {
    /// The numbers of damaged records, by reason.
    pub counts: BTreeMap<&'static str, u64>,
    held: Vec<Damaged>,
}

impl Quarantine {
    /// Sets a record aside. `bytes` may be the whole record: at most [`MOST_BYTES`] are stored.
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

    /// Like [`Quarantine::set_aside`], for a record with only its first `bytes` present.
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
            bytes: bytes[..bytes.len().min(MOST_BYTES)].to_vec(),
        });
    }

    /// The number of damaged records.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Whether they should be taken.
    pub fn full(&self) -> bool {
        self.held.len() >= WAITING
    }

    /// The records set aside since the last call, in the order of the trace: pending records are
    /// judged later.
    pub fn take(&mut self) -> Vec<Damaged> {
        self.held.sort_by_key(|record| record.offset);
        std::mem::take(&mut self.held)
    }
}
