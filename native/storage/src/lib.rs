//! A storage simulator: a drive ([`drive`]), the closed loop of one client ([`closed`]) with
//! requests that were [`measured`], and how near the drive comes to the real one ([`validation`]).
//! It serves [`traces`] of block devices, too ([`replay`]), and systems of many disks serve files
//! ([`attached`]). [`theory`] says that clocks and queues are right.
//!
//! Time is in nanoseconds from when the drive was switched on, in integers, and what is [`random`]
//! follows from a seed: the same requests take the same time on every machine.

pub mod attached;
pub mod bench;
pub mod cache;
pub mod closed;
pub mod cluster;
pub mod demerit;
pub mod drive;
pub mod events;
pub mod host;
pub mod issue;
pub mod load;
pub mod measured;
pub mod prefetch;
pub mod queue;
pub mod random;
pub mod readahead;
pub mod replay;
pub mod scale;
pub mod server;
pub mod spread;
pub mod srt;
pub mod stack;
pub mod station;
pub mod store;
pub mod stream;
pub mod theory;
pub mod traces;
pub mod validation;
