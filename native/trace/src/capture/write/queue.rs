//! Sorts messages by time, in bounded memory.

use super::conversations::Flow;
use super::rpc::Message;
use crate::message::WINDOW;
use std::collections::BTreeMap;

/// The delay of a row without a reply: until its call was given up.
const LATE: i64 = WINDOW + 1_000_000;

/// The most bytes pending.
const BYTES: usize = 64 << 20;

/// The bytes of a message's bookkeeping.
const OVERHEAD: usize = 128;

/// A message on its way.
#[derive(Debug)]
pub struct Sent {
    /// Its time, in microseconds since the epoch.
    pub time: i64,
    /// Its sender and receiver.
    pub flow: Flow,
    /// The message.
    pub message: Message,
}

/// The messages pending earlier ones.
///
/// Rows come in about the order of their replies, and rows without one a minute late. Messages are
/// pending that long, unless they take more than 64 MiB.
#[derive(Default)]
pub struct Queue {
    /// By time, then in the order of arrival.
    waiting: BTreeMap<(i64, u64), Sent>,
    bytes: usize,
    number: u64,
    newest: Option<i64>,
}

impl Queue {
    /// Adds a message; messages of equal times leave in the order of arrival.
    pub fn push(&mut self, sent: Sent) {
        self.newest = self.newest.max(Some(sent.time));
        self.bytes += sent.message.bytes.len() + OVERHEAD;
        self.number += 1;
        self.waiting.insert((sent.time, self.number), sent);
    }

    /// The earliest message, once no earlier one can come, or at once with `all`.
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
