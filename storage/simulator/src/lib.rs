//! A storage simulator: a drive ([`drive`]), its queue, read-ahead, and an NFS server ([`server`]).
//!
//! Time is in nanoseconds since the drive was switched on, in integers. Chance follows from a seed: a
//! run gives the same times on every machine.

pub mod cluster;
pub mod drive;
pub mod events;
pub mod queue;
pub mod readahead;
pub mod server;
pub mod station;
pub mod store;
