//! The disks of a server: where what is stored lies, and when it is read and written.

use super::call::Call;
use super::disk::{Begun, Disk, SECTOR};
use super::parameters::{Disks as Parameters, Kind};
use super::places::{Places, FILE_BLOCK};
use super::work::{chance, mix};
use crate::drive::{ParameterError, Request};
use crate::queue::Waiting;

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

/// Disks with what waits before each of them.
pub struct Disks {
    disks: Vec<Disk>,
    stripe: u64,
    places: Option<Places>,
    busy: u64,
    seed: u64,
    served: u64,
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
        self.disks[disk].done();
    }
}

#[cfg(test)]
mod tests;
