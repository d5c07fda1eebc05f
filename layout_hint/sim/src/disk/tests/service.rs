//! What a request takes, computed by hand, and what many take in the mean.

use super::*;

#[test]
fn a_read_takes_overhead_rotation_and_transfer() {
    let mut drive = Drive::new(&simple(), 0).unwrap();
    // at 0.3 ms, 3 sectors have passed: 47 more to sector 50, then 4
    assert_near!(takes(&mut drive, read(50, 4), 0.0), 0.3 + 4.7 + 0.4, 1e-6);
    // at 20.3 ms, the beginning of sector 2 has just been missed, by 1.3 sectors
    assert_near!(takes(&mut drive, read(2, 1), 20.03), 0.3 + 9.87 + 0.1, 1e-6);
}

#[test]
fn another_head_and_another_cylinder_cost_their_moves_and_begin_later_by_their_skew() {
    let mut drive = Drive::new(&simple(), 0).unwrap();
    // sector 100 is the first of head 1 and lies at angle 10; the head is there at 1.3 ms, 13 sectors
    assert_near!(takes(&mut drive, read(100, 1), 0.0), 1.3 + 9.7 + 0.1, 1e-6);
    // cylinder 1 begins at 10 + 20; a seek takes 2 ms whatever the head, so it is there at 2.3
    assert_near!(takes(&mut drive, read(200, 1), 100.0), 2.3 + 0.7 + 0.1, 1e-6);
    // to write, the arm settles: back at 2.8 ms, cylinder 0 begins at 10 ms
    assert_near!(takes(&mut drive, write(0, 1), 200.0), 2.8 + 7.2 + 0.1, 1e-6);
    // on the track already, nothing moves and nothing settles
    assert_near!(takes(&mut drive, write(20, 1), 300.0), 2.0 + 0.1, 1e-6);
    assert_eq!(drive.statistics().moves, 2);
}

#[test]
fn a_request_over_the_end_of_a_track_goes_on_at_the_next_ones_skew() {
    let mut drive = Drive::new(&simple(), 0).unwrap();
    // sectors 90 to 99 end at 10 ms; head 1 is ready at 11, where its first sector begins
    assert_near!(takes(&mut drive, read(90, 20), 0.0), 11.0 + 1.0, 1e-6);
    // to write it settles until 11.5 and waits a revolution more
    let mut drive = Drive::new(&simple(), 0).unwrap();
    assert_near!(takes(&mut drive, write(90, 20), 0.0), 21.0 + 1.0, 1e-6);
}

#[test]
fn what_follows_a_read_comes_from_the_buffer_at_the_interfaces_speed() {
    let parameters = Parameters { segments: 2, segment_kib: 16, ..simple() };
    let mut drive = Drive::new(&parameters, 0).unwrap();
    assert_near!(takes(&mut drive, read(10, 8), 0.0), 1.0 + 0.8, 1e-6);
    // 24 more fit into the segment: read by 4.2 ms. 51.2 MB/s are 0.01 ms a sector
    assert_near!(takes(&mut drive, read(18, 8), 8.0), 0.3 + 0.08, 1e-6);
    // now there is room for sectors 42 to 49, which come again from 14.2 ms
    assert_near!(takes(&mut drive, read(38, 8), 9.0), 14.6 - 9.0, 1e-6);
    // what was read before is still there, in the same segment or in another
    assert_near!(takes(&mut drive, read(40, 8), 30.0), 0.3 + 0.08, 1e-6);
    takes(&mut drive, read(9000, 8), 40.0);
    assert_near!(takes(&mut drive, read(42, 4), 80.0), 0.3 + 0.04, 1e-6);
    assert_eq!(drive.statistics().hits, 4);
    // but not after it was written
    takes(&mut drive, write(44, 1), 90.0);
    takes(&mut drive, read(43, 1), 120.0);
    assert_eq!(drive.statistics().hits, 4);
}

#[test]
fn a_write_cache_answers_at_once_until_it_is_full() {
    let parameters = Parameters { segments: 1, segment_kib: 1, write_cache: true, ..simple() };
    let mut drive = Drive::new(&parameters, 0).unwrap();
    assert_near!(takes(&mut drive, write(50, 1), 0.0), 0.31, 1e-6); // on the medium at 5.1
    assert_near!(takes(&mut drive, write(70, 1), 1.0), 0.31, 1e-6); // at 7.1
    assert_near!(takes(&mut drive, write(90, 1), 2.0), 5.1 - 2.0, 1e-6); // at 9.1, room at 5.1
    assert_near!(takes(&mut drive, read(95, 1), 6.0), 9.6 - 6.0, 1e-6);
    assert_near!(takes(&mut drive, write(50, 3), 10.0), 15.3 - 10.0, 1e-6);
    takes(&mut drive, write(80, 1), 20.0);
    assert_near!(drive.finish() * 1e3, 28.1, 1e-6);
}

