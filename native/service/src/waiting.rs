//! The requests that wait to be begun, and those in work.

use super::conn::Address;
use super::errors::ApiError;
use super::Shared;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::yield_now;

/// Requests that may wait, for each that an address may have waiting: a busy host keeps no other
/// out.
pub const ADDRESSES: usize = 4;

/// Requests of an address that may wait on connections that had one before, for each on new ones: a
/// crowd of new connections keeps out no client that is connected.
const KNOWN: usize = 2;

/// Counters of addresses. Two that share one share its limit.
const COUNTERS: usize = 4096;

/// Concurrent requests for evidence, each of which may take 100 MB.
const EXPLANATIONS: usize = 1;

/// Concurrent requests with large bodies, each of which may take 50 MB.
const BATCHES: usize = 2;

/// The largest body that does not count as large, bytes.
const SMALL: usize = 64 * 1024;

/// Requests that may wait at once for another image (long polling).
const MOST_PARKED: usize = 4096;

/// The requests that wait, and those in work.
pub struct Requests {
    most: usize,
    waiting: AtomicUsize,
    by_address: Vec<AtomicUsize>,
    hasher: RandomState,
    in_work: AtomicUsize,
    parked: AtomicUsize,
    explanations: Semaphore,
    batches: Semaphore,
}

/// Counts one until it is dropped.
pub struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Counts one more, if that is at most `most`.
fn count(counter: &AtomicUsize, most: usize) -> Option<Counted<'_>> {
    let counted = Counted(counter);
    (counter.fetch_add(1, Relaxed) < most).then_some(counted)
}

impl Requests {
    /// None yet; at most `most` in work, and as many of an address waiting.
    pub fn new(most: usize) -> Requests {
        Requests {
            most,
            waiting: AtomicUsize::new(0),
            by_address: (0..COUNTERS).map(|_| AtomicUsize::new(0)).collect(),
            hasher: RandomState::new(),
            in_work: AtomicUsize::new(0),
            parked: AtomicUsize::new(0),
            explanations: Semaphore::new(EXPLANATIONS),
            batches: Semaphore::new(BATCHES),
        }
    }

    fn of(&self, address: Address) -> &AtomicUsize {
        &self.by_address[self.hasher.hash_one(address) as usize % COUNTERS]
    }

    /// Whether the first request of another connection of an address may not wait.
    pub fn is_full(&self, address: Address) -> bool {
        self.of(address).load(Relaxed) >= self.most
            || self.waiting.load(Relaxed) >= (ADDRESSES - 1) * self.most
    }

    /// The error of a request that may not wait.
    pub fn full(&self) -> String {
        format!("{} requests wait to be begun", self.most)
    }

    /// Waits until the requests that came before have begun.
    ///
    /// Connections are read in turns. A request is begun only after all connections that were
    /// readable have had their turn, so that in a crowd those beyond the limit are refused first.
    /// With as few connections as requests may wait, none is. `is_first` is whether it is the first of
    /// its connection.
    pub async fn wait(
        &self,
        shared: &Shared,
        address: Address,
        is_first: bool,
    ) -> Result<(), ApiError> {
        if shared.connections.count() <= self.most {
            return Ok(());
        }
        let full = || ApiError::overloaded(shared, self.full());
        let (one, all) = if is_first { (1, ADDRESSES - 1) } else { (KNOWN, ADDRESSES) };
        let _of_address = count(self.of(address), one * self.most).ok_or_else(full)?;
        let _of_all = count(&self.waiting, all * self.most).ok_or_else(full)?;
        let came = Instant::now();
        yield_now().await;
        if came.elapsed() > shared.limits.queue {
            return Err(too_long(shared));
        }
        Ok(())
    }

    /// Counts a complete request as in work.
    pub fn begin(&self, shared: &Shared) -> Result<Counted<'_>, ApiError> {
        count(&self.in_work, self.most).ok_or_else(|| {
            ApiError::overloaded(shared, format!("{} requests are in progress", self.most))
        })
    }

    /// Counts a request as waiting for another image.
    pub fn park(&self, shared: &Shared) -> Result<Counted<'_>, ApiError> {
        count(&self.parked, MOST_PARKED).ok_or_else(|| {
            ApiError::overloaded(shared, format!("{MOST_PARKED} requests wait for another image"))
        })
    }

    /// The number of requests that wait for another image.
    pub fn parked(&self) -> usize {
        self.parked.load(Relaxed)
    }

    /// Whether a request must have a turn, as it needs much memory.
    pub fn needs_turn(path: &str, size: usize) -> bool {
        path == "/v1/explanations" || size > SMALL
    }

    /// Waits for the turn of a request that needs much memory.
    pub async fn turn(&self, shared: &Shared, path: &str) -> Result<SemaphorePermit<'_>, ApiError> {
        let turns = if path == "/v1/explanations" { &self.explanations } else { &self.batches };
        match tokio::time::timeout(shared.limits.queue, turns.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            Ok(Err(_)) => Err(ApiError::internal()),
            Err(_) => Err(too_long(shared)),
        }
    }
}

fn too_long(shared: &Shared) -> ApiError {
    let most: Duration = shared.limits.queue;
    let what = format!("the request was not begun within {} s", most.as_secs_f64());
    ApiError::overloaded(shared, what)
}
