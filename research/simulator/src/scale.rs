//! A drive of another year (Hsu and Smith, section 5).

use birthmark_storage::drive::{ParameterError, Parameters, Zone};
use serde::Deserialize;

/// Scale factors. All are 1 for the same drive.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// The time of a seek over the same number of inches.
    pub seek: f64,
    /// Revolutions per minute.
    pub rpm: f64,
    /// Sectors of a track.
    pub linear: f64,
    /// Tracks of an inch: scales the cylinders, and those that the arm crosses in a time.
    pub track: f64,
    /// Platters: scales the heads.
    pub platters: f64,
}

/// A larger or faster drive. Skews are just large enough to lose no revolution from one track to
/// the next.
pub fn scale(drive: &Parameters, by: &Scale) -> Result<Parameters, ParameterError> {
    for (key, factor) in [
        ("scale.seek", by.seek),
        ("scale.rpm", by.rpm),
        ("scale.linear", by.linear),
        ("scale.track", by.track),
        ("scale.platters", by.platters),
    ] {
        if !(0.01..=100.0).contains(&factor) {
            return Err(ParameterError { key: key.into(), expected: "0.01 to 100".into() });
        }
    }
    let scaled = |value: u32, by: f64| ((f64::from(value) * by).round() as u32).max(1);
    let mut own = drive.clone();
    own.rpm *= by.rpm;
    own.heads = scaled(drive.heads, by.platters);
    own.cylinders = scaled(drive.cylinders, by.track);
    own.seek = seek(&drive.seek, by);
    own.write_seek = seek(&drive.write_seek, by);
    own.zones = drive.zones.iter().map(|zone| self::zone(zone, by)).collect();
    skew(&mut own);
    let sectors = |zone: &Zone| {
        let cylinders = u64::from(zone.last_cylinder - zone.first_cylinder + 1);
        cylinders * u64::from(own.heads) * u64::from(zone.sectors)
    };
    own.sectors = own.zones.iter().map(sectors).sum();
    Ok(own)
}

/// Points of a seek curve: lower, and over scaled numbers of cylinders.
fn seek(points: &[(u32, f64)], by: &Scale) -> Vec<(u32, f64)> {
    let mut own: Vec<(u32, f64)> = Vec::with_capacity(points.len());
    for &(distance, ms) in points {
        let distance =
            if distance == 1 { 1 } else { (f64::from(distance) * by.track).round() as u32 };
        if own.last().is_none_or(|last| last.0 < distance) {
            own.push((distance, ms * by.seek));
        }
    }
    own
}

/// A zone without bad sectors and spares.
fn zone(zone: &Zone, by: &Scale) -> Zone {
    let bound = |cylinder: u32| (f64::from(cylinder) * by.track).round() as u32;
    Zone {
        first_cylinder: bound(zone.first_cylinder),
        last_cylinder: bound(zone.last_cylinder + 1) - 1,
        sectors: (f64::from(zone.sectors) * by.linear).round() as u32,
        empty: 0,
        spares: 0,
        slips: vec![],
        defects: vec![],
        ..zone.clone()
    }
}

/// Skew tracks just enough for the head to settle.
fn skew(drive: &mut Parameters) {
    let revolution_ms = 60e3 / drive.rpm;
    let settle = drive.head_switch_ms + drive.write_settle_ms;
    let step = drive.seek[0].1.max(drive.write_seek.first().map_or(0.0, |point| point.1));
    let step = step.max(drive.head_switch_ms) + drive.write_settle_ms;
    for zone in &mut drive.zones {
        let most = zone.sectors - 1;
        let sectors =
            |ms: f64| ((ms / revolution_ms * f64::from(zone.sectors)).ceil() as u32).min(most);
        let (track, cylinder) = (sectors(settle), sectors(step));
        (zone.track_skew, zone.cylinder_skew) = (track, cylinder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use birthmark_storage::drive::small;
    use birthmark_storage::drive::{Access, Mechanism};

    const SAME: Scale = Scale { seek: 1.0, rpm: 1.0, linear: 1.0, track: 1.0, platters: 1.0 };

    #[test]
    fn each_dimension_changes_what_it_is_of() {
        let drive = small();
        let own = scale(&drive, &Scale { seek: 0.5, rpm: 2.0, ..SAME }).unwrap();
        assert_eq!((own.seek[0], own.seek[1], own.rpm), ((1, 0.5), (3, 1.0), 12_000.0));
        assert_eq!(own.sectors, drive.sectors);
        let own = scale(&drive, &Scale { linear: 1.2, platters: 2.0, ..SAME }).unwrap();
        assert_eq!((own.zones[0].sectors, own.zones[1].sectors, own.heads), (12, 6, 4));
        assert_eq!(own.sectors, 3 * 4 * 12 + 2 * 4 * 6);
        let own = scale(&drive, &Scale { track: 2.0, ..SAME }).unwrap();
        assert_eq!(
            (own.cylinders, own.zones[1].first_cylinder, own.zones[1].last_cylinder),
            (12, 8, 11)
        );
        assert_eq!(own.seek, [(1, 1.0), (6, 2.0)]);
    }

    #[test]
    fn no_revolution_is_lost_from_track_to_track() {
        for by in
            [SAME, Scale { rpm: 1.7, linear: 3.0, ..SAME }, Scale { seek: 0.5, track: 2.0, ..SAME }]
        {
            let mut drive = small();
            drive.zones.truncate(1);
            let own = scale(&drive, &by).unwrap();
            let mut mechanism = Mechanism::new(&own).unwrap();
            let (mut sector, mut at) = (0, 0);
            while sector < own.sectors {
                let access = Access { write: true, unordered: false };
                let run = mechanism.pass(sector, own.sectors, at, at, access);
                assert!(run.start - at < mechanism.geometry().revolution() / 2, "{by:?} {sector}");
                (sector, at) = (sector + run.sectors, run.end);
            }
        }
    }

    #[test]
    fn a_factor_out_of_range_is_named() {
        let error = scale(&small(), &Scale { rpm: 0.0, ..SAME }).unwrap_err();
        assert_eq!(error.key, "scale.rpm");
    }
}
