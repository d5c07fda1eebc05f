//! The benchmark of Ellard and Seltzer, "NFS Tricks and Benchmarking Traps", FREENIX 2003.
//!
//! Readers start together, each reads a file of its own from one end to the other; all files together
//! are as large whatever their number is. The machine reads them itself ([`local`]), or serves them
//! over a network ([`nfs`]).

pub mod local;
pub mod nfs;
mod outcome;
mod setup;
#[cfg(test)]
mod tests;

pub use outcome::Outcome;
pub use setup::{HostOrder, Setup, SetupError, Tags};

use serde::Deserialize;

/// The numbers of readers for each of which there is a set of files, one after the other on the drive.
pub const SETS: [u64; 6] = [1, 2, 4, 8, 16, 32];

/// Who reads the files.
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
