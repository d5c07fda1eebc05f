//! Requests at the times of a trace.

use super::Issue;

/// Requests at given times, regardless of answers.
#[derive(Clone, Debug)]
pub struct Open {
    arrivals: Vec<u64>,
    next: usize,
}

impl Open {
    /// Requests that come at times in ascending order.
    pub fn new(arrivals: Vec<u64>) -> Self {
        debug_assert!(arrivals.is_sorted());
        Self { arrivals, next: 0 }
    }
}

impl Issue for Open {
    fn next(&mut self) -> Option<(u64, usize)> {
        self.arrivals.get(self.next).map(|&at| (at, self.next))
    }

    fn issue(&mut self) {
        self.next += 1;
    }

    fn done(&mut self, _: usize, _: u64) {}
}
