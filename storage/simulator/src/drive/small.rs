//! A small drive, for examples and tests.

use super::*;

/// A drive of 2 heads and 2 zones, which turns in 10 ms: a sector passes in 1 ms in the first, in
/// 2 ms in the second.
pub fn small() -> Parameters {
    let zone = |first_cylinder, last_cylinder, sectors| Zone {
        first_cylinder,
        last_cylinder,
        sectors,
        offset: 0,
        empty: 0,
        track_skew: 1,
        cylinder_skew: 2,
        spares: 0,
        slips: vec![],
        defects: vec![],
    };
    Parameters {
        name: "small".into(),
        sectors: 80,
        rpm: 6000.0,
        heads: 2,
        cylinders: 6,
        mapping: Mapping::Ascending,
        sparing: Sparing { at_end_of: Spares::Zone, range_cylinders: 1 },
        head_switch_ms: 0.5,
        write_settle_ms: 0.25,
        bus_ms_per_sector: 0.1,
        overheads_ms: overheads(),
        buffer: buffer(),
        write_cache: None,
        seek: vec![(1, 1.0), (3, 2.0)],
        write_seek: vec![],
        zones: vec![zone(0, 2, 10), zone(4, 5, 5)],
    }
}

fn overheads() -> Overheads {
    Overheads {
        read_hit_after_read: 0.01,
        read_hit_after_write: 0.02,
        read_miss_after_read: 0.03,
        read_miss_after_write: 0.04,
        write_hit_after_read: 0.05,
        write_hit_after_write: 0.06,
        write_miss_after_read: 0.07,
        write_miss_after_write: 0.08,
    }
}

pub(super) fn buffer() -> BufferParameters {
    BufferParameters {
        segments: 3,
        segment_sectors: 8,
        write_segments: 1,
        separate_write_segment: false,
        read_ahead: ReadAhead::Most,
        read_ahead_sectors: 6,
        read_passing_sectors: false,
        zero_latency_reads: false,
        zero_latency_writes: false,
        read_hits_on_writes: true,
        combine_writes: true,
        fast_writes: true,
    }
}
