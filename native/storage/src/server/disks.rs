//! The disks of a server: where what is stored lies, and when it is read and written.

use super::call::Call;
use super::parameters::{Disks as Parameters, Kind};
use super::places::{Places, FILE_BLOCK};
use super::work::{chance, mix, Work};
use crate::drive::{Drive, ParameterError, Request};
use crate::queue::{Elevator, Order, Waiting};
use std::collections::VecDeque;

const SECTOR: u64 = 512;
/// The most bytes of a request, but to write on a device without an arm.
pub const REQUEST_MOST: u64 = 1 << 20;
/// On a device without an arm a file's data lies together in pieces of this size.
const EXTENT: u64 = 64 << 10;
/// What chance decides: a request's time.
const SERVICE: u64 = 1;

/// A piece of data on one disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which disk.
    pub disk: usize,
    /// Its first byte there.
    pub at: u64,
    /// How many bytes.
    pub bytes: u64,
}

/// Where the time of a request went, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Waiting for others.
    pub queue: u64,
    /// The arm.
    pub seek: u64,
    /// The rotation.
    pub rotation: u64,
    /// All else: the transfer, and what a device without an arm takes.
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

/// Disks with what waits before each of them.
pub struct Disks {
    disks: Vec<Disk>,
    stripe: u64,
    places: Option<Places>,
    busy: u64,
    seed: u64,
    served: u64,
}

enum Disk {
    Flash { free: usize, queue: VecDeque<Waiting>, read: Work, write: Work },
    Spindle { drive: Box<Drive>, order: Elevator, busy: bool, sectors: u64 },
}

impl Disks {
    /// Idle disks; `seed` decides what is chance.
    pub fn new(parameters: &Parameters, seed: u64) -> Result<Self, ParameterError> {
        let disks: Result<Vec<Disk>, ParameterError> =
            (0..parameters.count).map(|_| Disk::new(&parameters.kind)).collect();
        let places = match &parameters.kind {
            Kind::Flash { .. } => None,
            Kind::Drive(drive) => {
                let capacity = drive.sectors * SECTOR * parameters.count as u64;
                Some(Places::new(capacity, parameters.region, parameters.hints))
            }
        };
        Ok(Self { disks: disks?, stripe: parameters.stripe, places, busy: 0, seed, served: 0 })
    }

    /// Nanoseconds of service, of all disks together.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// The pieces of so many bytes of a file, in their order.
    pub fn pieces(&mut self, file: u32, offset: u64, bytes: u64) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::with_capacity(1);
        let together = if self.places.is_none() { EXTENT } else { FILE_BLOCK };
        let (mut at, end) = (offset, offset + bytes);
        while at < end {
            let upto = end.min((at / together + 1) * together);
            let start = self.address(file, at);
            self.stripe(start, upto - at, &mut pieces);
            at = upto;
        }
        pieces
    }

    /// The pieces in which runs of a file are written: the first byte, and how many; with an arm
    /// also its inode, if that is asked for.
    ///
    /// A device without an arm takes what is to be stable as one request, as it is flushed once for
    /// all of it: on captured servers a commit takes as long as a small write, and a time for each
    /// byte besides, in however many places these are.
    pub fn pieces_of(&mut self, file: u32, runs: &[(u64, u64)], inode: bool) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::with_capacity(runs.len());
        for &(from, bytes) in runs {
            for at in (from..from + bytes).step_by(REQUEST_MOST as usize) {
                pieces.extend(self.pieces(file, at, REQUEST_MOST.min(from + bytes - at)));
            }
        }
        if let Some(at) = self.places.as_mut().filter(|_| inode).map(|own| own.inode(file)) {
            self.stripe(at, FILE_BLOCK, &mut pieces);
        }
        if self.places.is_none() {
            pieces.sort_unstable_by_key(|piece| (piece.disk, piece.at));
            pieces.dedup_by(|next, first| {
                let same = next.disk == first.disk;
                first.bytes += if same { next.bytes } else { 0 };
                same
            });
        }
        pieces
    }

    /// Bytes of an inode, as they are written: those of a block of them; 0: it has no place.
    pub fn inode_bytes(&self) -> u64 {
        self.places.as_ref().map_or(0, |_| FILE_BLOCK)
    }

    /// Learn where files are to lie from a call.
    pub fn learn(&mut self, call: &Call) {
        if let Some(places) = &mut self.places {
            places.learn(call);
        }
    }

    /// Free what a call removes or cuts.
    pub fn forget(&mut self, call: &Call) {
        if let Some(places) = &mut self.places {
            places.forget(call);
        }
    }

    fn address(&mut self, file: u32, offset: u64) -> u64 {
        match &mut self.places {
            None => (mix(u64::from(file)) >> 16) / EXTENT * EXTENT + offset,
            Some(places) => places.block(file, offset) + offset % FILE_BLOCK,
        }
    }

    /// Add the pieces of a stretch of the volume, each to the one before if it goes on there.
    fn stripe(&self, start: u64, bytes: u64, pieces: &mut Vec<Piece>) {
        let (mut from, end) = (start, start + bytes);
        while from < end {
            let unit = from / self.stripe;
            let upto = end.min((unit + 1) * self.stripe);
            let count = self.disks.len() as u64;
            let disk = (unit % count) as usize;
            let at = unit / count * self.stripe + from % self.stripe;
            match pieces.last_mut() {
                Some(last) if last.disk == disk && last.at + last.bytes == at => {
                    last.bytes += upto - from;
                }
                _ => pieces.push(Piece { disk, at, bytes: upto - from }),
            }
            from = upto;
        }
    }

    /// Let a request wait for its disk.
    pub fn push(&mut self, number: usize, piece: Piece, write: bool, now: u64) {
        let first = piece.at / SECTOR;
        let sectors = (piece.at + piece.bytes).div_ceil(SECTOR) - first;
        let request = Request { sector: first, sectors, write };
        self.disks[piece.disk].push(Waiting { number, since: now, request });
    }

    /// Begin the next request of a disk, if one waits and the disk is free.
    pub fn begin(&mut self, disk: usize, now: u64) -> Option<Begun> {
        let luck = chance(self.seed, self.served, SERVICE);
        let begun = self.disks[disk].begin(now, luck)?;
        self.served += 1;
        self.busy += begun.end - now;
        Some(begun)
    }

    /// Take note that a disk is done with a request.
    pub fn done(&mut self, disk: usize) {
        match &mut self.disks[disk] {
            Disk::Flash { free, .. } => *free += 1,
            Disk::Spindle { busy, .. } => *busy = false,
        }
    }
}

