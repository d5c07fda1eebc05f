//! What has just ended, so that a reply overtaken by that of the removal does not revive it.
//!
//! Replies reach the trace in another order than the server worked in (thesis 3.5.5). A call sent
//! before the reply to a removal may have been answered before the removal was done, so its reply
//! says nothing about what was there afterwards.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How long an end is remembered, microseconds: longer than a call waits for its reply.
const KEPT: i64 = 60_000_000;
/// How many ends are remembered at most.
const MOST: usize = 1 << 16;

/// Ends of the last minute, by the hash of what ended.
#[derive(Default, Serialize, Deserialize)]
pub struct Recent {
    times: HashMap<u64, i64>,
    order: VecDeque<(i64, u64)>,
}

impl Recent {
    /// Notes that something ended.
    pub fn ended(&mut self, hash: u64, at: i64) {
        self.times.insert(hash, at);
        self.order.push_back((at, hash));
        while let Some(&(oldest, hash)) = self.order.front() {
            if self.order.len() <= MOST && oldest >= at - KEPT {
                break;
            }
            self.order.pop_front();
            if self.times.get(&hash) == Some(&oldest) {
                self.times.remove(&hash);
            }
        }
    }

    /// Whether it ended after that time.
    pub fn ended_since(&self, hash: u64, time: i64) -> bool {
        self.times.get(&hash).is_some_and(|&at| at >= time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_forgotten_after_a_minute() {
        let mut recent = Recent::default();
        recent.ended(1, 1_000);
        assert!(recent.ended_since(1, 1_000));
        assert!(!recent.ended_since(1, 1_001));
        recent.ended(2, 1_000 + KEPT + 1);
        assert!(!recent.ended_since(1, 0));
        assert!(recent.ended_since(2, 0));
    }

    #[test]
    fn no_more_ends_are_kept_than_fit() {
        let mut recent = Recent::default();
        for hash in 0..=MOST as u64 {
            recent.ended(hash, 5);
        }
        assert!(!recent.ended_since(0, 0));
        assert!(recent.ended_since(1, 0));
        assert_eq!(recent.times.len(), MOST);
    }
}
