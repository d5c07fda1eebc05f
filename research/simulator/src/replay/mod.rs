//! Replaying a trace of a block device on a drive.
//!
//! Requests are read as needed: memory does not grow with the trace, except for the issue model
//! [`Dependent`](crate::issue::Dependent), which holds it whole.

mod arrivals;
mod figures;
mod run;
#[cfg(test)]
mod tests;

pub use arrivals::{Arrivals, ArrivalsOf, Fit, ReplayError};
pub use figures::{Replayed, Responses};
pub use run::run;
