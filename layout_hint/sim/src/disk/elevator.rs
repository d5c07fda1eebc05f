//! The requests that wait, in the order of FreeBSD 4.8's `bufqdisksort`.

use std::collections::BTreeMap;

/// A queue served in one direction: upwards from the block served last, then from the lowest.
///
/// Reads and writes wait together. Requests for the same block are served in the order in which they
/// came. What comes to an empty queue belongs to the present pass wherever it is, as in the kernel:
/// the pass is then over only when it has been served. (`subr_disk.c`; the kernel's marks for
/// ordered requests are left out, for with soft updates there are none.)
#[derive(Clone, Debug)]
pub struct Elevator<T> {
    pass: BTreeMap<(u64, u64), T>,
    next: BTreeMap<(u64, u64), T>,
    last: u64,
    arrivals: u64,
}

impl<T> Default for Elevator<T> {
    fn default() -> Self {
        Self { pass: BTreeMap::new(), next: BTreeMap::new(), last: 0, arrivals: 0 }
    }
}

impl<T> Elevator<T> {
    /// Add a request for a block.
    pub fn push(&mut self, block: u64, request: T) {
        self.arrivals += 1;
        let later = !self.pass.is_empty() && block < self.last;
        let pass = if later { &mut self.next } else { &mut self.pass };
        pass.insert((block, self.arrivals), request);
    }

    /// Take the request to serve next.
    pub fn pop(&mut self) -> Option<T> {
        let ((block, _), request) = self.pass.pop_first()?;
        self.last = block;
        if self.pass.is_empty() {
            std::mem::swap(&mut self.pass, &mut self.next);
        }
        Some(request)
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.pass.is_empty()
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.pass.len() + self.next.len()
    }
}
