//! A load, served by a system.

use super::load::{Ask, AuspexError};
use super::system::System;
use super::{Answered, Attached, AttachedError};
use crate::drive::OutsideError;

/// How a load is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// From which the disk follows that a file begins on.
    pub seed: u64,
    /// How many requests at the beginning are only shown to the caches.
    pub warm_up: u64,
    /// How many are served behind them, at most.
    pub requests: u64,
}

/// A load that cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// By no such system.
    #[error(transparent)]
    System(#[from] AttachedError),
    /// Its trace cannot be read.
    #[error(transparent)]
    Trace(#[from] AuspexError),
    /// A drive cannot.
    #[error(transparent)]
    Drive(#[from] OutsideError),
}

/// Let a system serve requests, which are in the order of time.
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
