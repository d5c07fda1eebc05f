//! What becomes of requests, and where arms go for them.

use crate::drive::{Run, Service};

/// What becomes of a part of a request.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// When it is done.
    pub at: u64,
    /// Where its time went.
    pub service: Service,
    /// For how long the arm was busy with it.
    pub busy: u64,
    /// Whether it was not in memory.
    pub missed: bool,
}

/// Where an arm went, and how long that took, in nanoseconds.
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

/// Takes note of what becomes of a part of a request, which has a number.
pub type Answer<'a> = dyn FnMut(usize, Outcome) + 'a;
