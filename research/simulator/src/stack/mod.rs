//! Drives with the layers above them: memory, prefetching, a write buffer, scheduling, and
//! striping, one level of each (Hsu and Smith, "The performance impact of I/O optimizations and
//! disk improvements", IBM J. R&D 48(2), 2004, section 3).
//!
//! - [`Rules`]: the choice of optimizations.
//! - [`run`]: serves a load's requests.
//! - [`Figures`]: the results, and where the time went.

mod arrive;
mod begin;
mod disk;
mod figures;
mod outcome;
mod rules;
mod run;
#[cfg(test)]
mod tests;

pub use figures::{Figures, Kind, Moves, Parts};
pub use rules::{Order, Prefetch, Rules, RulesError, WriteBufferRules};
pub use run::run;
