//! A shared history for several threads.

use super::file::SharedHistory;
use super::freshness::{Limits, StaleReason};
use super::lookup::{Answer, Asked, Lookup, Seen};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A shared history behind a lock, held for one create at a time.
pub struct Live {
    state: Mutex<(SharedHistory, Lookup)>,
}

impl Live {
    /// The history at a path, which need not exist yet.
    pub fn new(path: &Path, limits: Limits) -> Live {
        Live { state: Mutex::new((SharedHistory::new(path, limits), Lookup::default())) }
    }

    /// Writes the histories of a create to `seen` ([`Lookup::tell`]).
    #[inline]
    pub fn tell(&self, asked: &Asked, seen: &mut Seen) -> Result<Answer, StaleReason> {
        let (history, lookup) = &mut *self.state();
        lookup.tell(history, asked, seen)
    }

    /// The result of `look` on the current history.
    pub fn with<T>(&self, look: impl FnOnce(&mut SharedHistory) -> T) -> T {
        look(&mut self.state().0)
    }

    fn state(&self) -> MutexGuard<'_, (SharedHistory, Lookup)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
