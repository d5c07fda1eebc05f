//! The order of FreeBSD 4.8's `bufqdisksort`.

use super::{Arm, Order, Waiting};
use std::collections::BTreeMap;

/// Upwards from the sector served last, then from the lowest.
///
/// Requests for the same sector are served in the order of arrival. A request that comes to an
/// empty queue belongs to the present pass wherever it is, as in the kernel: the pass then ends
/// only after it. (`subr_disk.c`; the kernel's marks for ordered requests are omitted, because soft
/// updates make none.)
#[derive(Clone, Debug, Default)]
pub struct Elevator {
    pass: BTreeMap<(u64, u64), Waiting>,
    next: BTreeMap<(u64, u64), Waiting>,
    last: u64,
    arrivals: u64,
}

impl Order for Elevator {
    fn push(&mut self, waiting: Waiting) {
        self.arrivals += 1;
        let sector = waiting.request.sector;
        let later = !self.pass.is_empty() && sector < self.last;
        let pass = if later { &mut self.next } else { &mut self.pass };
        pass.insert((sector, self.arrivals), waiting);
    }

    fn pop(&mut self, _: u64, _: &dyn Arm) -> Option<Waiting> {
        let ((sector, _), waiting) = self.pass.pop_first()?;
        self.last = sector;
        if self.pass.is_empty() {
            std::mem::swap(&mut self.pass, &mut self.next);
        }
        Some(waiting)
    }

    fn len(&self) -> usize {
        self.pass.len() + self.next.len()
    }
}
