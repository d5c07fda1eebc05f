//! Messages put in the order of their times, in bounded memory.

use super::conversations::Flow;
use super::rpc::Message;
use crate::message::WINDOW;
use std::collections::BTreeMap;

/// A row without a reply comes when its call has been given up.
const LATE: i64 = WINDOW + 1_000_000;

/// The most bytes that wait.
const BYTES: usize = 64 << 20;

/// What a message takes besides its own bytes.
const OVERHEAD: usize = 128;

/// A message on its way.
#[derive(Debug)]
pub struct Sent {
    /// When, in microseconds since the epoch.
    pub time: i64,
    /// By whom to whom.
    pub flow: Flow,
    /// What.
    pub message: Message,
}

/// The messages that wait for earlier ones.
///
/// Rows come in about the order of their replies, one without a reply a minute late: so long
/// messages wait, unless they take more than 64 MiB.
#[derive(Default)]
pub struct Queue {
    /// By their times, and in the order in which they came.
    waiting: BTreeMap<(i64, u64), Sent>,
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
        self.waiting.insert((sent.time, self.number), sent);
    }

    /// The earliest message that no earlier one can precede any more, or of `all` the earliest.
    pub fn pop(&mut self, all: bool) -> Option<Sent> {
        let (&(first, _), _) = self.waiting.first_key_value()?;
        let due = self.newest.is_some_and(|newest| newest.saturating_sub(first) > LATE);
        if !(all || due || self.bytes > BYTES) {
            return None;
        }
        let (_, sent) = self.waiting.pop_first()?;
        self.bytes -= sent.message.bytes.len() + OVERHEAD;
        Some(sent)
    }
}
