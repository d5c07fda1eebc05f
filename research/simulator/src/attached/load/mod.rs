//! Requests of clients.
//!
//! - [`Nfs`]: attributes, directories, and files read in pieces, fitted to the paper's trace of NFS.
//! - [`Web`]: whole files in batches of a second, fitted to its trace of a Web server.
//! - [`auspex`]: the format of the trace of NFS.

mod auspex;
mod nfs;
mod web;

pub use auspex::{auspex, AuspexError};
pub use nfs::{Nfs, NfsLoad};
pub use web::{Web, WebLoad};

use crate::random::Random;

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// When it came, in nanoseconds.
    pub at: u64,
    /// A number of the file.
    pub file: u32,
    /// Its kind.
    pub kind: Kind,
    /// The first byte of the file.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Kinds of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Attributes, read or set.
    Attributes,
    /// A part of a directory.
    Directory,
    /// To read blocks of a file.
    Read,
    /// To write them.
    Write,
}

impl Kind {
    /// Whether it concerns blocks of a file, and not the file manager alone.
    pub fn is_data(self) -> bool {
        matches!(self, Self::Read | Self::Write)
    }
}

/// Sizes of files in proportion, of a log-normal distribution with median 1.
fn proportions(files: usize, sigma: f64, random: &mut Random) -> Vec<f64> {
    (0..files).map(|_| (sigma * random.normal()).exp()).collect()
}

/// The root of a rising function between two bounds.
fn solve(mut low: f64, mut high: f64, rises: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if rises(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}
