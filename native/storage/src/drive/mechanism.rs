//! Arm and rotation: how long until a sector is under its head, and until it has passed.

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

/// How sectors are passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// To be written.
    pub write: bool,
    /// In whatever order those of a track come.
    pub unordered: bool,
}

/// Sectors that pass under the head one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Nanoseconds until the head was on the track.
    pub seek: u64,
    /// Nanoseconds until the first sector began.
    pub rotation: u64,
    /// When the first sector began.
    pub start: u64,
    /// How many there are.
    pub sectors: u64,
    /// When the last one had passed.
    pub end: u64,
    /// How many at their end had passed before the first, where their order does not matter.
    pub early: u64,
}

impl Mechanism {
    /// That of a drive whose parameters have been checked.
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

    /// From when on the arm can be sent elsewhere.
    pub fn free(&self) -> u64 {
        self.free
    }

    /// How often the arm went to another cylinder.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Let the arm be free from a time on, because what it does is broken off.
    pub fn stop(&mut self, at: u64) {
        self.free = at;
    }

    /// Pass over sectors, from time `at` and where their data are there from time `from` on; over
    /// fewer if they do not follow one another without a gap.
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

    /// How many of the last sectors of a run pass before the first, `wait` nanoseconds before that.
    ///
    /// All that begin while the head waits, if it came to the track between the first and the last.
    fn early(&self, place: &Place, sectors: u64, wait: u64) -> u64 {
        if wait == 0 {
            return 0;
        }
        let begun = self.passing(place, self.geometry.revolution() - wait) + 1;
        sectors.saturating_sub(begun)
    }

    /// Nanoseconds to bring the head in use to the track of a place.
    ///
    /// The heads are switched while the arm moves; to settle for a write comes after both.
    pub(super) fn seek(&self, place: &Place, write: bool) -> u64 {
        let distance = self.cylinder.abs_diff(place.cylinder);
        let switch = if self.head == place.head { 0 } else { self.head_switch };
        let curve = self.write_seeks.as_ref().filter(|_| write).unwrap_or(&self.seeks);
        let moved = curve.time(distance).max(switch);
        moved + if write && moved > 0 { self.write_settle } else { 0 }
    }

    /// How many sectors of the track of a place pass in so many nanoseconds.
    pub fn passing(&self, place: &Place, time: u64) -> u64 {
        (u128::from(time) * u128::from(place.track) / u128::from(self.geometry.revolution())) as u64
    }

    /// Nanoseconds in which sectors of the track of a place pass.
    pub fn time(&self, place: &Place, sectors: u64) -> u64 {
        (u128::from(sectors) * u128::from(self.geometry.revolution()) / u128::from(place.track))
            as u64
    }
}

/// Milliseconds in nanoseconds.
pub fn nanoseconds(milliseconds: f64) -> u64 {
    (milliseconds * 1e6).round() as u64
}
