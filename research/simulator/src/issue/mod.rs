//! Issue models: when requests come.
//!
//! - [`Open`]: at the times of a trace, regardless of answers.
//! - [`Population`]: clients with think time between an answer and the next request.
//! - [`Dependent`]: a request waits for the one that completed last before it in the trace.
//! - [`Streams`]: several independent models.

mod dependent;
mod open;
mod population;
mod streams;

pub use dependent::{scaled, Dependent, Traced, WINDOW};
pub use open::Open;
pub use population::Population;
pub use streams::Streams;

/// An issue model. Requests are numbered.
pub trait Issue {
    /// The next request and its time, unless another one completes before.
    fn next(&mut self) -> Option<(u64, usize)>;

    /// Take that request.
    fn issue(&mut self);

    /// Record a completion, not before the last request or completion.
    fn done(&mut self, number: usize, at: u64);
}
