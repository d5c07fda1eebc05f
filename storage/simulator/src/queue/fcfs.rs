//! First come, first served.

use super::{Arm, Order, Waiting};
use std::collections::VecDeque;

/// Requests in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Fcfs(VecDeque<Waiting>);

impl Order for Fcfs {
    fn push(&mut self, waiting: Waiting) {
        self.0.push_back(waiting);
    }

    fn pop(&mut self, _: u64, _: &dyn Arm) -> Option<Waiting> {
        self.0.pop_front()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}
