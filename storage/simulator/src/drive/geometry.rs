//! The position of a sector on the drive: cylinder, head, and angle.

use super::checks::{need, ParameterError};
use super::parameters::{Mapping, Parameters};
use super::region::{size, Region};
use std::ops::Range;

/// The sectors that hosts address, at the positions that slips, spares and defects leave.
#[derive(Clone, Debug)]
pub struct Geometry {
    regions: Vec<Region>,
    zones: Vec<Tracks>,
    heads: u64,
    serpentine: bool,
    sectors: u64,
    revolution: u64,
}

/// The tracks of a zone.
#[derive(Clone, Debug)]
struct Tracks {
    cylinder: u64,
    sectors: u64,
    offset: u64,
    track_skew: u64,
    turn: u64,
    replaced: Vec<(u64, u64)>,
}

/// A sector's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its cylinder, 0 being the outermost.
    pub cylinder: u32,
    /// Its head.
    pub head: u32,
    /// Nanoseconds from the index mark until it begins.
    pub angle: u64,
    /// Sectors that follow without a gap on this track, itself among them.
    pub run: u64,
    /// Physical sectors of the track.
    pub track: u64,
}

impl Geometry {
    /// The geometry of a drive with checked parameters, except slips, spares and defects.
    pub fn new(parameters: &Parameters) -> Result<Self, ParameterError> {
        let mut regions: Vec<Region> = Vec::new();
        for number in 0..parameters.zones.len() {
            let start = regions.last().map_or(0, |last| last.start + last.sectors);
            regions.extend(Region::of_zone(parameters, number, start)?);
        }
        let held = regions.last().map_or(0, |last| last.start + last.sectors);
        let sectors = parameters.sectors;
        need((1..=held).contains(&sectors), "sectors", &format!("1 to {held}, as zones have"))?;
        let geometry = Self {
            regions,
            zones: tracks(parameters),
            heads: u64::from(parameters.heads),
            serpentine: parameters.mapping == Mapping::Serpentine,
            sectors,
            revolution: (60e9 / parameters.rpm).round() as u64,
        };
        geometry.check_defects(parameters)?;
        Ok(geometry)
    }

    /// How many sectors a host can address.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Nanoseconds of a revolution.
    pub fn revolution(&self) -> u64 {
        self.revolution
    }

    /// The position of a sector that a host can address.
    pub fn place(&self, sector: u64) -> Place {
        let region = self.region(sector);
        let zone = &self.zones[region.zone];
        let physical = region.physical(sector);
        let next = zone.replaced.partition_point(|&(defect, _)| defect < physical);
        let (at, bound) = match zone.replaced.get(next) {
            Some(&(defect, spare)) if defect == physical => (spare, spare + 1),
            Some(&(defect, _)) => (physical, region.gap(physical).min(defect)),
            None => (physical, region.gap(physical)),
        };
        let track_end = at - at % zone.sectors + zone.sectors;
        let run = (bound.min(track_end) - at).min(region.start + region.sectors - sector);
        self.at(region.zone, at, run.min(self.sectors - sector))
    }

    /// The sectors on the track of one, ignoring defects.
    pub fn track(&self, sector: u64) -> Range<u64> {
        let region = self.region(sector);
        let track = self.zones[region.zone].sectors;
        let physical = region.physical(sector);
        let first = physical - physical % track;
        region.logical(first)..region.logical(first + track).min(self.sectors)
    }

    /// The first sector on the track of a sector that passes the head within `passing` physical
    /// sectors before it.
    pub fn passed_before(&self, sector: u64, passing: u64) -> u64 {
        let region = self.region(sector);
        let physical = region.physical(sector);
        let on_track = physical % self.zones[region.zone].sectors;
        region.logical(physical - passing.min(on_track))
    }

    fn region(&self, sector: u64) -> &Region {
        let after = self.regions.partition_point(|region| region.start <= sector);
        // Of several that begin with the sector, all but the last are empty.
        &self.regions[after - 1]
    }

    /// The position of a physical sector.
    fn at(&self, zone: usize, physical: u64, run: u64) -> Place {
        let zone = &self.zones[zone];
        let (track, at) = (physical / zone.sectors, physical % zone.sectors);
        let (cylinder, order) = (track / self.heads, track % self.heads);
        let reversed = self.serpentine && cylinder % 2 == 1;
        let head = if reversed { self.heads - 1 - order } else { order };
        let turned = zone.offset + order * zone.track_skew + cylinder * zone.turn + at;
        Place {
            cylinder: (zone.cylinder + cylinder) as u32,
            head: head as u32,
            angle: turned % zone.sectors * self.revolution / zone.sectors,
            run,
            track: zone.sectors,
        }
    }

    /// Check that a defect's replacement is itself, or a sector of the zone that no host addresses.
    fn check_defects(&self, parameters: &Parameters) -> Result<(), ParameterError> {
        for (number, zone) in parameters.zones.iter().enumerate() {
            let size = size(parameters, zone);
            let addressed = |physical| {
                let own = self.regions.iter().filter(|region| region.zone == number);
                own.into_iter()
                    .any(|region| region.covers(physical) && region.is_addressed(physical))
            };
            let free = |&(defect, spare): &(u64, u64)| {
                defect.max(spare) < size && (spare == defect || !addressed(spare))
            };
            let mut all: Vec<u64> = zone.defects.iter().flat_map(|pair| [pair.0, pair.1]).collect();
            all.sort_unstable();
            let own = zone.defects.iter().filter(|pair| pair.0 == pair.1).count();
            all.dedup();
            let different = all.len() + own == 2 * zone.defects.len();
            let key = format!("zones.{number}.defects");
            let expected = format!("pairs of different sectors below {size}, the second one spare");
            need(different && zone.defects.iter().all(free), &key, &expected)?;
        }
        Ok(())
    }
}

fn tracks(parameters: &Parameters) -> Vec<Tracks> {
    let heads = u64::from(parameters.heads);
    let tracks = |zone: &super::Zone| {
        let track_skew = u64::from(zone.track_skew);
        let mut replaced = zone.defects.clone();
        replaced.sort_unstable();
        Tracks {
            cylinder: u64::from(zone.first_cylinder),
            sectors: u64::from(zone.sectors),
            offset: u64::from(zone.offset),
            track_skew,
            turn: (heads - 1) * track_skew + u64::from(zone.cylinder_skew),
            replaced,
        }
    };
    parameters.zones.iter().map(tracks).collect()
}
