//! A disk: an arm with an elevator, or a device without an arm.

use super::parameters::Kind;
use super::work::Work;
use crate::drive::{Drive, ParameterError};
use crate::queue::{Elevator, Order, Waiting};
use std::collections::VecDeque;

/// Bytes of a sector.
pub const SECTOR: u64 = 512;

/// Where the time of a request went, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Waiting for others.
    pub queue: u64,
    /// The arm.
    pub seek: u64,
    /// The rotation.
    pub rotation: u64,
    /// The rest: the transfer, and the time of a device without an arm.
    pub transfer: u64,
}

/// A request that a disk has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Its number.
    pub number: usize,
    /// When it will be done.
    pub end: u64,
    /// Where its time goes.
    pub spent: Spent,
}

/// A disk with its queue.
pub enum Disk {
    Flash { free: usize, queue: VecDeque<Waiting>, read: Work, write: Work },
    Spindle { drive: Box<Drive>, order: Elevator, busy: bool, sectors: u64 },
}

impl Disk {
    /// An idle disk.
    pub fn new(kind: &Kind) -> Result<Self, ParameterError> {
        Ok(match kind {
            Kind::Flash { channels, read, write } => Self::Flash {
                free: *channels,
                queue: VecDeque::new(),
                read: read.clone(),
                write: write.clone(),
            },
            Kind::Drive(parameters) => Self::Spindle {
                drive: Box::new(Drive::new(parameters)?),
                order: Elevator::default(),
                busy: false,
                sectors: parameters.sectors,
            },
        })
    }

    /// Queue a request.
    pub fn push(&mut self, mut waiting: Waiting) {
        match self {
            Self::Flash { queue, .. } => queue.push_back(waiting),
            Self::Spindle { order, sectors, .. } => {
                let request = &mut waiting.request;
                request.sectors = request.sectors.min(*sectors);
                request.sector = request.sector.min(*sectors - request.sectors);
                order.push(waiting);
            }
        }
    }

    /// Begin the next request, if one waits and the disk is free; `luck` from 0 to 1 selects its
    /// duration.
    pub fn begin(&mut self, now: u64, luck: f64) -> Option<Begun> {
        match self {
            Self::Flash { free: 0, .. } | Self::Spindle { busy: true, .. } => None,
            Self::Flash { free, queue, read, write } => {
                let waiting = queue.pop_front()?;
                *free -= 1;
                let work = if waiting.request.write { write } else { read };
                let transfer = work.time(luck, waiting.request.sectors * SECTOR);
                let spent = Spent { queue: now - waiting.since, transfer, ..Spent::default() };
                Some(Begun { number: waiting.number, end: now + transfer, spent })
            }
            Self::Spindle { drive, order, busy, .. } => {
                let waiting = order.pop(now, drive.mechanism())?;
                let service = drive.serve(waiting.request, now).ok()?;
                *busy = true;
                let spent = Spent {
                    queue: now - waiting.since + service.queue,
                    seek: service.seek,
                    rotation: service.rotation,
                    transfer: service.overhead + service.transfer + service.bus,
                };
                Some(Begun { number: waiting.number, end: now + service.response(), spent })
            }
        }
    }

    /// Record the end of a request.
    pub fn done(&mut self) {
        match self {
            Self::Flash { free, .. } => *free += 1,
            Self::Spindle { busy, .. } => *busy = false,
        }
    }
}
