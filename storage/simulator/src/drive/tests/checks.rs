//! Impossible parameters are refused, and named.

use super::*;

/// A change, and the beginning of the error that it causes.
type Case<T> = (fn(&mut T), &'static str);

/// Return the reason for which a changed drive is refused.
fn refused(change: fn(&mut Parameters)) -> String {
    let mut parameters = small();
    change(&mut parameters);
    Drive::new(&parameters).unwrap_err().to_string()
}

#[test]
fn the_small_drive_is_none_of_them() {
    assert!(Drive::new(&small()).is_ok());
}

#[test]
fn numbers_out_of_range_are_named() {
    let cases: [Case<Parameters>; 15] = [
        (|drive| drive.rpm = 0.0, "rpm: "),
        (|drive| drive.rpm = f64::NAN, "rpm: "),
        (|drive| drive.heads = 0, "heads: "),
        (|drive| drive.cylinders = 0, "cylinders: "),
        (|drive| drive.sparing.range_cylinders = 0, "sparing.range_cylinders: "),
        (|drive| drive.head_switch_ms = -1.0, "head_switch_ms: "),
        (|drive| drive.overheads_ms.write_miss_after_read = 1e9, "overheads_ms.write_miss_after_"),
        (|drive| drive.buffer.segments = 0, "buffer.segments: "),
        (|drive| drive.buffer.write_segments = 4, "buffer.write_segments: "),
        (|drive| drive.buffer.segment_sectors = 0, "buffer.segment_sectors: "),
        (
            |drive| drive.seek = vec![(2, 1.0)],
            "seek: expected points for distances that rise from 1",
        ),
        (|drive| drive.seek = vec![(1, 1.0), (3, 2.0), (3, 3.0)], "seek.2: expected a distance of"),
        (
            |drive| drive.seek = vec![(1, 1.0), (6, 2.0)],
            "seek.1: expected a distance within its 6 c",
        ),
        (|drive| drive.sparing.range_cylinders = 7, "sparing.range_cylinders: expected 1 to its 6"),
        (|drive| drive.sectors = 81, "sectors: expected 1 to 80, as zones have"),
    ];
    for (change, expected) in cases {
        let error = refused(change);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn write_caches_that_cannot_be_are_named() {
    let cases: [Case<WriteCacheParameters>; 5] = [
        (|cache| cache.sectors = 0, "write_cache.sectors: "),
        (|cache| cache.runs = 0, "write_cache.runs: "),
        (|cache| cache.high_sectors = 9, "write_cache.high_sectors: expected no more than its s"),
        (|cache| cache.low_sectors = 7, "write_cache.low_sectors: expected no more than high_s"),
        (|cache| cache.idle_ms = -1.0, "write_cache.idle_ms: "),
    ];
    for (change, expected) in cases {
        let mut cache = write_cache::RULES;
        change(&mut cache);
        let parameters = Parameters { write_cache: Some(cache), ..small() };
        let error = Drive::new(&parameters).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn zones_that_cannot_be_are_named_with_their_number() {
    let cases: [Case<Zone>; 9] = [
        (|zone| zone.first_cylinder = 2, "zones.1: expected rising cylinders below 6"),
        (|zone| zone.last_cylinder = 6, "zones.1: expected rising cylinders below 6"),
        (|zone| zone.sectors = 0, "zones.1.sectors: "),
        (|zone| zone.track_skew = 5, "zones.1: expected offset and skews below its 5 sectors"),
        (|zone| zone.empty = 20, "zones.1.empty: expected less than its 20 sectors"),
        (|zone| zone.slips = vec![3], "zones.1.spares: expected as many as slips, which are 1"),
        (|zone| zone.slips = vec![20], "zones.1.slips: expected different sectors below 20"),
        (|zone| zone.slips = vec![3, 3], "zones.1.slips: "),
        (|zone| zone.defects = vec![(3, 4)], "zones.1.defects: expected pairs of different"),
    ];
    for (change, expected) in cases {
        let mut parameters = small();
        change(&mut parameters.zones[1]);
        let error = Drive::new(&parameters).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}
