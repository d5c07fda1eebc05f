//! Where the time of requests goes. Expected times are worked out by hand.

use super::geometry::drives;
use super::*;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn drive(change: fn(&mut Parameters)) -> Drive {
    let mut parameters = small();
    change(&mut parameters);
    Drive::new(&parameters).unwrap()
}

fn read(drive: &mut Drive, sector: u64, sectors: u64, at: f64) -> Service {
    drive.serve(Request { sector, sectors, write: false }, ms(at)).unwrap()
}

fn write(drive: &mut Drive, sector: u64, sectors: u64, at: f64) -> Service {
    drive.serve(Request { sector, sectors, write: true }, ms(at)).unwrap()
}

/// Milliseconds of queue, overhead, seek, rotation, transfer and bus.
fn service(parts: [f64; 6]) -> Service {
    let [queue, overhead, seek, rotation, transfer, bus] = parts.map(ms);
    Service { queue, overhead, seek, rotation, transfer, bus }
}

#[test]
fn a_miss_takes_overhead_seek_rotation_transfer_and_the_bus_for_the_last_sector() {
    let mut drive = drive(|_| {});
    // Cylinder 1 begins 1 + 2 sectors later than cylinder 0: sector 24 passes from 7 to 8 ms on.
    let found = read(&mut drive, 24, 2, 0.0);
    assert_eq!(found, service([0.0, 0.03, 1.0, 5.97, 2.0, 0.1]));
    assert_eq!(found.response(), ms(9.1));
}

#[test]
fn a_slow_bus_adds_what_it_takes_longer() {
    let mut drive = drive(|drive| drive.bus_ms_per_sector = 3.0);
    let found = read(&mut drive, 4, 2, 0.0);
    // The first is there at 5 ms, the last at 6; the bus is busy from 5 to 11.
    assert_eq!(found, service([0.0, 0.03, 0.0, 3.97, 2.0, 5.0]));
}

#[test]
fn what_was_read_ahead_is_a_hit() {
    let mut drive = drive(|_| {});
    read(&mut drive, 0, 2, 0.0);
    assert_eq!(read(&mut drive, 2, 6, 30.0), service([0.0, 0.01, 0.0, 0.0, 0.0, 0.6]));
    let beyond = read(&mut drive, 8, 1, 60.0); // it read on to sector 8, not further
    assert_eq!(beyond.overhead, ms(0.03));
}

#[test]
fn reading_on_to_the_end_of_a_track_leaves_what_fits_in_of_its_end() {
    let mut drive = drive(|drive| {
        drive.buffer.read_ahead = ReadAhead::Track;
        drive.buffer.segment_sectors = 4;
    });
    read(&mut drive, 0, 2, 0.0);
    assert_eq!(read(&mut drive.clone(), 2, 1, 40.0).overhead, ms(0.03), "a miss");
    assert_eq!(read(&mut drive, 6, 4, 40.0), service([0.0, 0.01, 0.0, 0.0, 0.0, 0.4]));
}

#[test]
fn a_read_of_what_is_being_read_ahead_goes_on_with_it() {
    let mut drive = drive(|_| {});
    // Its first sector begins at 10 ms, and passes again only then; 2 and 3 follow to 14 ms.
    let first = read(&mut drive, 0, 2, 0.0);
    assert_eq!(first.response(), ms(12.1));
    let next = read(&mut drive, 2, 2, 13.5);
    assert_eq!(next, service([0.0, 0.01, 0.0, 0.0, 0.49, 0.1]));
}

#[test]
fn a_read_that_is_held_in_part_waits_for_the_rest_alone() {
    let mut drive = drive(|drive| drive.buffer.read_ahead = ReadAhead::None);
    read(&mut drive, 0, 2, 0.0);
    // Sector 2 begins at 22 ms and has passed at 23; the arm is there before.
    let found = read(&mut drive, 1, 2, 20.0);
    assert_eq!(found, service([0.0, 0.01, 0.0, 0.0, 2.99, 0.1]));
}

#[test]
fn a_hit_moves_the_limit_of_what_is_being_read_ahead() {
    let mut drive = drive(|_| {});
    read(&mut drive, 0, 2, 0.0);
    // 2 and 3 have passed at 14 ms: they are a hit, and it reads on to 9 instead of 7.
    assert_eq!(read(&mut drive, 2, 2, 14.2).overhead, ms(0.01));
    assert_eq!(read(&mut drive, 8, 2, 30.0), service([0.0, 0.01, 0.0, 0.0, 0.0, 0.2]));
}

#[test]
fn a_miss_breaks_off_reading_ahead_but_no_seek() {
    let mut drive = drive(|_| {});
    read(&mut drive, 8, 2, 0.0);
    // Read at 10 ms; it goes to the other head until 10.5 ms. From there to cylinder 2.
    let found = read(&mut drive, 45, 1, 10.2);
    assert_eq!(found, service([0.27, 0.03, 1.5, 9.0, 1.0, 0.1]));
}

