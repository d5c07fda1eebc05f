//! A budget for the bytes of slow transfers: request bodies coming in, answers going out.

use super::conn::{Conn, Order};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A budget of bytes.
///
/// Bytes are reserved as they come. If none are left, the oldest revocable reservation is revoked,
/// so that slow clients cannot keep others out.
pub struct Budget {
    most: usize,
    reserved: Mutex<Reserved>,
}

#[derive(Default)]
struct Reserved {
    bytes: usize,
    next: u64,
    by_age: BTreeMap<u64, Entry>,
}

struct Entry {
    size: usize,
    /// The connection that loses it, and what it is to do then; None: it is never revoked.
    revoked: Option<(Arc<Conn>, Order)>,
}

/// The bytes that one body or answer has reserved, until it is dropped or revoked.
pub struct Reservation {
    budget: Arc<Budget>,
    number: u64,
}

/// The budget is used up.
#[derive(Debug, PartialEq, Eq)]
pub struct Full;

impl Budget {
    /// A budget of `most` bytes.
    pub fn new(most: usize) -> Arc<Budget> {
        Arc::new(Budget { most, reserved: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Reserved> {
        self.reserved.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A reservation without bytes; `revoked` gets its order when it is revoked.
    pub fn reservation(self: &Arc<Self>, revoked: Option<(Arc<Conn>, Order)>) -> Reservation {
        let mut reserved = self.lock();
        let number = reserved.next;
        reserved.next += 1;
        reserved.by_age.insert(number, Entry { size: 0, revoked });
        Reservation { budget: Arc::clone(self), number }
    }
}

impl Reservation {
    /// Reserves more bytes; revokes the oldest reservations if need be.
    pub fn grow(&self, size: usize) -> Result<(), Full> {
        let mut reserved = self.budget.lock();
        if !reserved.by_age.contains_key(&self.number) {
            return Err(Full);
        }
        while reserved.bytes.saturating_add(size) > self.budget.most {
            let revocable = |(_, entry): &(&u64, &Entry)| entry.revoked.is_some();
            let oldest = reserved.by_age.iter().find(revocable).map(|(number, _)| *number);
            let oldest = oldest.unwrap_or(self.number);
            let revoked = reserved.remove(oldest);
            if oldest == self.number {
                return Err(Full);
            }
            if let Some((conn, order)) = revoked {
                conn.order(order);
            }
        }
        reserved.bytes += size;
        if let Some(entry) = reserved.by_age.get_mut(&self.number) {
            entry.size += size;
        }
        Ok(())
    }
}

impl Reserved {
    fn remove(&mut self, number: u64) -> Option<(Arc<Conn>, Order)> {
        let entry = self.by_age.remove(&number)?;
        self.bytes -= entry.size;
        entry.revoked
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.lock().remove(self.number);
    }
}
