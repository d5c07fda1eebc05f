//! A disk drive, for how long reads and writes take.
//!
//! Its time is that of Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer
//! 27(3), 1994: overheads, seek, settling, rotation, transfer, and a buffer. Its parameters have
//! the meanings of Bucy, Schindler, Schlosser and Ganger, "The DiskSim Simulation Environment
//! Version 4.0 Reference Manual", CMU-PDL-08-101, 2008.
//!
//! - [`Parameters`]: what a drive is; in files under `layout_hint/disks/`.
//! - [`Geometry`]: where on the drive a sector is.
//! - [`SeekCurve`]: how long the arm takes.
//! - [`Mechanism`]: arm and rotation.
//! - [`ReadOn`]: reading that the next request breaks off.
//! - [`Buffer`]: the segments of memory, and what they hold.
//! - [`WriteCache`]: what is written later than the host is told.
//! - [`Feed`]: sectors on their way from the medium to the host.
//! - [`Drive`]: all of these.

mod buffer;
mod checks;
mod feed;
mod geometry;
mod mechanism;
mod opportunity;
mod parameters;
mod reads;
mod region;
mod seek;
mod serve;
mod service;
#[cfg(test)]
pub(crate) mod tests;
mod write_cache;
mod write_later;
mod writes;

pub use buffer::{Buffer, Found};
pub use checks::ParameterError;
pub use feed::Feed;
pub use geometry::{Geometry, Place};
pub use mechanism::{Access, Mechanism, Run};
pub use opportunity::ReadOn;
pub use parameters::{
    BufferParameters, Mapping, Overheads, Parameters, ReadAhead, Spares, Sparing,
    WriteCacheParameters, WriteOrder, Zone,
};
pub use seek::SeekCurve;
pub use serve::Drive;
pub use service::{OutsideError, Request, Service, MOST};
pub use write_cache::WriteCache;