#[test]
fn a_write_ends_reading_ahead() {
    let mut drive = drive(|_| {});
    read(&mut drive, 0, 2, 0.0);
    write(&mut drive, 24, 1, 12.5);
    assert_eq!(read(&mut drive, 4, 1, 60.0).overhead, ms(0.04));
}

#[test]
fn a_hit_waits_for_what_is_being_written() {
    let mut held = drive(|_| {});
    write(&mut held, 4, 2, 0.0);
    assert_eq!(read(&mut held, 4, 1, 1.0), service([4.98, 0.02, 0.0, 0.0, 0.0, 0.1]));
    // So does the rest of one that is held in part: on the medium at 29 ms, sector 5 at 36 ms.
    let mut partly = drive(|drive| drive.buffer.read_ahead = ReadAhead::None);
    read(&mut partly, 3, 2, 0.0);
    write(&mut partly, 24, 2, 20.0);
    assert_eq!(read(&mut partly, 4, 2, 21.0), service([7.98, 0.02, 0.0, 0.0, 7.0, 0.1]));
}

#[test]
fn a_write_begins_so_late_that_a_slow_bus_keeps_up() {
    let mut drive = drive(|drive| {
        drive.buffer.fast_writes = false;
        drive.bus_ms_per_sector = 3.0;
    });
    // The second sector is there at 6.07 ms, so that the first cannot be written from 4 ms on.
    assert_eq!(write(&mut drive, 4, 2, 0.0), service([0.0, 0.07, 0.0, 13.93, 2.0, 0.0]));
}

#[test]
fn a_write_behind_one_that_is_on_the_medium_has_a_segment_of_its_own() {
    let mut drive = drive(|_| {});
    write(&mut drive, 4, 2, 0.0);
    write(&mut drive, 6, 2, 90.0);
    let overheads = [6, 4].map(|sector| read(&mut drive, sector, 1, 150.0).overhead);
    assert_eq!(overheads, [0.02, 0.03].map(ms));
}

#[test]
fn sectors_that_passed_while_the_head_waited_are_hits_only_where_the_drive_keeps_them() {
    let mut keeps = drive(|drive| drive.buffer.read_passing_sectors = true);
    let mut forgets = drive(|_| {});
    // The head comes at 1.03 ms: sectors 2 to 4 pass whole before 5 begins. With 2 + 1 + 6 sectors
    // the segment is too short for all of them, unless nothing is read on.
    for drive in [&mut keeps, &mut forgets] {
        read(drive, 5, 1, 1.0);
    }
    assert_eq!(read(&mut keeps, 4, 1, 6.2).overhead, ms(0.01));
    assert_eq!(read(&mut forgets, 4, 1, 6.2).overhead, ms(0.03));
}

#[test]
fn a_read_in_any_order_needs_no_more_than_a_revolution() {
    let mut ordered = drive(|_| {});
    let mut unordered = drive(|drive| drive.buffer.zero_latency_reads = true);
    // All of track 0; the head comes at 4.53 ms, within sector 4.
    assert_eq!(read(&mut ordered, 0, 10, 4.5).response(), ms(10.0 - 4.5 + 10.0 + 0.1));
    // 5 to 9 pass first, 0 to 4 up to 15 ms; the bus has 5 to 9 left to pass on then.
    assert_eq!(read(&mut unordered, 0, 10, 4.5).response(), ms(15.0 - 4.5 + 0.1 + 0.5));
}

#[test]
fn a_fast_write_is_done_when_it_is_taken_and_the_next_request_waits_for_the_medium() {
    let mut drive = drive(|_| {});
    assert_eq!(write(&mut drive, 4, 2, 0.0), service([0.0, 0.05, 0.0, 0.0, 0.0, 0.2]));
    // Sectors 4 and 5 are on the medium at 6 ms; 8 begins at 8 ms.
    assert_eq!(read(&mut drive, 8, 1, 1.0), service([4.96, 0.04, 0.0, 2.0, 1.0, 0.1]));
    // Later nothing is waited for.
    assert_eq!(read(&mut drive, 4, 1, 90.0).queue, 0);
}

#[test]
fn a_write_that_goes_on_where_one_ends_is_taken_at_once_and_no_other() {
    let mut drive = drive(|_| {});
    write(&mut drive, 4, 2, 0.0);
    assert_eq!(write(&mut drive, 6, 2, 1.0), service([0.0, 0.06, 0.0, 0.0, 0.0, 0.2]));
    // All four are on the medium at 8 ms, without a revolution between.
    let apart = write(&mut drive, 20, 1, 2.0);
    assert_eq!(apart, service([5.94, 0.06, 0.0, 0.0, 0.0, 0.1]));
}

#[test]
fn a_write_that_does_not_fit_behind_the_last_waits_for_it() {
    let mut drive = drive(|_| {});
    write(&mut drive, 0, 5, 0.0);
    // 5 more than 8 sectors in all: the first 5 are on the medium at 15 ms.
    assert_eq!(write(&mut drive, 5, 5, 1.0).queue, ms(15.0 - 1.06));
}

