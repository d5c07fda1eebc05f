//! Answered requests that wait for the prediction log.

use super::Model;
use hyper::body::Bytes;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::mem::take;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// The size of the queue, by the sizes of the requests.
const QUEUE_BYTES: usize = 64 * 1024 * 1024;

/// Bytes that a pending request counts beside its size.
const OVERHEAD: usize = 1024;

/// What was answered.
pub enum Answered {
    /// Files in JSON, with their answers (`Answer::logged`).
    Json(Vec<u8>),
    /// Files in Arrow, as those.
    Arrow(Vec<u8>),
    /// A create, with the bits of its hints.
    Hint(u8),
}

/// An answered request.
pub struct Entry {
    /// The model that answered.
    pub model: Arc<Model>,
    /// The body.
    pub body: Bytes,
    /// The answer.
    pub answered: Answered,
    /// The number of files.
    pub rows: u64,
    /// When it was answered.
    pub time: SystemTime,
}

/// A queue of answered requests; those that it has no room for are dropped and counted.
pub struct Log {
    /// The share of requests that are logged; None: there is no log.
    share: Option<f64>,
    requests: AtomicU64,
    hasher: RandomState,
    queue: Mutex<(Vec<Entry>, usize)>,
    dropped: AtomicU64,
}

impl Log {
    /// A queue for a `share` of requests, if there is a log.
    pub fn new(share: Option<f64>) -> Log {
        let (requests, dropped) = (AtomicU64::new(0), AtomicU64::new(0));
        Log { share, requests, hasher: RandomState::new(), queue: Mutex::default(), dropped }
    }

    /// Whether to log a request, at random by the share.
    pub fn is_sampled(&self) -> bool {
        let Some(share) = self.share else { return false };
        let number = self.requests.fetch_add(1, Relaxed);
        share >= 1.0 || (self.hasher.hash_one(number) as f64) < share * (u64::MAX as f64)
    }

    /// Adds a sampled request that was answered.
    pub fn add(&self, model: &Arc<Model>, body: &Bytes, rows: u64, answered: Answered) {
        let answers = match &answered {
            Answered::Json(answers) | Answered::Arrow(answers) => answers.len(),
            Answered::Hint(_) => 0,
        };
        let size = body.len() + answers + OVERHEAD;
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.1 + size > QUEUE_BYTES {
            self.dropped.fetch_add(rows, Relaxed);
            return;
        }
        // A copy, as the body may be a small part of a large buffer.
        let (body, time) = (Bytes::copy_from_slice(body), SystemTime::now());
        queue.0.push(Entry { model: Arc::clone(model), body, answered, rows, time });
        queue.1 += size;
    }

    /// The requests since the last call, and the rows that were dropped.
    pub fn take(&self) -> (Vec<Entry>, u64) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let (entries, _) = take(&mut *queue);
        (entries, self.dropped.swap(0, Relaxed))
    }
}
