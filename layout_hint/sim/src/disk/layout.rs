//! Where on the drive a sector is: zone, cylinder, head, and angle.

use super::Parameters;

/// The logical sectors of a drive, which fill cylinder after cylinder from the outermost.
///
/// Sectors set aside as spares, and those slipped over because they are bad, are left out.
#[derive(Clone, Debug)]
pub struct Layout {
    zones: Vec<Band>,
    heads: u64,
    sectors: u64,
}

#[derive(Clone, Debug)]
struct Band {
    start: u64,
    cylinder: u64,
    sectors: u64,
    head_skew: u64,
    turn: u64,
    sector_time: f64,
}

/// A sector's place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Its cylinder, 0 being the outermost.
    pub cylinder: u32,
    /// Its head.
    pub head: u32,
    /// Sectors from it to the end of the track, itself among them.
    pub left: u64,
    /// Where it begins, in revolutions from the index mark, below 1.
    pub angle: f64,
    /// Seconds in which a sector of this track passes under the head.
    pub sector_time: f64,
}

impl Layout {
    /// The layout of a drive whose parameters have been checked.
    pub fn new(parameters: &Parameters) -> Self {
        let heads = u64::from(parameters.heads);
        let revolution = 60.0 / parameters.rpm;
        let mut start = 0;
        let mut zones = Vec::with_capacity(parameters.zones.len());
        for (number, zone) in parameters.zones.iter().enumerate() {
            let end = parameters.zones.get(number + 1);
            let end = end.map_or(parameters.cylinders, |next| next.first_cylinder);
            let sectors = u64::from(zone.sectors);
            let head_skew = u64::from(zone.head_skew);
            zones.push(Band {
                start,
                cylinder: u64::from(zone.first_cylinder),
                sectors,
                head_skew,
                turn: (u64::from(zone.cylinder_skew) + (heads - 1) * head_skew) % sectors,
                sector_time: revolution / f64::from(zone.sectors),
            });
            start += u64::from(end - zone.first_cylinder) * heads * sectors;
        }
        Self { zones, heads, sectors: start }
    }

    /// How many sectors the drive has.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Where a sector is; one beyond the end counts as in further cylinders of the last zone.
    pub fn place(&self, sector: u64) -> Place {
        let after = self.zones.partition_point(|zone| zone.start <= sector);
        let zone = &self.zones[after.saturating_sub(1)];
        let within = sector - zone.start;
        let (track, at) = (within / zone.sectors, within % zone.sectors);
        let (cylinder, head) = (track / self.heads, track % self.heads);
        let skewed = (cylinder * zone.turn + head * zone.head_skew + at) % zone.sectors;
        Place {
            cylinder: (zone.cylinder + cylinder) as u32,
            head: head as u32,
            left: zone.sectors - at,
            angle: skewed as f64 / zone.sectors as f64,
            sector_time: zone.sector_time,
        }
    }
}
