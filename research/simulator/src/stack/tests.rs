//! Stacks against drives without one, and against the purpose of each optimization.

use super::*;
use crate::host;
use crate::load::{Depth, Load, Pace, Places, Shape};
use birthmark_storage::drive::small;
use birthmark_storage::drive::{Mapping, Parameters, Spares, Sparing, Zone};

/// A drive of 500 MB without memory of its own.
fn drive() -> Parameters {
    let mut drive = small();
    drive.heads = 4;
    drive.cylinders = 2000;
    drive.mapping = Mapping::Ascending;
    drive.sparing = Sparing { at_end_of: Spares::Zone, range_cylinders: 1 };
    drive.head_switch_ms = 0.5;
    drive.write_settle_ms = 0.0;
    drive.bus_ms_per_sector = 0.003;
    drive.seek = vec![(1, 0.6), (400, 3.0), (1999, 9.0)];
    drive.write_seek = vec![(1, 0.8), (400, 3.5), (1999, 9.5)];
    let zone: Zone = Zone {
        first_cylinder: 0,
        last_cylinder: 1999,
        sectors: 200,
        track_skew: 20,
        cylinder_skew: 30,
        ..drive.zones[0].clone()
    };
    drive.zones = vec![zone];
    drive.sectors = 2000 * 4 * 200;
    drive
}

fn places() -> Places {
    Places {
        small: 0.8,
        runs: 0.3,
        run_length: 6.0,
        scattered: 0.3,
        scatter_length: 4.0,
        near: 0.5,
        in_order: 0.0,
        again: vec![Depth { blocks: 100.0, share: 0.2 }, Depth { blocks: 2000.0, share: 0.5 }],
        history_blocks: 3000,
    }
}

fn shape() -> Shape {
    Shape {
        streams: 2,
        requests: 6000,
        warm_up: 1000,
        storage_blocks: 140_000,
        read_share: 0.5,
        reads: places(),
        writes: places(),
        pace: Pace {
            service_ms: 8.0,
            think_ms: (2.0, 1.0),
            pause_ms: (10.0, 1.0),
            idle_ms: (500.0, 1.0),
            burst: (8.0, 1.0),
            alike: 0.0,
            together: 0.2,
            alike_beside: 0.0,
            asynchronous_reads: 0.1,
            asynchronous_writes: 0.4,
            flushes: 0.05,
            flush: (10.0, 1.0),
        },
        faster: Some(1.0),
    }
}

fn plain() -> Rules {
    Rules {
        disks: 1,
        stripe_sectors: 4096,
        cache_blocks: 0,
        pool_blocks: 0,
        prefetch: Prefetch::Nothing,
        read_on_sectors: 0,
        any_free: false,
        just_in_time: false,
        write_buffer: None,
        order: Order::Fcfs,
        depth: 1,
    }
}

fn figures(rules: &Rules) -> Figures {
    let load = Load::new(&shape(), 1).unwrap();
    run(&load, &mut load.issue(), &drive(), rules).unwrap()
}

fn buffer() -> WriteBufferRules {
    WriteBufferRules { blocks: 1000, low: 0.2, high: 0.8, age_ms: 30_000.0 }
}

#[test]
fn without_optimizations_it_is_a_drive_without_memory() {
    let mut alone = drive();
    alone.buffer.fast_writes = false;
    alone.buffer.read_ahead_sectors = 0;
    alone.buffer.read_hits_on_writes = false;
    alone.buffer.segment_sectors = 1;
    alone.overheads_ms = birthmark_storage::drive::Overheads {
        read_hit_after_read: 0.0,
        read_hit_after_write: 0.0,
        read_miss_after_read: 0.0,
        read_miss_after_write: 0.0,
        write_hit_after_read: 0.0,
        write_hit_after_write: 0.0,
        write_miss_after_read: 0.0,
        write_miss_after_write: 0.0,
    };
    alone.bus_ms_per_sector = 0.0;
    let mut shape = shape();
    shape.warm_up = 0;
    let load = Load::new(&shape, 3).unwrap();
    let mut queue = birthmark_storage::queue::Fcfs::default();
    let mut own = birthmark_storage::drive::Drive::new(&alone).unwrap();
    let answers = host::run(&mut load.issue(), &load.requests, &mut queue, &mut own).unwrap();
    let sum: u64 = answers.iter().map(|own| own.service.response()).sum();
    let found = run(&load, &mut load.issue(), &alone, &plain()).unwrap();
    let expected = sum as f64 / 6000.0 / 1e6;
    assert!((found.all.response_ms - expected).abs() < 1e-3 * expected);
    assert_eq!((found.reads.miss_ratio, found.writes.miss_ratio), (1.0, 1.0));
}

