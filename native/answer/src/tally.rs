//! Counts of answers by predicate.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of no and of yes.
pub type Counted = Arc<[AtomicU64; 2]>;

/// Counts by predicate, for all models that have answered.
#[derive(Debug, Default)]
pub struct Tally {
    counted: Mutex<BTreeMap<String, Counted>>,
}

impl Tally {
    /// The counter of a predicate.
    pub fn of(&self, predicate: &str) -> Counted {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.entry(predicate.to_owned()).or_default().clone()
    }

    /// The number of no and of yes by predicate since the last call.
    pub fn take(&self) -> BTreeMap<String, (u64, u64)> {
        let counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let take = |counts: &Counted| {
            let [no, yes] = &**counts;
            (no.swap(0, Ordering::Relaxed), yes.swap(0, Ordering::Relaxed))
        };
        counted.iter().map(|(predicate, counts)| (predicate.clone(), take(counts))).collect()
    }
}

/// Adds `yes` of `all` answers.
pub fn add(counted: &Counted, yes: u64, all: u64) {
    counted[0].fetch_add(all - yes, Ordering::Relaxed);
    counted[1].fetch_add(yes, Ordering::Relaxed);
}
