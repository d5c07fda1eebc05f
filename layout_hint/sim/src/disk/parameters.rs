//! What a drive is: the parameters of its model.

use serde::Deserialize;

/// The parameters of a drive. Times are in milliseconds, as in data sheets.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// What it is called.
    pub name: String,
    /// Whether some of this was assumed for want of a publication.
    #[serde(default)]
    pub assumption: bool,
    /// Revolutions per minute.
    pub rpm: f64,
    /// Surfaces, each with a head.
    pub heads: u32,
    /// Cylinders, from the outermost.
    pub cylinders: u32,
    /// Its zones, from the outermost, which begins at cylinder 0.
    pub zones: Vec<Zone>,
    /// How long the arm takes from one cylinder to another, to read there.
    pub seek: Seek,
    /// To read with another head of the same cylinder.
    pub head_switch_ms: f64,
    /// How much longer it takes to settle, after either, before writing.
    pub write_settle_ms: f64,
    /// What the controller takes for every request, before anything else.
    pub overhead_ms: f64,
    /// Speed between the drive and its host: millions of bytes a second.
    pub interface_mb_per_s: f64,
    /// Places for tracks read ahead; 0 for a drive without.
    pub segments: u32,
    /// What fits into each, in KiB.
    pub segment_kib: u32,
    /// Whether a write is done as soon as the drive has it in memory.
    #[serde(default)]
    pub write_cache: bool,
}

/// Cylinders with the same number of sectors in a track.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Its outermost cylinder.
    pub first_cylinder: u32,
    /// Sectors in each track.
    pub sectors: u32,
    /// By how many sectors a track begins later than that of the head before.
    pub head_skew: u32,
    /// By how many sectors a cylinder begins later than the last track of the one before.
    pub cylinder_skew: u32,
}

/// Seek times in milliseconds; to stay takes none.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Seek {
    /// Cylinders and time, straight lines between; the first is for 1 cylinder, the last for the
    /// longest there is.
    Points(Vec<(u32, f64)>),
    /// `base + root * sqrt(x) + linear * x`, of the share `x` of the longest seek.
    Curve {
        /// What every seek takes.
        base: f64,
        /// For the square root of the share.
        root: f64,
        /// For the share.
        linear: f64,
    },
}

/// Parameters that no drive can have.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{key}: expected {expected}")]
pub struct ParameterError {
    /// The parameter.
    pub key: &'static str,
    /// What it should be.
    pub expected: &'static str,
}

/// Beyond what any drive has; it keeps every time finite.
const LARGEST: f64 = 1e6;

impl Parameters {
    /// Whether a drive can be so.
    pub fn check(&self) -> Result<(), ParameterError> {
        let positive = |value: f64| value > 0.0 && value <= LARGEST;
        let time = |value: f64| (0.0..=LARGEST).contains(&value);
        need(positive(self.rpm), "rpm", "a positive number")?;
        need((1..=1024).contains(&self.heads), "heads", "1 to 1024")?;
        need((2..=1 << 22).contains(&self.cylinders), "cylinders", "2 to 4194304")?;
        need(time(self.head_switch_ms), "head_switch_ms", "a time")?;
        need(time(self.write_settle_ms), "write_settle_ms", "a time")?;
        need(time(self.overhead_ms), "overhead_ms", "a time")?;
        need(positive(self.interface_mb_per_s), "interface_mb_per_s", "a positive number")?;
        need(self.segments <= 256, "segments", "0 to 256")?;
        need((1..=1 << 20).contains(&self.segment_kib), "segment_kib", "1 to 1048576")?;
        self.check_zones()?;
        self.seek.check(self.cylinders)
    }

    fn check_zones(&self) -> Result<(), ParameterError> {
        let firsts: Vec<_> = self.zones.iter().map(|zone| zone.first_cylinder).collect();
        let rising = firsts.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = firsts.last().is_some_and(|&last| last < self.cylinders);
        need(
            firsts.first() == Some(&0) && rising && inside,
            "zones.first_cylinder",
            "0, then rising, below `cylinders`",
        )?;
        let sectors = self.zones.iter().all(|zone| (1..=1 << 20).contains(&zone.sectors));
        need(sectors, "zones.sectors", "1 to 1048576")?;
        let skews = |zone: &Zone| zone.head_skew.max(zone.cylinder_skew) < zone.sectors;
        need(self.zones.iter().all(skews), "zones.*_skew", "fewer than the track has sectors")
    }
}

impl Seek {
    fn check(&self, cylinders: u32) -> Result<(), ParameterError> {
        let time = |value: f64| (0.0..=LARGEST).contains(&value);
        match self {
            Seek::Curve { base, root, linear } => {
                need(time(*base) && time(*root) && time(*linear), "seek.curve", "times")
            }
            Seek::Points(points) => {
                let rising = points.windows(2).all(|pair| pair[0].0 < pair[1].0);
                let ends = points.first().map(|point| point.0) == Some(1)
                    && points.last().is_some_and(|point| point.0 < cylinders);
                let expected = "rising distances from 1 to below `cylinders`, each with its time";
                need(
                    rising && ends && points.iter().all(|point| time(point.1)),
                    "seek.points",
                    expected,
                )
            }
        }
    }
}

fn need(holds: bool, key: &'static str, expected: &'static str) -> Result<(), ParameterError> {
    if holds {
        Ok(())
    } else {
        Err(ParameterError { key, expected })
    }
}
