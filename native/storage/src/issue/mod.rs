//! Who asks when: the issue model of a load.
//!
//! - [`Open`]: at the times of a trace, whatever becomes of what was asked before.
//! - [`Population`]: clients, each of which thinks after an answer and asks again.
//! - [`Dependent`]: a request of a trace waits for the one that was done last before it came there.
//! - [`Streams`]: several that know nothing of one another.

mod dependent;
mod open;
mod population;
mod streams;

pub use dependent::{scaled, Dependent, Traced, WINDOW};
pub use open::Open;
pub use population::Population;
pub use streams::Streams;

/// An issue model. Requests are called by numbers.
pub trait Issue {
    /// The request that comes next, and when, unless something is done before that.
    fn next(&mut self) -> Option<(u64, usize)>;

    /// Take that request.
    fn issue(&mut self);

    /// Take note that a request was done at a time, not before the last that was taken or done.
    fn done(&mut self, number: usize, at: u64);
}