#[test]
fn a_write_without_a_cache_is_done_on_the_medium() {
    let mut drive = drive(|drive| drive.buffer.fast_writes = false);
    let found = write(&mut drive, 24, 2, 0.0);
    assert_eq!(found, service([0.0, 0.07, 1.25, 5.68, 2.0, 0.0]));
    // So is one that is longer than a segment.
    let mut drive = self::drive(|_| {});
    assert!(write(&mut drive, 0, 9, 0.0).transfer >= ms(9.0));
}

#[test]
fn what_was_written_is_a_hit_where_the_drive_looks_for_it() {
    for (hits, overhead) in [(true, 0.02), (false, 0.04)] {
        let mut parameters = small();
        parameters.buffer.read_hits_on_writes = hits;
        let mut drive = Drive::new(&parameters).unwrap();
        write(&mut drive, 4, 2, 0.0);
        assert_eq!(read(&mut drive, 4, 2, 50.0).overhead, ms(overhead));
    }
}

/// A drive with random buffer policies.
fn with_buffer(drive: Parameters, random: &mut impl Rng) -> Parameters {
    let mut below = |most: u64| random.next_u64() % most;
    let segments = 2 + below(3) as u32;
    let buffer = BufferParameters {
        segments,
        segment_sectors: 1 + below(30),
        write_segments: 1 + below(u64::from(segments)) as u32,
        separate_write_segment: below(2) == 0,
        read_ahead: [ReadAhead::None, ReadAhead::Most, ReadAhead::Track][below(3) as usize],
        read_ahead_sectors: below(40),
        read_passing_sectors: below(2) == 0,
        zero_latency_reads: below(2) == 0,
        zero_latency_writes: below(2) == 0,
        read_hits_on_writes: below(2) == 0,
        combine_writes: below(2) == 0,
        fast_writes: below(2) == 0,
    };
    Parameters { buffer, ..drive }
}

#[test]
fn no_request_is_done_before_the_one_before_or_faster_than_the_bus() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    for parameters in drives() {
        let parameters = with_buffer(parameters, &mut random);
        let mut drive = Drive::new(&parameters).unwrap();
        let (mut at, mut done, mut sector) = (0, 0_u64, 0);
        for _ in 0..100 {
            let mut below = |most: u64| random.next_u64() % most;
            sector = if below(2) == 0 { sector } else { below(parameters.sectors) };
            let sectors = 1 + below((parameters.sectors - sector).min(12));
            let request = Request { sector, sectors, write: below(3) == 0 };
            at += below(ms(20.0));
            let service = drive.serve(request, at).unwrap();
            let own = service.response() - done.saturating_sub(at);
            assert!(own >= sectors * ms(0.1), "{request:?} {service:?} {parameters:?}");
            assert!(own <= ms(300.0), "{request:?} {service:?} {parameters:?}");
            done = at + service.response();
            sector = (sector + sectors) % parameters.sectors;
        }
    }
}

#[test]
fn requests_are_served_one_after_the_other() {
    let mut drive = drive(|_| {});
    let first = read(&mut drive, 5, 1, 0.0);
    let second = read(&mut drive, 45, 1, 1.0);
    assert_eq!(second.queue, first.response() - ms(1.0));
}

#[test]
fn a_request_beyond_the_end_is_refused() {
    let mut drive = drive(|_| {});
    for (sector, sectors) in [(80, 1), (79, 2), (0, 0), (u64::MAX, 1), (0, u64::MAX)] {
        let error = drive.serve(Request { sector, sectors, write: false }, 0).unwrap_err();
        assert!(error.to_string().ends_with("all below sector 80"), "{error}");
    }
    assert_eq!(read(&mut drive, 79, 1, 0.0).queue, 0);
}

#[test]
fn what_is_in_the_buffer_or_being_read_on_is_reached_at_once() {
    let mut parameters = small();
    parameters.buffer.read_ahead = ReadAhead::Most;
    parameters.buffer.read_ahead_sectors = 100;
    parameters.buffer.segment_sectors = 100;
    let mut drive = Drive::new(&parameters).unwrap();
    let request = |sector| Request { sector, sectors: 2, write: false };
    let now = drive.serve(request(2), 0).unwrap().response() + ms(3.5);
    drive.catch_up(now);
    let end = (3..).find(|&sector| !drive.buffer.holds(sector)).unwrap();
    assert!(end > 5, "it has read on");
    assert_eq!([2, 4, end].map(|sector| drive.reach(&request(sector), now)), [0; 3]);
    let elsewhere = drive.mechanism().reach(70, now + drive.overhead(false, false), false);
    assert!(drive.reach(&request(70), now) >= elsewhere);
    assert!(drive.reach(&Request { write: true, ..request(4) }, now) > 0, "a write has to move");
}
