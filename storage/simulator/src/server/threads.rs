//! The threads that answer calls, each one at a time, and the calls that wait for one.

use std::collections::VecDeque;

/// Threads; calls wait for one in the order of arrival.
pub struct Threads {
    count: usize,
    free: usize,
    waiting: VecDeque<usize>,
    since: u64,
    busy: u64,
}

impl Threads {
    /// `count` free threads.
    pub fn new(count: usize) -> Self {
        Self { count, free: count, waiting: VecDeque::new(), since: 0, busy: 0 }
    }

    /// Give a call a thread; if none is free it waits.
    pub fn ask(&mut self, call: usize, now: u64) -> bool {
        if self.free == 0 {
            self.waiting.push_back(call);
            return false;
        }
        self.count(now);
        self.free -= 1;
        true
    }

    /// Free a thread; return the call that has it now.
    pub fn release(&mut self, now: u64) -> Option<usize> {
        let next = self.waiting.pop_front();
        if next.is_none() {
            self.count(now);
            self.free += 1;
        }
        next
    }

    /// Busy nanoseconds of all threads, up to the last change.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    fn count(&mut self, now: u64) {
        self.busy += (self.count - self.free) as u64 * (now - self.since);
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_wait_for_a_thread_in_their_order() {
        let mut threads = Threads::new(2);
        assert!(threads.ask(1, 10) && threads.ask(2, 20));
        assert!(!threads.ask(3, 25) && !threads.ask(4, 25));
        assert_eq!((threads.release(30), threads.release(40)), (Some(3), Some(4)));
        assert_eq!((threads.release(50), threads.release(60)), (None, None));
        assert_eq!(threads.busy(), 10 + 2 * 30 + 10);
    }
}
