//! Where the time of those went who waited.

use crate::drive::Service;
use serde::Serialize;
use std::ops::AddAssign;

/// Nanoseconds of waiting, by what was waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Parts {
    /// For other requests of the drive.
    pub queue: u64,
    /// For the arm.
    pub seek: u64,
    /// For the sectors to come round.
    pub rotation: u64,
    /// For sectors to pass, for the drive's controller and its bus.
    pub transfer: u64,
    /// For the link that drive and network share.
    pub link: u64,
    /// For the network.
    pub network: u64,
    /// For processors, at work and busy with others.
    pub processor: u64,
    /// For those who read the same file, and for a thread of the server.
    pub lock: u64,
}

impl Parts {
    /// Those of a read of the drive, for one who began to wait `late` nanoseconds after it was asked
    /// for; its data then took so long over the link.
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

    /// All of it.
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
