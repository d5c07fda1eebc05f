//! A model of a disk drive's times for reads and writes.
//!
//! Times follow Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3),
//! 1994: overheads, seek, settling, rotation, transfer, and a buffer. Parameters have the meanings
//! of Bucy, Schindler, Schlosser and Ganger, "The DiskSim Simulation Environment Version 4.0
//! Reference Manual", CMU-PDL-08-101, 2008.
//!
//! - [`Parameters`]: a drive's parameters; in files under `layout_hint/disks/`.
//! - [`Geometry`]: the positions of sectors.
//! - [`SeekCurve`]: seek times.
//! - [`Mechanism`]: arm and rotation.
//! - [`ReadOn`]: reading ahead until the next request.
//! - [`Buffer`]: the segments of memory, and their contents.
//! - [`WriteCache`]: writes that are acknowledged before they are on the medium.
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
mod small;
#[cfg(test)]
mod tests;
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
pub use small::small;
pub use write_cache::WriteCache;