#[test]
fn the_parts_of_a_response_are_all_of_it() {
    let rules =
        Rules { cache_blocks: 500, write_buffer: Some(buffer()), any_free: true, ..plain() };
    for kind in [figures(&rules).all, figures(&plain()).reads] {
        let parts = kind.parts_ms;
        let sum = parts.queue + parts.overhead + parts.seek + parts.rotation;
        let sum = sum + parts.transfer + parts.bus;
        assert!((sum - kind.response_ms).abs() < 1e-6, "{sum} {}", kind.response_ms);
    }
}

#[test]
fn a_larger_cache_misses_less_often() {
    let miss = |cache_blocks| figures(&Rules { cache_blocks, ..plain() }).reads.miss_ratio;
    let (none, middle, all) = (miss(1), miss(450), miss(2200));
    assert!(none > 0.9 && (0.1..0.5).contains(&all), "{none} {middle} {all}");
    assert!(all + 0.1 < middle && middle + 0.1 < none, "{none} {middle} {all}");
}

#[test]
fn what_is_read_beyond_a_request_saves_others() {
    let cached = Rules { cache_blocks: 500, ..plain() };
    let miss = |rules: &Rules| figures(rules).reads.miss_ratio;
    let none = miss(&cached);
    let ahead = Rules { prefetch: Prefetch::Ahead(64), ..cached.clone() };
    for prefetch in [
        Prefetch::Ahead(64),
        Prefetch::Unit(128),
        Prefetch::Runs { segment: 32, trigger: 1, factor: 2, most: 512 },
    ] {
        let with = miss(&Rules { prefetch, ..cached.clone() });
        assert!(with < 0.75 * none, "{prefetch:?} {with} {none}");
    }
    let on = Rules { read_on_sectors: 256, pool_blocks: 2000, ..ahead.clone() };
    let free = Rules { any_free: true, ..on.clone() };
    let late = Rules { just_in_time: true, ..free.clone() };
    let [late, soon] = [&late, &free].map(|rules| figures(rules).reads.service_ms);
    assert!(late < 0.98 * soon, "{late} {soon}");
    let [before, on, free] = [ahead, on, free].map(|rules| miss(&rules));
    assert!(on < 0.97 * before && free < 0.97 * on, "{before} {on} {free}");
}

#[test]
fn writes_are_done_once_they_are_in_the_buffer_and_wait_for_room() {
    let with = |own: WriteBufferRules| {
        let rules = Rules { write_buffer: Some(own), depth: 8, ..plain() };
        figures(&rules).writes
    };
    let without = figures(&plain()).writes;
    let large = with(buffer());
    assert!(large.response_ms < 0.1 * without.response_ms);
    assert!(large.service_ms < 0.7 * without.service_ms);
    assert!((0.2..0.75).contains(&large.miss_ratio), "{}", large.miss_ratio);
    let small = with(WriteBufferRules { blocks: 30, ..buffer() });
    assert!(small.response_ms > 3.0 * large.response_ms, "{}", small.response_ms);
    let young = with(WriteBufferRules { age_ms: 100.0, ..buffer() });
    assert!(young.miss_ratio > 1.1 * large.miss_ratio);
}

