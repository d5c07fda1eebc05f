//! Kuznetsov's pcap, snoop, ERF, and pcapng whose packets cannot all be read.

use super::testing::*;
use crate::capture::{CaptureError, FORMAT};
use crate::trace::Trace;
use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;

/// The time of the first packet, and from one to the next, in microseconds.
const BEGAN: u64 = 1_700_000_000_002_000;
const STEP: u64 = 500;

fn frames() -> Vec<Vec<u8>> {
    let datagram = |side, message: &[u8]| ethernet(&ipv4(side, 17, 0, &udp(side, message)));
    let calls = (1..=9).map(|xid| datagram(Side::Client, &lookup(xid, b"name")));
    calls.zip(1..).flat_map(|(call, xid)| [call, datagram(Side::Server, &not_found(xid))]).collect()
}

fn time(index: usize) -> (u32, u32) {
    let time = BEGAN + STEP * index as u64;
    ((time / 1_000_000) as u32, (time % 1_000_000) as u32)
}

/// A file of records, and where each begins.
type Container = (Vec<u8>, Vec<usize>);

fn file(header: &[u8], records: impl Iterator<Item = Vec<u8>>) -> Container {
    let (mut bytes, mut starts) = (header.to_vec(), Vec::new());
    for record in records {
        starts.push(bytes.len());
        bytes.extend(record);
    }
    (bytes, starts)
}

fn kuznetsov(big: bool) -> Container {
    let word = |word: u32| if big { word.to_be_bytes() } else { word.to_le_bytes() };
    let half = |half: u16| if big { half.to_be_bytes() } else { half.to_le_bytes() };
    let mut header = [word(0xa1b2_cd34), word(0), word(0), word(0), word(65_535), word(1)].concat();
    header[4..8].copy_from_slice(&[half(2), half(4)].concat());
    let records = frames().into_iter().enumerate().map(|(index, frame)| {
        let ((seconds, micros), length) = (time(index), word(frame.len() as u32));
        let head = [word(seconds), word(micros), length, length, word(2)].concat();
        [&head[..], &half(0x0800), &[0, 0], &frame].concat()
    });
    file(&header, records.collect::<Vec<_>>().into_iter())
}

/// Padded to a multiple of 4 bytes; `dropped` packets before each record but the first.
fn snoop(dropped: u32) -> Container {
    let header = [&b"snoop\0\0\0"[..], &[0, 0, 0, 2, 0, 0, 0, 4]].concat();
    let records = frames().into_iter().enumerate().map(|(index, frame)| {
        let ((seconds, micros), length) = (time(index), frame.len() as u32);
        let padding = vec![0; frame.len().next_multiple_of(4) - frame.len()];
        let size = 24 + length + padding.len() as u32;
        let words = [length, length, size, dropped * index as u32, seconds, micros];
        [words.map(u32::to_be_bytes).concat(), frame, padding].concat()
    });
    file(&header, records.collect::<Vec<_>>().into_iter())
}

/// A record of ERF, padded to a multiple of 8 bytes, with `extensions` extension headers.
fn erf_record(kind: u8, index: usize, extensions: usize, packet: &[u8]) -> Vec<u8> {
    let (seconds, micros) = time(index);
    let fraction = ((u64::from(micros) << 32) / 1_000_000) as u32;
    let mut body: Vec<u8> = Vec::new();
    for extension in 0..extensions {
        body.extend([if extension + 1 < extensions { 0x83 } else { 3 }, 0, 0, 0, 0, 0, 0, 9]);
    }
    body.extend(packet);
    body.resize(body.len().next_multiple_of(8), 0);
    let size = (16 + body.len() as u16).to_be_bytes();
    let wire = (packet.len() as u16).to_be_bytes();
    let kind = if extensions > 0 { kind | 0x80 } else { kind };
    let head = [kind, 4, size[0], size[1], 0, 0, wire[0], wire[1]];
    [&fraction.to_le_bytes()[..], &seconds.to_le_bytes(), &head, &body].concat()
}

fn erf(extensions: usize) -> Container {
    let records = frames()
        .into_iter()
        .enumerate()
        .map(|(index, frame)| erf_record(2, index, extensions, &[&[0, 0][..], &frame].concat()));
    file(&[], records.collect::<Vec<_>>().into_iter())
}

fn containers() -> Vec<(&'static str, Container)> {
    vec![
        ("Kuznetsov's, little", kuznetsov(false)),
        ("Kuznetsov's, big", kuznetsov(true)),
        ("snoop", snoop(0)),
        ("ERF", erf(0)),
        ("ERF with extension headers", erf(3)),
    ]
}

fn xids(seen: &Seen) -> Vec<u32> {
    seen.answers().iter().map(|(xid, ..)| *xid).collect()
}

fn first_time(seen: &Seen) -> i64 {
    let times = seen.rows.column_by_name("time").unwrap();
    *times.as_primitive::<TimestampMicrosecondType>().values().iter().min().unwrap()
}

