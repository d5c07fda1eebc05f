//! A trace of a block device, served by a drive.
//!
//! Requests are read as they are needed: memory does not grow with the trace, but for the issue model
//! [`Dependent`](crate::issue::Dependent), which holds all of it.

mod arrivals;
mod figures;
mod run;
#[cfg(test)]
mod tests;

pub use arrivals::{Arrivals, ArrivalsOf, Fit, ReplayError};
pub use figures::{Replayed, Responses};
pub use run::run;