#[test]
fn what_is_in_memory_passes_what_waits_only_once_a_drive_has_both() {
    let with = |depth| {
        let rules = Rules { cache_blocks: 2200, depth, ..plain() };
        let reads = figures(&rules).reads;
        let parts = reads.parts_ms;
        let sum = parts.queue + parts.overhead + parts.seek + parts.rotation;
        assert!((sum + parts.transfer + parts.bus - reads.response_ms).abs() < 1e-6);
        reads
    };
    let (one, eight) = (with(1), with(8));
    assert!(eight.response_ms < 0.95 * one.response_ms, "{one:?} {eight:?}");
    assert!((eight.miss_ratio / one.miss_ratio - 1.0).abs() < 0.02, "{one:?} {eight:?}");
}

#[test]
fn the_nearest_first_is_sooner_and_four_drives_are_sooner_than_one() {
    let rules = Rules { write_buffer: Some(buffer()), cache_blocks: 500, depth: 8, ..plain() };
    let fcfs = figures(&rules).writes.service_ms;
    let aged = figures(&Rules { order: Order::Aged(0.01), ..rules.clone() }).writes.service_ms;
    assert!(aged < 0.9 * fcfs, "{aged} {fcfs}");
    let one = figures(&plain()).all.response_ms;
    let four = figures(&Rules { disks: 4, ..plain() }).all.response_ms;
    assert!(four < 0.8 * one, "{four} {one}");
}

#[test]
fn the_same_load_gives_the_same_figures() {
    let rules = Rules { cache_blocks: 500, write_buffer: Some(buffer()), depth: 8, ..plain() };
    let json = || serde_json::to_string(&figures(&rules)).unwrap();
    assert_eq!(json(), json());
}

#[test]
fn a_unit_is_on_the_drive_whose_turn_it_is() {
    let rules = Rules { disks: 4, stripe_sectors: 10, ..plain() };
    let places: Vec<(usize, u64)> = [0, 9, 10, 39, 40, 57]
        .map(|sector| rules.place(sector))
        .iter()
        .map(|own| (own.0, own.1))
        .collect();
    assert_eq!(places, [(0, 0), (0, 9), (1, 0), (3, 9), (0, 10), (1, 17)]);
    assert_eq!(rules.place(57).2, 3);
}

#[test]
fn what_cannot_be_is_named() {
    let error = |rules: &Rules| rules.check().unwrap_err().to_string();
    assert_eq!(error(&Rules { disks: 0, ..plain() }), "disks: expected 1 to 1024");
    let marks = WriteBufferRules { low: 0.9, ..buffer() };
    let error_of = error(&Rules { write_buffer: Some(marks), ..plain() });
    assert!(error_of.starts_with("write_buffer: expected marks"), "{error_of}");
    assert!(error(&Rules { order: Order::Aged(-1.0), ..plain() }).starts_with("order: "));
    let unit = error(&Rules { prefetch: Prefetch::Unit(0), ..plain() });
    assert!(unit.starts_with("prefetch: expected"), "{unit}");
    let mut shape = shape();
    shape.storage_blocks = 250_000;
    let load = Load::new(&shape, 1).unwrap();
    let beyond = run(&load, &mut load.issue(), &drive(), &plain()).unwrap_err();
    assert!(beyond.to_string().contains("expected one below 1600000"), "{beyond}");
    shape.reads.near = 2.0;
    let error = Load::new(&shape, 1).unwrap_err().to_string();
    assert_eq!(error, "reads.near: expected 0 to 1");
}

#[test]
fn a_slow_drive_falls_behind_those_who_do_not_wait_for_it() {
    let load = Load::new(&shape(), 2).unwrap();
    let mut slow = drive();
    slow.rpm /= 12.0;
    let open = run(&load, &mut load.open(), &slow, &plain()).unwrap().all.response_ms;
    let dependent = run(&load, &mut load.issue(), &slow, &plain()).unwrap().all.response_ms;
    assert!(open > 2.0 * dependent, "{open} {dependent}");
}
