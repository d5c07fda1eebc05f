//! Outcomes of requests, and movements of arms for them.

use birthmark_storage::drive::{Run, Service};

/// Outcome of a part of a request.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Its end.
    pub at: u64,
    /// Where its time went.
    pub service: Service,
    /// Busy time of the arm.
    pub busy: u64,
    /// Whether it missed memory.
    pub missed: bool,
}

/// A movement of an arm, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    pub seek: u64,
    pub rotation: u64,
    pub transfer: u64,
    pub write: bool,
}

impl Moved {
    pub fn new(run: &Run, end: u64, write: bool) -> Self {
        let transfer = end - run.start;
        Self { seek: run.seek, rotation: run.rotation, transfer, write }
    }

    pub fn busy(&self) -> u64 {
        self.seek + self.rotation + self.transfer
    }
}

/// Receives the outcome of a part of a numbered request.
pub type Answer<'a> = dyn FnMut(usize, Outcome) + 'a;
