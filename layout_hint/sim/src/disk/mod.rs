//! A disk drive, for how long reads and writes take.
//!
//! Its time is that of Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer
//! 27(3), 1994: overhead of the controller, seek, settling, rotation, transfer from the medium, and a
//! buffer into which the drive reads ahead. What waits is served in the order of FreeBSD 4.8's
//! `bufqdisksort`. Nothing is random: the same requests at the same times take the same time.
//!
//! - [`Parameters`]: what a drive is; in files under `layout_hint/disks/`.
//! - [`Layout`]: where on the drive a sector is.
//! - [`Mechanism`]: arm and rotation, in seconds from when the drive was switched on.
//! - [`Buffer`]: what has been read ahead, and [`WriteCache`]: what is still to be written.
//! - [`Elevator`]: the requests that wait.
//! - [`Drive`]: all of these.

mod buffer;
mod drive;
mod elevator;
mod layout;
mod mechanism;
mod parameters;
mod seek;
#[cfg(test)]
mod tests;
mod write_cache;

pub use buffer::Buffer;
pub use drive::{Drive, Request, Statistics, Ticket};
pub use elevator::Elevator;
pub use layout::{Layout, Place};
pub use mechanism::Mechanism;
pub use parameters::{ParameterError, Parameters, Seek, Zone};
pub use write_cache::WriteCache;

/// Bytes of a sector.
pub const SECTOR: u64 = 512;
