//! Contents and replacement of the buffer.

use super::*;

fn new(change: fn(&mut BufferParameters)) -> Buffer {
    let mut rules = buffer();
    change(&mut rules);
    Buffer::new(rules)
}

/// Read sectors that are not held, as a drive does.
fn read(buffer: &mut Buffer, sector: u64, sectors: u64) -> u64 {
    let segment = buffer.stream(sector);
    buffer.extend(segment, sector + sectors);
    segment
}

fn held(buffer: &mut Buffer, sector: u64, sectors: u64) -> u64 {
    buffer.find(sector, sectors).map_or(0, |found| found.sectors)
}

#[test]
fn a_read_is_found_whole_in_part_or_not_at_all() {
    let mut buffer = new(|_| {});
    read(&mut buffer, 10, 4);
    assert_eq!([10, 12, 13].map(|sector| held(&mut buffer, sector, 2)), [2, 2, 1]);
    assert_eq!([9, 14, 40].map(|sector| held(&mut buffer, sector, 2)), [0, 0, 0]);
}

#[test]
fn a_stream_goes_on_in_its_segment_though_others_were_served_between() {
    let mut buffer = new(|_| {});
    let streams = [100, 200, 300];
    let segments = streams.map(|sector| read(&mut buffer, sector, 2));
    for step in 1..10 {
        let again = streams.map(|sector| read(&mut buffer, sector + 2 * step, 2));
        assert_eq!(again, segments);
    }
}

#[test]
fn a_fourth_stream_takes_the_segment_used_least_lately() {
    let mut buffer = new(|_| {});
    for sector in [100, 200, 300] {
        read(&mut buffer, sector, 2);
    }
    assert_eq!(held(&mut buffer, 100, 2), 2);
    read(&mut buffer, 400, 2);
    assert_eq!([100, 200, 300, 400].map(|s| held(&mut buffer, s, 2)), [2, 0, 2, 2]);
}

#[test]
fn a_full_segment_lets_its_first_sectors_go() {
    let mut buffer = new(|_| {});
    let segment = read(&mut buffer, 10, 4);
    buffer.extend(segment, 20);
    assert_eq!([11, 12].map(|sector| held(&mut buffer, sector, 8)), [0, 8]);
    buffer.precede(segment, 5);
    assert_eq!(held(&mut buffer, 11, 1), 0);
}

#[test]
fn sectors_that_passed_before_are_held_as_far_as_there_is_room() {
    let mut buffer = new(|_| {});
    let segment = read(&mut buffer, 10, 4);
    buffer.precede(segment, 3);
    assert_eq!([5, 6].map(|sector| held(&mut buffer, sector, 1)), [0, 1]);
}

#[test]
fn written_blocks_replace_those_that_were_read() {
    let mut buffer = new(|_| {});
    read(&mut buffer, 10, 4);
    read(&mut buffer, 20, 4);
    buffer.write(12, 4);
    assert_eq!([10, 12, 15, 20].map(|s| held(&mut buffer, s, 1)), [0, 1, 1, 1]);
}

#[test]
fn what_is_written_behind_a_write_is_held_with_it_and_nowhere_else() {
    let mut buffer = new(|_| {});
    read(&mut buffer, 12, 4);
    let segment = buffer.write(10, 2);
    buffer.write_behind(segment, 2);
    assert_eq!([10, 12, 14].map(|sector| held(&mut buffer, sector, 4)), [4, 2, 0]);
}

#[test]
fn what_is_written_is_not_found_where_the_drive_does_not_look_for_it() {
    let mut buffer = new(|rules| rules.read_hits_on_writes = false);
    buffer.write(12, 4);
    assert_eq!(held(&mut buffer, 12, 1), 0);
}

#[test]
fn writes_take_turns_in_the_segments_that_they_may_have() {
    let mut buffer = new(|_| {});
    read(&mut buffer, 100, 2);
    read(&mut buffer, 200, 2);
    for sector in [10, 20, 30] {
        buffer.write(sector, 2);
    }
    assert_eq!([100, 200, 10, 20, 30].map(|s| held(&mut buffer, s, 2)), [2, 2, 0, 0, 2]);
    let mut buffer = new(|rules| rules.write_segments = 2);
    for sector in [10, 20, 30] {
        buffer.write(sector, 2);
    }
    assert_eq!([10, 20, 30].map(|s| held(&mut buffer, s, 2)), [0, 2, 2]);
}

#[test]
fn reads_leave_the_segment_that_is_for_writes_alone() {
    let mut buffer = new(|rules| rules.separate_write_segment = true);
    buffer.write(10, 2);
    for sector in [100, 200, 300] {
        read(&mut buffer, sector, 2);
    }
    assert_eq!([10, 100, 200, 300].map(|s| held(&mut buffer, s, 2)), [2, 0, 2, 2]);
}

#[test]
fn reading_on_ends_with_the_most_sectors_the_track_or_the_drive() {
    let geometry = Geometry::new(&small()).unwrap();
    let limit = |rules: fn(&mut BufferParameters), start, sector| {
        let mut buffer = new(rules);
        let segment = read(&mut buffer, start, sector + 2 - start);
        buffer.read_ahead(segment, sector, 2, &geometry)
    };
    assert_eq!(limit(|_| {}, 3, 3), 11);
    assert_eq!(limit(|_| {}, 75, 75), 80);
    assert_eq!(limit(|rules| rules.read_ahead_sectors = 100, 3, 3), 13); // a segment's room
    assert_eq!(limit(|rules| rules.read_ahead = ReadAhead::None, 3, 3), 5);
    let track: fn(&mut BufferParameters) = |rules| rules.read_ahead = ReadAhead::Track;
    let limits = [(1, 1), (9, 12), (11, 12), (69, 76)].map(|(start, at)| limit(track, start, at));
    assert_eq!(limits, [10, 30, 20, 80], "whatever the room");
}
