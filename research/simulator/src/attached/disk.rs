//! A disk: one that takes the same time for all requests of a size, or a drive.

use super::{AttachedError, Priced, BLOCK, CHUNK};
use birthmark_storage::drive::{Drive, OutsideError, Parameters, Request};
use birthmark_storage::station::{Station, Turn};

const SECTORS: u64 = BLOCK / 512;

/// A disk, which serves in the order of arrival.
#[derive(Clone, Debug)]
pub(super) enum Disk {
    /// The paper's.
    Constant(Station, Priced),
    /// A drive, and the nanoseconds that it has served.
    Real(Box<Drive>, u64),
}

/// Blocks of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// A number of the chunk.
    pub chunk: u64,
    /// The first block, from the chunk's beginning.
    pub first: u64,
    /// Number of blocks.
    pub blocks: u64,
}

impl Disk {
    pub fn new(drive: Option<&Parameters>, costs: Priced) -> Result<Self, AttachedError> {
        let Some(parameters) = drive else {
            return Ok(Self::Constant(Station::new(1), costs));
        };
        let drive = Box::new(Drive::new(parameters)?);
        if drive.mechanism().geometry().sectors() < CHUNK * SECTORS {
            let expected = "one that has room for a chunk of 64 KiB";
            return Err(AttachedError::Value { key: "drive", expected });
        }
        Ok(Self::Real(drive, 0))
    }

    /// Read or write blocks requested at time `now`.
    pub fn serve(&mut self, now: u64, extent: Extent, write: bool) -> Result<Turn, OutsideError> {
        match self {
            Self::Constant(station, costs) => {
                Ok(station.take(now, (costs.of(extent.blocks) * 1e6).round() as u64))
            }
            Self::Real(drive, busy) => {
                let chunks = drive.mechanism().geometry().sectors() / (CHUNK * SECTORS);
                let sector = (extent.chunk % chunks * CHUNK + extent.first) * SECTORS;
                let request = Request { sector, sectors: extent.blocks * SECTORS, write };
                let service = drive.serve(request, now)?;
                *busy += service.response() - service.queue;
                Ok(Turn { start: now + service.queue, end: now + service.response() })
            }
        }
    }

    /// Nanoseconds of service.
    pub fn busy(&self) -> u64 {
        match self {
            Self::Constant(station, _) => station.busy(),
            Self::Real(_, busy) => *busy,
        }
    }
}
