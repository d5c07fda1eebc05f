//! Messages put in the order of their times, in bounded memory.

use super::conversations::Flow;
use super::rpc::Message;
use crate::message::WINDOW;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A row without a reply comes when its call has been given up.
const LATE: i64 = WINDOW + 1_000_000;

/// The most bytes that wait.
const BYTES: usize = 64 << 20;

/// What a message takes besides its own bytes.
const OVERHEAD: usize = 128;

/// A message on its way.
#[derive(Debug, PartialEq, Eq)]
pub struct Sent {
    /// When, in microseconds since the epoch.
    pub time: i64,
    /// By whom to whom.
    pub flow: Flow,
    /// What.
    pub message: Message,
}

struct Place(Reverse<(i64, u64)>, Sent);

impl PartialEq for Place {
    fn eq(&self, other: &Place) -> bool {
        self.0 == other.0
    }
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Place) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Place) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

/// The messages that wait for earlier ones.
///
/// Rows come in about the order of their replies, one without a reply a minute late: so long
/// messages wait, unless they take more than 64 MiB.
#[derive(Default)]
pub struct Queue {
    waiting: BinaryHeap<Place>,
    bytes: usize,
    number: u64,
    newest: Option<i64>,
}

impl Queue {
    /// Takes a message; those of equal times go out in the order in which they came.
    pub fn push(&mut self, sent: Sent) {
        self.newest = self.newest.max(Some(sent.time));
        self.bytes += sent.message.bytes.len() + OVERHEAD;
        self.number += 1;
        self.waiting.push(Place(Reverse((sent.time, self.number)), sent));
    }

    /// The earliest message that no earlier one can precede any more, or of `all` the earliest.
    pub fn pop(&mut self, all: bool) -> Option<Sent> {
        let first = self.waiting.peek()?.1.time;
        let due = self.newest.is_some_and(|newest| newest.saturating_sub(first) > LATE);
        if !(all || due || self.bytes > BYTES) {
            return None;
        }
        let Place(_, sent) = self.waiting.pop()?;
        self.bytes -= sent.message.bytes.len() + OVERHEAD;
        Some(sent)
    }
}
