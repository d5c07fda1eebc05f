//! Writes that are done before they are on the medium.

use super::*;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use std::collections::BTreeSet;

pub const RULES: WriteCacheParameters = WriteCacheParameters {
    sectors: 8,
    runs: 4,
    high_sectors: 6,
    low_sectors: 2,
    idle_ms: 50.0,
    order: WriteOrder::Arrival,
};

fn drive(rules: WriteCacheParameters) -> Drive {
    Drive::new(&Parameters { write_cache: Some(rules), ..small() }).unwrap()
}

fn ask(drive: &mut Drive, write: bool, sector: u64, sectors: u64, at: f64) -> Service {
    drive.serve(Request { sector, sectors, write }, ms(at)).unwrap()
}

/// Waiting sectors of a drive that was idle up to a time.
fn waiting_at(drive: &Drive, at: f64) -> u64 {
    let mut drive = drive.clone();
    drive.write_on(ms(at));
    drive.later.unwrap().waiting()
}

#[test]
fn writes_are_done_when_they_are_in_the_cache_and_are_read_from_there() {
    let mut drive = drive(RULES);
    for (number, sector) in [(0, 0), (1, 40), (2, 20)] {
        let found = ask(&mut drive, true, sector, 2, 0.0);
        assert_eq!(found.bus, ms(0.2));
        let waited = found.response() - found.queue;
        assert_eq!(waited, found.overhead + found.bus, "write {number}");
    }
    assert_eq!(waiting_at(&drive, 40.0), 6, "below the high mark, and not idle for long");
    let found = ask(&mut drive, false, 41, 1, 1.0);
    assert_eq!((found.overhead, found.seek, found.rotation, found.bus), (ms(0.02), 0, 0, ms(0.1)));
    assert_eq!(drive.hits(), 1);
}

#[test]
fn above_the_high_mark_it_writes_down_to_the_low_one() {
    let mut drive = drive(RULES);
    for sector in [0, 40, 20, 60] {
        ask(&mut drive, true, sector, if sector == 60 { 1 } else { 2 }, 0.0);
    }
    assert_eq!(waiting_at(&drive, 1.0), 5, "the first is on its way");
    assert_eq!(waiting_at(&drive, 49.0), 1, "7, 5, 3: the next is below the low mark");
    assert_eq!(waiting_at(&drive, 200.0), 0, "and idle it writes the rest");
}

#[test]
fn a_read_comes_before_what_waits_but_not_before_what_is_being_written() {
    let mut drive = drive(RULES);
    for sector in [0, 40, 20, 60] {
        ask(&mut drive, true, sector, 2, 0.0);
    }
    let end = {
        let mut alone = drive.clone();
        alone.write_on(ms(2.0));
        alone.mechanism.free()
    };
    let found = ask(&mut drive, false, 10, 1, 2.0);
    assert_eq!(found.queue, end - ms(2.0) - found.overhead);
    assert_eq!(drive.later.unwrap().waiting(), 6);
}

#[test]
fn who_finds_no_room_waits_for_the_medium() {
    let mut drive = drive(WriteCacheParameters { high_sectors: 8, ..RULES });
    for (sector, at) in [(0, 10.0), (40, 11.0), (20, 12.0), (60, 13.0)] {
        assert_eq!(ask(&mut drive, true, sector, 2, at).queue, 0);
    }
    let mut alone = drive.clone();
    let found = ask(&mut drive, true, 50, 2, 20.0);
    let at = ms(20.0) + found.overhead;
    let written = alone.write_medium(0, 2, (0, at, 0)).1;
    assert_eq!(found.queue, written - at);
}

#[test]
fn what_is_too_large_goes_to_the_medium_at_once() {
    let mut drive = drive(RULES);
    ask(&mut drive, true, 3, 2, 0.0);
    let found = ask(&mut drive, true, 0, 9, 10.0);
    assert!(found.transfer >= ms(8.0), "{found:?}");
    assert_eq!(drive.later.unwrap().waiting(), 0, "what waited of it was older");
}

#[test]
fn the_nearest_first_are_written_sooner() {
    let end = |order| {
        let rules =
            WriteCacheParameters { sectors: 80, runs: 80, high_sectors: 80, order, ..RULES };
        let mut drive = drive(rules);
        for sector in [70, 2, 60, 12, 50, 22, 40, 32, 75, 7] {
            ask(&mut drive, true, sector, 1, 0.0);
        }
        drive.write_on(ms(10_000.0));
        drive.mechanism.free() - ms(50.0)
    };
    let (arrival, nearest) = (end(WriteOrder::Arrival), end(WriteOrder::Nearest));
    assert!(nearest + ms(10.0) < arrival, "not a revolution sooner: {nearest} {arrival}");
}

#[test]
fn the_cache_waits_with_what_a_set_of_sectors_does() {
    let mechanism = Mechanism::new(&small()).unwrap();
    let mut random = Random::seed_from_u64(1);
    let mut draw = |below: u64| random.next_u64() % below;
    let rules = WriteCacheParameters { sectors: 40, runs: 12, high_sectors: 20, ..RULES };
    for order in [WriteOrder::Arrival, WriteOrder::Nearest] {
        let mut cache = WriteCache::new(WriteCacheParameters { order, ..rules });
        let mut naive = BTreeSet::new();
        for _ in 0..2000 {
            let (sector, sectors) = (draw(72), 1 + draw(8));
            match draw(4) {
                0 => {
                    let run = cache.next(&mechanism, 0);
                    assert_eq!(run.is_none(), naive.is_empty());
                    let (from, end) = run.unwrap_or((0, 0));
                    assert!((from..end).all(|sector| naive.remove(&sector)));
                }
                1 => {
                    cache.forget(sector, sector + sectors);
                    naive.retain(|held| !(sector..sector + sectors).contains(held));
                }
                _ if cache.has_room(sectors) => {
                    cache.take(sector, sectors);
                    naive.extend(sector..sector + sectors);
                    assert!(cache.holds(sector, sectors));
                }
                _ => assert!(naive.len() as u64 + sectors > 40 || naive.len() >= 12),
            }
            assert_eq!(cache.waiting(), naive.len() as u64);
        }
    }
}
