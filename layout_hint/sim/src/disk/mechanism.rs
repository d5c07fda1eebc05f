//! Arm and rotation: how long until a sector is under its head, and until it has passed.

use super::seek;
use super::{Layout, Parameters, Place};

/// Two places closer than this, in revolutions, are the same: what rounding may differ by.
const SAME: f64 = 1e-6;

/// The moving parts. The disk turns at its speed; at time 0 its index mark is under the heads.
#[derive(Clone, Debug)]
pub struct Mechanism {
    layout: Layout,
    seek: Vec<f32>,
    head_switch: f64,
    write_settle: f64,
    per_second: f64,
    revolution: f64,
    cylinder: u32,
    head: u32,
    moves: u64,
}

impl Mechanism {
    /// That of a drive whose parameters have been checked, its arm above cylinder 0.
    pub fn new(parameters: &Parameters) -> Self {
        Self {
            layout: Layout::new(parameters),
            seek: seek::table(&parameters.seek, parameters.cylinders),
            head_switch: parameters.head_switch_ms / 1e3,
            write_settle: parameters.write_settle_ms / 1e3,
            per_second: parameters.rpm / 60.0,
            revolution: 60.0 / parameters.rpm,
            cylinder: 0,
            head: 0,
            moves: 0,
        }
    }

    /// Where its sectors are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Seconds to move the arm by so many cylinders, to read there.
    pub fn seek(&self, distance: u32) -> f64 {
        let farthest = self.seek.len() - 1;
        f64::from(self.seek[(distance as usize).min(farthest)])
    }

    /// How often the arm went to another cylinder.
    pub fn moves(&self) -> u64 {
        self.moves
    }

    /// Whether the head in use is above this track.
    pub fn is_on(&self, place: &Place) -> bool {
        (self.cylinder, self.head) == (place.cylinder, place.head)
    }

    /// Bring the head to a place from time `at`; return when the sector begins to pass under it.
    ///
    /// Choosing another head goes on while the arm moves; settling to write comes after both.
    pub fn reach(&mut self, place: &Place, at: f64, write: bool) -> f64 {
        let mut at = at;
        if !self.is_on(place) {
            let distance = self.cylinder.abs_diff(place.cylinder);
            let switch = if self.head == place.head { 0.0 } else { self.head_switch };
            at += self.seek(distance).max(switch) + if write { self.write_settle } else { 0.0 };
            self.moves += u64::from(distance != 0);
            (self.cylinder, self.head) = (place.cylinder, place.head);
        }
        at + self.until(place.angle, at)
    }

    /// Read or write sectors from time `at`; return when the last has passed.
    pub fn transfer(&mut self, sector: u64, sectors: u64, at: f64, write: bool) -> f64 {
        let (mut sector, mut rest, mut at) = (sector, sectors, at);
        while rest > 0 {
            let place = self.layout.place(sector);
            let here = rest.min(place.left);
            at = self.reach(&place, at, write) + here as f64 * place.sector_time;
            sector += here;
            rest -= here;
        }
        at
    }

    /// Seconds from `at` until an angle is under the heads.
    fn until(&self, angle: f64, at: f64) -> f64 {
        let turns = at * self.per_second;
        let ahead = angle - (turns - turns.floor());
        let ahead = if ahead < -SAME { ahead + 1.0 } else { ahead.max(0.0) };
        if ahead > 1.0 - SAME {
            0.0
        } else {
            ahead * self.revolution
        }
    }
}