impl Disk {
    fn new(kind: &Kind) -> Result<Self, ParameterError> {
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

    fn push(&mut self, mut waiting: Waiting) {
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

    fn begin(&mut self, now: u64, luck: f64) -> Option<Begun> {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::tests::small;

    fn flash(count: usize) -> Disks {
        let mut read = Work::constant(100.0);
        read.per_byte = 1.0;
        let kind = Kind::Flash { channels: 2, read, write: Work::constant(500.0) };
        Disks::new(&Parameters { count, stripe: 8192, kind, region: 0, hints: 0 }, 1).unwrap()
    }

    #[test]
    fn data_is_striped_over_the_disks_and_nothing_is_lost() {
        for count in [1, 3] {
            let mut disks = flash(count);
            let pieces = disks.pieces(5, 4096, 150_000);
            assert_eq!(pieces.iter().map(|own| own.bytes).sum::<u64>(), 150_000);
            assert_eq!(pieces.len() == 1, count == 1, "{pieces:?}");
            assert!(pieces.windows(2).all(|pair| pair[1].disk == (pair[0].disk + 1) % count));
        }
    }

    #[test]
    fn what_is_flushed_is_one_request_of_each_device_and_one_of_each_place_for_an_arm() {
        let runs = [(0, 4096), (40_960, 4096), (81_920, 8192)];
        let mut pieces = flash(2).pieces_of(5, &runs, true);
        assert_eq!(pieces.iter().map(|own| own.bytes).sum::<u64>(), 16_384);
        pieces.dedup_by_key(|own| own.disk);
        assert_eq!(pieces.len(), 2);
        let kind = Kind::Drive(Box::new(small()));
        let mut disks =
            Disks::new(&Parameters { count: 1, stripe: 1 << 20, kind, region: 0, hints: 0 }, 1)
                .unwrap();
        let sizes: Vec<u64> = disks.pieces_of(5, &runs, true).iter().map(|own| own.bytes).collect();
        assert_eq!(sizes, [4096, 4096, 8192, FILE_BLOCK]);
        assert_eq!(disks.pieces_of(5, &runs, false).len(), 3);
    }

    #[test]
    fn a_device_does_as_much_at_a_time_as_it_has_channels() {
        let mut disks = flash(1);
        let piece = Piece { disk: 0, at: 0, bytes: 512 };
        for number in 0..3 {
            disks.push(number, piece, number == 1, 10);
        }
        let (first, second) = (disks.begin(0, 10).unwrap(), disks.begin(0, 10).unwrap());
        assert_eq!((first.number, first.end), (0, 10 + 100 + 512));
        assert_eq!((second.number, second.end), (1, 10 + 500));
        assert_eq!(disks.begin(0, 20), None);
        disks.done(0);
        let third = disks.begin(0, 510).unwrap();
        assert_eq!((third.number, third.spent.queue), (2, 500));
        assert_eq!(disks.busy(), 612 + 500 + 612);
    }

    #[test]
    fn an_arm_takes_one_request_at_a_time_and_tells_where_its_time_went() {
        let kind = Kind::Drive(Box::new(small()));
        let mut disks =
            Disks::new(&Parameters { count: 1, stripe: 1 << 20, kind, region: 0, hints: 0 }, 1)
                .unwrap();
        disks.push(0, Piece { disk: 0, at: 5120, bytes: 512 }, false, 0);
        disks.push(1, Piece { disk: 0, at: 0, bytes: 512 }, false, 0);
        let first = disks.begin(0, 0).unwrap();
        let Spent { queue, seek, rotation, transfer } = first.spent;
        assert_eq!(queue + seek + rotation + transfer, first.end);
        assert_eq!(disks.begin(0, 1), None);
        disks.done(0);
        assert_eq!(disks.begin(0, first.end).unwrap().number, 1 - first.number);
    }
}
