//! Recent ends, so that a reply overtaken by that of the removal does not revive the object.
//!
//! Replies reach the trace in another order than the server's (thesis 3.5.5). A call sent before
//! the reply to a removal may have been answered before the removal, so its reply says nothing
//! about the time after it.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How long an end is remembered, microseconds: longer than a call waits for its reply.
const MEMORY_US: i64 = 60_000_000;
/// The most ends remembered.
const MOST: usize = 1 << 16;

/// Ends of the last minute, by hash.
#[derive(Default, Serialize, Deserialize)]
pub struct Recent {
    times: HashMap<u64, i64>,
    order: VecDeque<(i64, u64)>,
}

impl Recent {
    /// Records an end.
    pub fn ended(&mut self, hash: u64, at: i64) {
        self.times.insert(hash, at);
        self.order.push_back((at, hash));
        while let Some(&(oldest, hash)) = self.order.front() {
            if self.order.len() <= MOST && oldest >= at - MEMORY_US {
                break;
            }
            self.order.pop_front();
            if self.times.get(&hash) == Some(&oldest) {
                self.times.remove(&hash);
            }
        }
    }

    /// Whether it ended after a time.
    pub fn ended_since(&self, hash: u64, time: i64) -> bool {
        self.times.get(&hash).is_some_and(|&at| at >= time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_dropped_after_a_minute() {
        let mut recent = Recent::default();
        recent.ended(1, 1_000);
        assert!(recent.ended_since(1, 1_000));
        assert!(!recent.ended_since(1, 1_001));
        recent.ended(2, 1_000 + MEMORY_US + 1);
        assert!(!recent.ended_since(1, 0));
        assert!(recent.ended_since(2, 0));
    }

    #[test]
    fn remembered_ends_are_bounded() {
        let mut recent = Recent::default();
        for hash in 0..=MOST as u64 {
            recent.ended(hash, 5);
        }
        assert!(!recent.ended_since(0, 0));
        assert!(recent.ended_since(1, 0));
        assert_eq!(recent.times.len(), MOST);
    }
}
