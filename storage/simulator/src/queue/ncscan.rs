//! Sweeps that nothing joins once they have begun.

use super::{Arm, Order, Waiting};
use std::collections::BTreeMap;

/// N-step CSCAN (Ellard and Seltzer, "NFS tricks and benchmarking traps", 2003, section 5.3):
/// arrivals during a sweep are sorted into the next one, so that none waits for more than two.
#[derive(Clone, Debug, Default)]
pub struct NCscan {
    sweep: BTreeMap<(u64, u64), Waiting>,
    next: BTreeMap<(u64, u64), Waiting>,
    arrivals: u64,
}

impl Order for NCscan {
    fn push(&mut self, waiting: Waiting) {
        self.next.insert((waiting.request.sector, self.arrivals), waiting);
        self.arrivals += 1;
    }

    fn pop(&mut self, _: u64, _: &dyn Arm) -> Option<Waiting> {
        if self.sweep.is_empty() {
            std::mem::swap(&mut self.sweep, &mut self.next);
        }
        self.sweep.pop_first().map(|(_, waiting)| waiting)
    }

    fn len(&self) -> usize {
        self.sweep.len() + self.next.len()
    }
}
