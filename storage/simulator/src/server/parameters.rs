//! Parameters of a server.

use super::ahead::Policy;
use super::call::Class;
use super::flight::Flight;
use super::places::GROUP;
use super::work::{Work, WorkError};
use crate::drive::{ParameterError, Parameters as DriveParameters};
use serde::Deserialize;

/// A server. Sizes are in bytes, times in nanoseconds.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Threads that answer calls, each one at a time, disks included.
    pub threads: usize,
    /// Processors.
    pub processors: usize,
    /// Whether a processor works on one call of a connection at a time.
    pub in_turn: bool,
    /// Connections in place of each captured one; calls use them in turn.
    pub connections: u32,
    /// Processor time of each class of calls, by number.
    pub work: Vec<Work>,
    /// Bytes per second of the link, in each direction; 0: no limit.
    pub link: u64,
    /// Memory for blocks of files.
    pub memory: u64,
    /// The size of a block.
    pub block: u64,
    /// The share of first reads that hit memory.
    pub warm: f64,
    /// How it reads ahead.
    pub ahead: Policy,
    /// Whether changes of names and attributes are on disk before they are answered.
    pub changes_to_disk: bool,
    /// Whether reads and writes of a file wait while another call writes it.
    pub locks: bool,
    /// Bytes of memory that survives a power failure; 0: none.
    pub write_buffer: u64,
    /// Age at which written data goes to disk unasked.
    pub write_back: u64,
    /// Its disks.
    pub disks: Disks,
}

/// Disks, over which data is striped.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Disks {
    /// Number of disks.
    pub count: usize,
    /// Bytes on one disk before the next one's turn.
    pub stripe: u64,
    /// Kind of each.
    pub kind: Kind,
    /// Bytes at the start reserved for hot files, on drives with an arm; 0: none.
    pub region: u64,
    /// The bits of [`super::Call::hints`] that are followed.
    pub hints: u8,
}

/// Kind of a disk.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Kind {
    /// A device whose time does not depend on where it reads and writes.
    Flash {
        /// Number of parallel requests.
        channels: usize,
        /// Time of a read.
        read: Work,
        /// Time until a write is stable.
        write: Work,
    },
    /// A drive with an arm, and an elevator before it.
    Drive(Box<DriveParameters>),
}

/// Issue model.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Issue {
    /// Calls come when they were captured.
    Open,
    /// A call comes after the latest answer before it in the capture to the same client and caller,
    /// and the same think time.
    Dependent,
    /// A constant number of calls is outstanding, in the order of the capture.
    Outstanding(usize),
}

/// An impossible server.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ServerError {
    /// A number that is too small.
    #[error("{0}: expected at least {1}")]
    Least(&'static str, u64),
    /// A share out of range.
    #[error("warm: expected a share from 0 to 1")]
    Warm,
    /// The wrong number of distributions.
    #[error("work: expected {} distributions, one for each class of calls", Class::ALL.len())]
    Classes,
    /// An invalid distribution.
    #[error("work of {0}: {1}")]
    Work(&'static str, WorkError),
    /// A region that is too large.
    #[error("region: expected at most {} bytes, half a group of cylinders", GROUP / 2)]
    Region,
    /// An impossible drive.
    #[error("drive: {0}")]
    Drive(#[from] ParameterError),
}

impl Parameters {
    /// Check that such a server is possible.
    pub fn check(&self) -> Result<(), ServerError> {
        let least = [
            ("threads", self.threads as u64, 1),
            ("processors", self.processors as u64, 1),
            ("connections", u64::from(self.connections), 1),
            ("block", self.block, 512),
            ("memory", self.memory, self.block),
            ("disks", self.disks.count as u64, 1),
            ("stripe", self.disks.stripe, self.block),
        ];
        if let Some((name, _, least)) = least.into_iter().find(|(_, found, least)| found < least) {
            return Err(ServerError::Least(name, least));
        }
        if !(0.0..=1.0).contains(&self.warm) {
            return Err(ServerError::Warm);
        }
        if self.work.len() != Class::ALL.len() {
            return Err(ServerError::Classes);
        }
        for (work, name) in self.work.iter().zip(Class::NAMES) {
            work.check().map_err(|error| ServerError::Work(name, error))?;
        }
        if self.disks.region > GROUP / 2 {
            return Err(ServerError::Region);
        }
        self.ahead.check()?;
        self.disks.kind.check()
    }
}

impl Parameters {
    /// The connection on which a call waits for earlier ones; none: it does not wait.
    pub(super) fn connection(&self, of: &Flight) -> Option<u32> {
        let own = (of.number % u64::from(self.connections)) as u32;
        self.in_turn.then(|| of.call.connection.wrapping_mul(self.connections).wrapping_add(own))
    }
}

impl Disks {
    /// Number of requests served at once.
    pub fn at_a_time(&self) -> usize {
        match self.kind {
            Kind::Flash { channels, .. } => self.count * channels,
            Kind::Drive(_) => self.count,
        }
    }
}

impl Kind {
    fn check(&self) -> Result<(), ServerError> {
        match self {
            Self::Drive(parameters) => Ok(parameters.check()?),
            Self::Flash { channels: 0, .. } => Err(ServerError::Least("channels", 1)),
            Self::Flash { read, write, .. } => {
                read.check().map_err(|error| ServerError::Work("a disk's reads", error))?;
                write.check().map_err(|error| ServerError::Work("a disk's writes", error))
            }
        }
    }
}
