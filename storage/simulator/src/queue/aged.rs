//! Shortest access time first, aged.

use super::{Arm, Order, Waiting};

/// Selects the request with the least access time, less `weight` times its waiting time (Jacobson
/// and Wilkes, "Disk scheduling algorithms based on rotational position", HPL-CSP-91-7, 1991;
/// Seltzer, Chen and Ousterhout, "Disk scheduling revisited", 1990). The first to arrive wins ties.
///
/// Only the first `depth` requests are considered: those that the drive knows.
#[derive(Clone, Debug)]
pub struct Aged {
    waiting: Vec<Waiting>,
    weight: f64,
    depth: usize,
}

impl Aged {
    /// An empty queue; `weight` is 0 or more, `depth` at least one.
    pub fn new(weight: f64, depth: usize) -> Self {
        Self { waiting: Vec::new(), weight, depth: depth.max(1) }
    }

    /// Take those that satisfy a condition, in the order of arrival.
    pub fn take_where(&mut self, mut holds: impl FnMut(&Waiting) -> bool) -> Vec<Waiting> {
        self.waiting.extract_if(.., |own| holds(own)).collect()
    }

    /// The cost of a request, in nanoseconds; negative after a long wait.
    fn cost(&self, waiting: &Waiting, now: u64, arm: &dyn Arm) -> f64 {
        let waited = now.saturating_sub(waiting.since) as f64;
        arm.reach(&waiting.request, now) as f64 - self.weight * waited
    }
}

impl Order for Aged {
    fn push(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
    }

    fn pop(&mut self, now: u64, arm: &dyn Arm) -> Option<Waiting> {
        let costs = self.waiting.iter().take(self.depth).map(|own| self.cost(own, now, arm));
        let (least, _) = costs.enumerate().min_by(|one, other| one.1.total_cmp(&other.1))?;
        Some(self.waiting.remove(least))
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }
}
