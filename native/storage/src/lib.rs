//! A storage simulator: a drive ([`drive`]), the closed loop of one client ([`closed`]) with
//! [`measured`] requests, and the error against the real drive ([`validation`]). It also serves
//! [`traces`] of block devices ([`replay`]), and systems of many disks serve files ([`attached`]).
//! [`theory`] checks clocks and queues.
//!
//! Time is in nanoseconds since the drive was switched on, in integers. [`random`] choices follow
//! from a seed: a run gives the same times on every machine.

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
