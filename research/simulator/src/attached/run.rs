//! Serving a load by a system.

use super::load::{Ask, AuspexError};
use super::system::System;
use super::{Answered, Attached, AttachedError};
use birthmark_storage::drive::OutsideError;

/// Options of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Seed of each file's first disk.
    pub seed: u64,
    /// Requests at the beginning that only fill the caches.
    pub warm_up: u64,
    /// Most requests served after them.
    pub requests: u64,
}

/// A load that cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The system is impossible.
    #[error(transparent)]
    System(#[from] AttachedError),
    /// Its trace cannot be read.
    #[error(transparent)]
    Trace(#[from] AuspexError),
    /// A drive lacks the blocks.
    #[error(transparent)]
    Drive(#[from] OutsideError),
}

/// Let a system serve requests in the order of time.
pub fn run(
    config: &Attached,
    asked: Asked,
    load: impl Iterator<Item = Result<Ask, AuspexError>>,
) -> Result<Answered, RunError> {
    let mut system = System::new(config, asked.seed)?;
    let mut left = asked.requests;
    for (number, ask) in (0..).zip(load) {
        let ask = ask?;
        if number < asked.warm_up {
            system.warm(&ask);
            continue;
        }
        if left == 0 {
            break;
        }
        left -= 1;
        while system.next_at().is_some_and(|next| next <= ask.at) {
            system.step()?;
        }
        system.ask(&ask);
    }
    while system.next_at().is_some() {
        system.step()?;
    }
    let busy = system.busy(system.tally.elapsed());
    Ok(system.tally.answered(busy))
}
