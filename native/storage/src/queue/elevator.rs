//! The order of FreeBSD 4.8's `bufqdisksort`.

use super::{Arm, Order, Waiting};

/// Upwards from the sector served last, then from the lowest: see [`birthmark_sim::disk::Elevator`].
#[derive(Clone, Debug, Default)]
pub struct Elevator(birthmark_sim::disk::Elevator<Waiting>);

impl Order for Elevator {
    fn push(&mut self, waiting: Waiting) {
        self.0.push(waiting.request.sector, waiting);
    }

    fn pop(&mut self, _: u64, _: &dyn Arm) -> Option<Waiting> {
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}
