//! Sectors of a zone that share spares.

use super::checks::{need, ParameterError};
use super::parameters::{Parameters, Spares, Zone};

/// A run of a zone's cylinders: the whole zone, or a range.
///
/// Addressed sectors are contiguous in it; bad sectors are slipped over, and spares are at the end.
/// Physical sectors are counted from the zone's beginning.
#[derive(Clone, Debug)]
pub struct Region {
    /// The zone's number.
    pub zone: usize,
    /// The first sector in it that a host addresses.
    pub start: u64,
    /// How many such sectors it has.
    pub sectors: u64,
    first: u64,
    end: u64,
    slips: Vec<u64>,
}

impl Region {
    /// The regions of a zone whose first sector is `start`.
    pub fn of_zone(
        parameters: &Parameters,
        number: usize,
        start: u64,
    ) -> Result<Vec<Region>, ParameterError> {
        let zone = &parameters.zones[number];
        let size = size(parameters, zone);
        let length = match parameters.sparing.at_end_of {
            Spares::Disk | Spares::Zone => size,
            Spares::Range => {
                let range = u64::from(parameters.sparing.range_cylinders);
                range * u64::from(parameters.heads) * u64::from(zone.sectors)
            }
        };
        let key = |member: &str| format!("zones.{number}.{member}");
        need(zone.empty < size, &key("empty"), &format!("less than its {size} sectors"))?;
        need(zone.spares < size, &key("spares"), &format!("less than its {size} sectors"))?;
        let mut slips = zone.slips.clone();
        slips.sort_unstable();
        let different = slips.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = slips.last().is_none_or(|&last| last < size);
        let expected = format!("different sectors below {size}");
        need(different && inside, &key("slips"), &expected)?;
        let mut regions: Vec<Region> = Vec::new();
        for from in (0..size).step_by(length as usize) {
            let start = regions.last().map_or(start, |last| last.start + last.sectors);
            let (first, end) = (from.max(zone.empty), (from + length).min(size));
            let before = |bound: u64| slips.partition_point(|&slip| slip < bound);
            let slips = slips[before(first)..before(end).max(before(first))].to_vec();
            let mut region = Region { zone: number, start, sectors: 0, first, end, slips };
            region.leave_spares(parameters, zone)?;
            regions.push(region);
        }
        Ok(regions)
    }

    /// Count the sectors that remain; slips use up spares, if there are any here.
    fn leave_spares(&mut self, parameters: &Parameters, zone: &Zone) -> Result<(), ParameterError> {
        let slips = self.slips.len() as u64;
        let spares = match parameters.sparing.at_end_of {
            Spares::Disk => slips,
            Spares::Range | Spares::Zone => zone.spares,
        };
        let key = format!("zones.{}.spares", self.zone);
        need(slips <= spares, &key, &format!("as many as slips, which are {slips}"))?;
        let sectors = self.end.checked_sub(self.first + spares);
        need(sectors.is_some(), &key, "fewer than there are sectors")?;
        self.sectors = sectors.unwrap_or_default();
        Ok(())
    }

    /// The physical sector of an addressed one.
    pub fn physical(&self, sector: u64) -> u64 {
        let within = self.first + (sector - self.start);
        let (mut low, mut high) = (0, self.slips.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.slips[middle] - middle as u64 <= within {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        within + low as u64
    }

    /// The first addressed sector from a physical one on, or the region's end.
    pub fn logical(&self, physical: u64) -> u64 {
        let physical = physical.max(self.first);
        let slipped = self.slips.partition_point(|&slip| slip < physical) as u64;
        (self.start + (physical - self.first) - slipped).min(self.start + self.sectors)
    }

    /// The first slipped physical sector behind one, or the region's end.
    pub fn gap(&self, physical: u64) -> u64 {
        let next = self.slips.partition_point(|&slip| slip < physical);
        self.slips.get(next).copied().unwrap_or(self.end)
    }

    /// Whether a physical sector of its zone belongs to it.
    pub fn covers(&self, physical: u64) -> bool {
        (self.first..self.end).contains(&physical)
    }

    /// Whether a host addresses a physical sector of the region.
    pub fn is_addressed(&self, physical: u64) -> bool {
        let sector = self.logical(physical);
        sector < self.start + self.sectors && self.physical(sector) == physical
    }
}

/// Number of all sectors of a zone.
pub fn size(parameters: &Parameters, zone: &Zone) -> u64 {
    let cylinders = u64::from(zone.last_cylinder - zone.first_cylinder + 1);
    cylinders * u64::from(parameters.heads) * u64::from(zone.sectors)
}
