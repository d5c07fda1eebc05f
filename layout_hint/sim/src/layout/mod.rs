//! The replay of a rewritten trace on a file system with its layout but without data: the traffic
//! that a buffer cache, soft updates and a syncer let through to the disk, and its positions.
//!
//! The file system is [`crate::ffs`], the disk [`crate::disk`]; the layers between them are here,
//! as in FreeBSD 4.8 (`vfs_bio.c`, `vfs_cluster.c`, `vfs_subr.c`, `ffs_softdep.c`, `ufs_lookup.c`).
//! `docs/layout.md` lists what is modelled and what is not.
//!
//! - [`Trace`]: a build of `birthmark research replay build`, decoded once.
//! - [`Config`]: configuration of a run.
//! - [`Replay`]: one run.

mod age;
mod buffers;
mod cache;
mod check;
mod cluster;
mod columns;
mod config;
mod counters;
mod creates;
mod data;
mod decode;
mod delayed;
mod device;
mod directory;
mod entries;
mod files;
mod intern;
mod names;
mod object;
mod operation;
mod random;
mod reading;
mod replay;
mod results;
mod rows;
mod summary;
mod syncer;
mod system;
#[cfg(test)]
mod tests;
mod trace;
mod verdicts;

pub use config::{Age, Config, Pace, Query, RegionConfig};
pub use counters::Kind;
pub use random::Seeded;
pub use replay::{behind_journal, geometry, Replay};
pub use results::Results;
pub use trace::Trace;
pub use verdicts::Verdicts;

use crate::ffs::{self, GeometryError, RegionError};
use arrow_schema::ArrowError;
use birthmark_hook::Refused;
use birthmark_storage::drive::ParameterError;
use thiserror::Error;

/// The reason why a trace or a run is impossible.
#[derive(Debug, Error)]
pub enum Error {
    /// A table has not the columns of a build.
    #[error("{0}")]
    Column(String),
    /// A row is none of a build.
    #[error("{table}, row {row}: {what}")]
    Row {
        /// The table: the manifest or the operations.
        table: &'static str,
        /// Counted from 0.
        row: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A partition cannot have so many bytes.
    #[error("bytes: {0}: expected at most 4 TB")]
    Bytes(f64),
    /// There is no such allocator.
    #[error("allocator: {0:?}: expected one of {1}")]
    Allocator(String, String),
    /// A file system cannot have these sizes.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// It cannot have this region.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// No drive has these parameters.
    #[error(transparent)]
    Drive(#[from] ParameterError),
    /// It has no room for its own root directory.
    #[error(transparent)]
    Space(#[from] ffs::Error),
    /// The hook cannot have this image.
    #[error("image: {0}")]
    Image(#[from] Refused),
    /// A table could not be made, which is a defect.
    #[error(transparent)]
    Arrow(#[from] ArrowError),
}
