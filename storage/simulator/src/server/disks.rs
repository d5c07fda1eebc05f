//! The disks of a server: positions of data, reads and writes.

use super::call::Call;
use super::disk::{Begun, Disk, SECTOR};
use super::parameters::{Disks as Parameters, Kind};
use super::places::{Places, FILE_BLOCK};
use super::work::{chance, mix};
use crate::drive::{ParameterError, Request};
use crate::queue::Waiting;

/// Most bytes of a request, except writes on a device without an arm.
pub const REQUEST_MOST: u64 = 1 << 20;
/// Bytes of a contiguous piece of a file on a device without an arm.
const EXTENT: u64 = 64 << 10;
/// Purpose of random numbers: a request's time.
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

/// Disks with their queues.
pub struct Disks {
    disks: Vec<Disk>,
    stripe: u64,
    places: Option<Places>,
    busy: u64,
    seed: u64,
    served: u64,
}

impl Disks {
    /// Idle disks; `seed` is that of random choices.
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

    /// Nanoseconds of service of all disks.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// The pieces of a file's bytes, in order.
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

    /// The pieces to write for runs of a file: the first byte, and how many; with an arm also its
    /// inode, if requested.
    ///
    /// A device without an arm gets one request for all data to make stable, because one flush
    /// covers it. On captured servers a commit takes as long as a small write, plus a time per
    /// byte, however many pieces there are.
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

    /// Bytes of an inode write: a block of them; 0 without a position.
    pub fn inode_bytes(&self) -> u64 {
        self.places.as_ref().map_or(0, |_| FILE_BLOCK)
    }

    /// Learn the placement of files from a call.
    pub fn learn(&mut self, call: &Call) {
        if let Some(places) = &mut self.places {
            places.learn(call);
        }
    }

    /// Free the blocks that a call removes or cuts.
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

    /// Add the pieces of a range of the volume, merging contiguous ones.
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

    /// Queue a request at its disk.
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

    /// Record the end of a disk's request.
    pub fn done(&mut self, disk: usize) {
        self.disks[disk].done();
    }
}

#[cfg(test)]
mod tests;