#[test]
fn every_container_is_recognized_by_its_first_bytes_and_read_with_its_times() {
    for (what, (bytes, _)) in containers() {
        assert!((FORMAT.begins)(&bytes), "{what}");
        let seen = read(bytes.clone()).unwrap();
        assert_eq!(seen.answers(), (1..=9).map(|xid| (xid, Some(2), false)).collect::<Vec<_>>());
        assert_eq!(first_time(&seen), BEGAN as i64, "{what}");
        assert_eq!((seen.damage(), seen.counts.packets), (vec![], 18), "{what}");
        let input = Box::new(std::io::Cursor::new(bytes));
        let trace = Trace::new(birthmark_source::Compression::None, input).unwrap();
        assert_eq!(trace.format.word, "capture", "{what}");
    }
}

#[test]
fn a_container_cut_anywhere_is_read_to_its_end() {
    for (what, (bytes, starts)) in containers() {
        for cut in starts[1]..bytes.len() {
            let seen = read(bytes[..cut].to_vec()).unwrap();
            let whole = starts[1..].iter().filter(|start| **start <= cut).count();
            assert!(seen.counts.packets as usize >= whole, "{what} cut at {cut}");
            assert_eq!(seen.damage().is_empty(), starts.contains(&cut), "{what} cut at {cut}");
        }
    }
}

#[test]
fn damage_in_a_container_costs_the_records_that_it_touches() {
    for (what, (bytes, starts)) in containers() {
        for (from, to) in [(starts[4], starts[6] + 3), (starts[4] + 9, starts[4] + 12)] {
            let mut damaged = bytes.clone();
            damaged[from..to].fill(0xff);
            let seen = read(damaged).unwrap();
            let found = xids(&seen);
            assert!(
                [1, 2, 5, 6, 7, 8, 9].iter().all(|xid| found.contains(xid)),
                "{what}: {found:?}"
            );
            assert!(!seen.damage().is_empty(), "{what}");
        }
    }
}

#[test]
fn a_record_of_erf_may_begin_with_zeros_and_describe_the_capture() {
    let frame = [&[0, 0][..], &frames()[0]].concat();
    let mut first = erf_record(2, 0, 0, &frame);
    first[..4].fill(0);
    let described = [erf_record(27, 0, 1, &[0; 40]), erf_record(48, 0, 0, &[]), first.clone()];
    for bytes in [first.clone(), described.concat()] {
        let input = Box::new(std::io::Cursor::new(bytes.clone()));
        let mut trace = Trace::new(birthmark_source::Compression::None, input).unwrap();
        while trace.next_chunk().unwrap().is_some() {}
        let counts = trace.counts();
        assert_eq!((counts.read.records, counts.accounted_for()), (1, 1));
        assert_eq!(xids(&read(bytes).unwrap()), [1]);
    }
}

#[test]
fn records_of_erf_hold_ip_and_lines_and_what_cannot_be_read_is_set_aside() {
    let ip = &frames()[0][14..];
    let line = [&[0xff, 3, 0, 0x21][..], &frames()[2][14..]].concat();
    let records =
        [erf_record(22, 0, 0, ip), erf_record(1, 1, 2, &line), erf_record(5, 2, 0, &[7; 48])];
    let seen = read(records.concat()).unwrap();
    assert_eq!(xids(&seen), [1, 2]);
    assert_eq!(seen.damage(), [("unknown-interface", 1)]);
    assert_eq!(seen.counts.unread.reasons().collect::<Vec<_>>(), [("link-type", 1, 48)]);
}

#[test]
fn other_files_are_not_taken_for_erf() {
    let mut state = 7_u64;
    for length in [16, 40, 400, 4000, 200_000] {
        for _ in 0..200 {
            let mut bytes = Vec::with_capacity(length);
            while bytes.len() < length {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                bytes.extend(state.to_le_bytes());
            }
            assert!(length < 1000 || !(FORMAT.begins)(&bytes));
        }
    }
    for text in
        [&b"<!doctype html>\n<html>"[..], b"1070000000.123456 30.0801 31.0320 U C3", &[0; 400]]
    {
        assert!(!(FORMAT.begins)(text));
    }
}

#[test]
fn snoop_tells_of_dropped_packets() {
    let (bytes, _) = snoop(3);
    assert_eq!(read(bytes).unwrap().counts.dropped, 3 * 17);
}

#[test]
fn snoop_files_of_other_versions_and_links_are_refused_by_name() {
    let (bytes, _) = snoop(0);
    for (at, value, error, hint) in [
        (11, 4, CaptureError::SnoopVersion(4), "editcap -F pcap"),
        (15, 8, CaptureError::Datalink(8), "found 8"),
    ] {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        let found = read(bytes).err().unwrap();
        assert!(found.to_string().contains(hint));
        assert_eq!(found, error);
    }
    let error = read(bytes[..12].to_vec()).err();
    assert_eq!(error, Some(CaptureError::CutHeader { expected: 16, found: 12 }));
}
