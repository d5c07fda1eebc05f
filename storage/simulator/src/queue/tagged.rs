//! A drive's own order, behind the host's.

use super::{Arm, Order, Waiting};

/// Tagged queues: the host passes requests to the drive as they come, up to the drive's depth, and
/// the drive chooses. The rest wait in the host's order.
pub struct Tagged {
    host: Box<dyn Order>,
    drive: Box<dyn Order>,
    depth: usize,
}

impl Tagged {
    /// Two empty queues; the drive has room for `depth` requests, at least one.
    pub fn new(host: Box<dyn Order>, drive: Box<dyn Order>, depth: usize) -> Self {
        Self { host, drive, depth: depth.max(1) }
    }
}

impl Order for Tagged {
    fn push(&mut self, waiting: Waiting) {
        if self.drive.len() < self.depth {
            self.drive.push(waiting);
        } else {
            self.host.push(waiting);
        }
    }

    fn pop(&mut self, now: u64, arm: &dyn Arm) -> Option<Waiting> {
        let next = self.drive.pop(now, arm)?;
        if let Some(waiting) = self.host.pop(now, arm) {
            self.drive.push(waiting);
        }
        Some(next)
    }

    fn len(&self) -> usize {
        self.host.len() + self.drive.len()
    }
}
