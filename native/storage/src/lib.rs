//! A storage simulator: a drive ([`drive`]), the closed loop of one client ([`closed`]) with
//! requests that were [`measured`], and how near the drive comes to the real one ([`validation`]).
//!
//! Time is in nanoseconds from when the drive was switched on, in integers, and nothing is random:
//! the same requests take the same time on every machine.

pub mod closed;
pub mod demerit;
pub mod drive;
pub mod events;
pub mod host;
pub mod issue;
pub mod measured;
pub mod queue;
pub mod server;
pub mod srt;
pub mod station;
pub mod validation;
