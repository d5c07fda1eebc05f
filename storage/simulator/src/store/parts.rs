//! Parts of waiting times.

use crate::drive::Service;
use serde::Serialize;
use std::ops::AddAssign;

/// Nanoseconds of waiting, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Parts {
    /// For other requests of the drive.
    pub queue: u64,
    /// For the arm.
    pub seek: u64,
    /// For the rotation.
    pub rotation: u64,
    /// For the transfer, the drive's controller and its bus.
    pub transfer: u64,
    /// For the link that drive and network share.
    pub link: u64,
    /// For the network.
    pub network: u64,
    /// For processors, working or busy with others.
    pub processor: u64,
    /// For other readers of the same file, and for a thread of the server.
    pub lock: u64,
}

impl Parts {
    /// The parts for a task that began to wait `late` nanoseconds after a read of the drive was
    /// requested; its data then took `link` nanoseconds.
    pub fn of_read(service: &Service, link: u64, late: u64) -> Self {
        let mut rest = late;
        let mut left = |part: u64| {
            let gone = rest.min(part);
            rest -= gone;
            part - gone
        };
        Self {
            queue: left(service.queue),
            transfer: left(service.overhead),
            seek: left(service.seek),
            rotation: left(service.rotation),
            ..Self::default()
        } + Self { transfer: left(service.transfer + service.bus), ..Self::default() }
            + Self { link: left(link), ..Self::default() }
    }

    /// The total.
    pub fn all(&self) -> u64 {
        let Self { queue, seek, rotation, transfer, link, network, processor, lock } = self;
        queue + seek + rotation + transfer + link + network + processor + lock
    }
}

impl std::ops::Add for Parts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            queue: self.queue + other.queue,
            seek: self.seek + other.seek,
            rotation: self.rotation + other.rotation,
            transfer: self.transfer + other.transfer,
            link: self.link + other.link,
            network: self.network + other.network,
            processor: self.processor + other.processor,
            lock: self.lock + other.lock,
        }
    }
}

impl AddAssign for Parts {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