#[test]
fn a_range_of_memory_takes_no_time_and_leaves_the_rest_to_the_disk() {
    let mut drive = Drive::new(&simple(), 0).unwrap();
    drive.set_nvram(40 * SECTOR..60 * SECTOR);
    assert_eq!(takes(&mut drive, write(40, 20), 1.0), 0.0);
    assert_near!(takes(&mut drive, read(50, 20), 10.0), 6.0 + 1.0, 1e-6); // 60 to 69
    assert_near!(takes(&mut drive, read(30, 20), 20.0), 3.0 + 1.0, 1e-6); // 30 to 39
    assert_near!(takes(&mut drive, read(30, 40), 30.0), 3.0 + 4.0, 1e-6);
    assert_eq!(drive.statistics().nvram, 1);
}

#[test]
fn a_partition_begins_where_it_is_said_to() {
    let mut drive = Drive::new(&simple(), 30 * SECTOR).unwrap();
    assert_near!(takes(&mut drive, read(20, 1), 0.0), 5.0 + 0.1, 1e-6);
    assert_eq!(drive.bytes(), (101 * 2 * 100 - 30) * SECTOR);
    takes(&mut drive, read(101 * 200 - 30, 1), 100.0);
    takes(&mut drive, Request { start: u64::MAX - 5, bytes: 100, write: true }, 200.0);
    assert_eq!(drive.statistics().outside, 2);
}

#[test]
fn the_mean_seek_is_the_published_drives() {
    let mechanism = Mechanism::new(&cheetah());
    let all = 6962.0f64;
    let pairs = |distance: u32| 2.0 * (all - f64::from(distance)) / (all * all);
    let mean: f64 = (1..6962).map(|d| pairs(d) * mechanism.seek(d)).sum();
    assert_near!(mean * 1e3, 5.47, 0.01);
    let curve = Seek::Curve { base: 2.0, root: 2.83, linear: 16.17 };
    let mechanism = Mechanism::new(&Parameters { seek: curve, ..cheetah() });
    let mean: f64 = (1..6962).map(|d| pairs(d) * mechanism.seek(d)).sum();
    assert_near!(mean * 1e3, 8.9, 0.01);
    assert_near!(mechanism.seek(6961) * 1e3, 21.0, 1e-5);
}

#[test]
fn random_reads_wait_half_a_revolution_in_the_mean() {
    let mut drive = Drive::new(&cheetah(), 0).unwrap();
    let sectors = drive.bytes() / SECTOR;
    let mut numbers = Numbers(7);
    let (mut seeks, count) = (0.0, 50_000);
    let mut arm = 0;
    let layout = Layout::new(&cheetah());
    let mechanism = Mechanism::new(&cheetah());
    let mut now = 0.0;
    for _ in 0..count {
        let sector = numbers.below(sectors);
        let place = layout.place(sector);
        seeks += mechanism.seek(arm.max(place.cylinder) - arm.min(place.cylinder));
        seeks += place.sector_time;
        arm = place.cylinder;
        let ticket = drive.submit(read(sector, 1), now);
        now = drive.wait(ticket);
    }
    let rotation = (drive.statistics().busy - seeks) / f64::from(count);
    assert_near!(rotation * 1e3, 60e3 / 10045.0 / 2.0, 0.02);
}

#[test]
fn sequential_reads_are_as_fast_as_the_tracks_pass_with_their_skews() {
    let parameters = Parameters { segments: 4, segment_kib: 256, overhead_ms: 0.3, ..cheetah() };
    let mut drive = Drive::new(&parameters, 0).unwrap();
    let (cylinders, chunk) = (100, 96);
    let sectors = cylinders * 12 * 254;
    let mut now = 0.0;
    for start in (0..sectors).step_by(chunk) {
        let ticket = drive.submit(read(start, chunk as u32), now);
        now = drive.wait(ticket);
    }
    // each track takes a revolution and its skew
    let skews = (11.0 * 97.0 + 133.0) / 254.0;
    let expected = cylinders as f64 * (12.0 + skews) * 60.0 / 10045.0;
    assert_near!(now / expected, 1.0, 0.002);
}
