//! Arm and rotation: time until a sector is under its head, and until it has passed.

use super::checks::ParameterError;
use super::{Geometry, Parameters, Place, SeekCurve};

/// The moving parts. At time 0 the index mark is under the heads, and the arm above cylinder 0.
#[derive(Clone, Debug)]
pub struct Mechanism {
    geometry: Geometry,
    seeks: SeekCurve,
    write_seeks: Option<SeekCurve>,
    head_switch: u64,
    write_settle: u64,
    cylinder: u32,
    head: u32,
    free: u64,
    moves: u64,
}

/// Kind of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// To be written.
    pub write: bool,
    /// Whether the sectors of a track may come in any order.
    pub unordered: bool,
}

/// Sectors that pass under the head one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Nanoseconds until the head was on the track.
    pub seek: u64,
    /// Nanoseconds until the first sector began.
    pub rotation: u64,
    /// Time at which the first sector began.
    pub start: u64,
    /// Number of sectors.
    pub sectors: u64,
    /// Time at which the last one had passed.
    pub end: u64,
    /// Number at their end that had passed before the first, if their order does not matter.
    pub early: u64,
}

impl Mechanism {
    /// The mechanism of a drive with checked parameters.
    pub fn new(parameters: &Parameters) -> Result<Self, ParameterError> {
        Ok(Self {
            geometry: Geometry::new(parameters)?,
            seeks: SeekCurve::new(&parameters.seek),
            write_seeks: Some(&parameters.write_seek)
                .filter(|points| !points.is_empty())
                .map(|points| SeekCurve::new(points)),
            head_switch: nanoseconds(parameters.head_switch_ms),
            write_settle: nanoseconds(parameters.write_settle_ms),
            cylinder: 0,
            head: 0,
            free: 0,
            moves: 0,
        })
    }

    /// Where its sectors are.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The time from which the arm can move.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// Number of seeks to another cylinder.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Free the arm at a time, because its work is aborted.
    pub fn stop(&mut self, at: u64) {
        self.free = at;
    }

    /// Pass over sectors, from time `at`, with their data from time `from` on; stop at a gap.
    pub fn pass(&mut self, sector: u64, most: u64, at: u64, from: u64, access: Access) -> Run {
        let place = self.geometry.place(sector);
        let seek = self.seek(&place, access.write);
        self.moves += u64::from(self.cylinder != place.cylinder);
        (self.cylinder, self.head) = (place.cylinder, place.head);
        let ready = (at + seek).max(from);
        let wait = self.wait(&place, ready);
        let sectors = place.run.min(most);
        let early = if access.unordered { self.early(&place, sectors, wait) } else { 0 };
        let start = ready + wait;
        self.free = start + self.time(&place, sectors - early);
        Run { seek, rotation: start - at - seek, start, sectors, end: self.free, early }
    }

    /// Nanoseconds from time `at`, or from when the arm is free, until a sector begins to pass.
    pub fn reach(&self, sector: u64, at: u64, write: bool) -> u64 {
        let (place, from) = (self.geometry.place(sector), at.max(self.free));
        let ready = from + self.seek(&place, write);
        ready + self.wait(&place, ready) - at
    }

    /// Nanoseconds from time `ready`, when the head is on the track of a place, until that begins.
    pub(super) fn wait(&self, place: &Place, ready: u64) -> u64 {
        let revolution = self.geometry.revolution();
        (place.angle + revolution - ready % revolution) % revolution
    }

    /// Number of last sectors of a run that pass before the first, `wait` nanoseconds before that.
    ///
    /// They begin while the head waits, if it came to the track between the first and the last.
    fn early(&self, place: &Place, sectors: u64, wait: u64) -> u64 {
        if wait == 0 {
            return 0;
        }
        let begun = self.passing(place, self.geometry.revolution() - wait) + 1;
        sectors.saturating_sub(begun)
    }

    /// Nanoseconds to bring the active head to the track of a position.
    ///
    /// The heads are switched while the arm moves; settling for a write comes after both.
    pub(super) fn seek(&self, place: &Place, write: bool) -> u64 {
        let distance = self.cylinder.abs_diff(place.cylinder);
        let switch = if self.head == place.head { 0 } else { self.head_switch };
        let curve = self.write_seeks.as_ref().filter(|_| write).unwrap_or(&self.seeks);
        let moved = curve.time(distance).max(switch);
        moved + if write && moved > 0 { self.write_settle } else { 0 }
    }

    /// Number of sectors of a track that pass in a time.
    pub fn passing(&self, place: &Place, time: u64) -> u64 {
        (u128::from(time) * u128::from(place.track) / u128::from(self.geometry.revolution())) as u64
    }

    /// Nanoseconds in which sectors of a track pass.
    pub fn time(&self, place: &Place, sectors: u64) -> u64 {
        (u128::from(sectors) * u128::from(self.geometry.revolution()) / u128::from(place.track))
            as u64
    }
}

/// Milliseconds in nanoseconds.
pub fn nanoseconds(milliseconds: f64) -> u64 {
    (milliseconds * 1e6).round() as u64
}
