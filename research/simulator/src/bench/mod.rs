//! The benchmark of Ellard and Seltzer, "NFS Tricks and Benchmarking Traps", FREENIX 2003.
//!
//! Readers start together, each reads another file from one end to the other. The total size is the
//! same for every number of files. The machine reads them itself ([`local`]), or serves them over a
//! network ([`nfs`]).

pub mod local;
pub mod nfs;
mod outcome;
mod setup;
#[cfg(test)]
mod tests;

pub use outcome::Outcome;
pub use setup::{HostOrder, Setup, SetupError, Tags};

use serde::Deserialize;

/// Numbers of readers; each has a set of files, one after the other on the drive.
pub const SETS: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// The side that reads the files.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// Processes of the machine itself.
    Local(local::Local),
    /// Processes of a client.
    Nfs(Box<nfs::Nfs>),
}

/// Run the benchmark once.
pub fn run(setup: &Setup) -> Result<Outcome, SetupError> {
    setup.check()?;
    let store = setup.store()?;
    Ok(match &setup.at {
        At::Local(machine) => local::run(setup, machine, store),
        At::Nfs(machines) => nfs::run(setup, machines, store),
    })
}
