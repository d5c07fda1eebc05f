//! What a worker asks: a shared history, by several threads.

use super::file::SharedHistory;
use super::freshness::{Limits, WhyNot};
use super::lookup::{Answer, Asked, Lookup, Seen};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A shared history, looked up in by one thread at a time, each for no longer than one create.
pub struct Live {
    state: Mutex<(SharedHistory, Lookup)>,
}

impl Live {
    /// That of a path, where there may be none yet.
    pub fn new(path: &Path, limits: Limits) -> Live {
        Live { state: Mutex::new((SharedHistory::new(path, limits), Lookup::default())) }
    }

    /// Tells what was seen before a create ([`Lookup::tell`]).
    #[inline]
    pub fn tell(&self, asked: &Asked, seen: &mut Seen) -> Result<Answer, WhyNot> {
        let (history, lookup) = &mut *self.state();
        lookup.tell(history, asked, seen)
    }

    /// What `look` makes of the history that is there now.
    pub fn with<T>(&self, look: impl FnOnce(&mut SharedHistory) -> T) -> T {
        look(&mut self.state().0)
    }

    fn state(&self) -> MutexGuard<'_, (SharedHistory, Lookup)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
