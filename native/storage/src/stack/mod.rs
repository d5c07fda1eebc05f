//! Drives with everything that stands between them and those who ask: memory, prefetching, a write
//! buffer, scheduling, and striping, one level of each (Hsu and Smith, "The performance impact of I/O
//! optimizations and disk improvements", IBM J. R&D 48(2), 2004, section 3).
//!
//! - [`Rules`]: which of them there are.
//! - [`run`]: a load's requests, served.
//! - [`Figures`]: what that took, and where the time went.

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
