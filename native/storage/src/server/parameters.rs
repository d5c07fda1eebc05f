//! What a server is.

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
    /// Connections in place of each that was captured; calls take them in turn.
    pub connections: u32,
    /// What a call of each class takes of a processor, by number.
    pub work: Vec<Work>,
    /// Bytes that the link moves in a second, in each direction; 0: any number.
    pub link: u64,
    /// Memory for blocks of files.
    pub memory: u64,
    /// The size of a block.
    pub block: u64,
    /// Of what is read first, the share that was in memory before.
    pub warm: f64,
    /// How it reads ahead.
    pub ahead: Policy,
    /// Whether changes of names and attributes are on disk before they are answered.
    pub changes_to_disk: bool,
    /// Whether what reads or writes a file waits while another call writes it.
    pub locks: bool,
    /// Memory that keeps what is written when the power fails; 0: none.
    pub write_buffer: u64,
    /// After which time what was written goes to disk unasked.
    pub write_back: u64,
    /// Its disks.
    pub disks: Disks,
}

/// Disks, over which what is stored is striped.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Disks {
    /// How many there are.
    pub count: usize,
    /// Bytes on one disk before the next one's turn.
    pub stripe: u64,
    /// What each of them is.
    pub kind: Kind,
    /// Bytes at the start that are kept for what is said to be hot, of drives with an arm; 0: none.
    pub region: u64,
    /// Which hints are followed: the bits of [`super::Call::hints`] that say so.
    pub hints: u8,
}

/// What a disk is.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Kind {
    /// A device whose time does not depend on where it reads and writes.
    Flash {
        /// How much it does at a time.
        channels: usize,
        /// What a read takes.
        read: Work,
        /// What a write takes until it is stable.
        write: Work,
    },
    /// A drive with an arm, and an elevator before it.
    Drive(Box<DriveParameters>),
}

/// Who asks when.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Issue {
    /// Calls come when they were captured.
    Open,
    /// A call comes when that of its client and caller is answered which was answered last before
    /// it in the capture, and its caller has thought for as long as then.
    Dependent,
    /// So many calls are outstanding at every time, and come in the order of the capture.
    Outstanding(usize),
}

/// A server that cannot be.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ServerError {
    /// A number that is too small.
    #[error("{0}: expected at least {1}")]
    Least(&'static str, u64),
    /// A share that is none.
    #[error("warm: expected a share from 0 to 1")]
    Warm,
    /// Not a distribution for each class.
    #[error("work: expected {} distributions, one for each class of calls", Class::ALL.len())]
    Classes,
    /// A distribution that is none.
    #[error("work of {0}: {1}")]
    Work(&'static str, WorkError),
    /// A region that is too large.
    #[error("region: expected at most {} bytes, half a group of cylinders", GROUP / 2)]
    Region,
    /// A drive that cannot be.
    #[error("drive: {0}")]
    Drive(#[from] ParameterError),
}

impl Parameters {
    /// Whether there can be such a server.
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
    /// On which connection a call waits for those before it; none: it waits for none.
    pub(super) fn connection(&self, of: &Flight) -> Option<u32> {
        let own = (of.number % u64::from(self.connections)) as u32;
        self.in_turn.then(|| of.call.connection.wrapping_mul(self.connections).wrapping_add(own))
    }
}

impl Disks {
    /// How many requests they serve at a time.
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
