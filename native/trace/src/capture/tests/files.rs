//! The two kinds of capture file, in both byte orders.

use super::testing::*;
use crate::capture::{CaptureError, FORMAT};
use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;

/// A file in a byte order.
struct Builder {
    bytes: Vec<u8>,
    big: bool,
}

impl Builder {
    fn new(big: bool) -> Builder {
        Builder { bytes: Vec::new(), big }
    }

    fn u16(&mut self, value: u16) {
        self.bytes.extend(if self.big { value.to_be_bytes() } else { value.to_le_bytes() });
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend(if self.big { value.to_be_bytes() } else { value.to_le_bytes() });
    }

    fn pcap(mut self, magic: u32, version: (u16, u16), packet: [u32; 4], frame: &[u8]) -> Vec<u8> {
        self.u32(magic);
        self.u16(version.0);
        self.u16(version.1);
        for word in [0, 0, 65_535, 1] {
            self.u32(word);
        }
        for word in packet {
            self.u32(word);
        }
        self.bytes.extend(frame);
        self.bytes
    }

    /// A block of pcapng.
    fn block(&mut self, kind: u32, body: impl FnOnce(&mut Builder)) {
        let mut inner = Builder::new(self.big);
        body(&mut inner);
        inner.bytes.resize(inner.bytes.len().next_multiple_of(4), 0);
        let size = inner.bytes.len() as u32 + 12;
        self.u32(kind);
        self.u32(size);
        self.bytes.extend(inner.bytes);
        self.u32(size);
    }

    fn section(&mut self) {
        self.block(0x0a0d_0d0a, |b| {
            b.u32(0x1a2b_3c4d);
            b.u16(1);
            b.u16(0);
            b.u32(u32::MAX);
            b.u32(u32::MAX);
        });
    }

    fn interface(&mut self, link: u16, options: &[(u16, &[u8])]) {
        self.block(1, |b| {
            b.u16(link);
            b.u16(0);
            b.u32(0);
            for (code, value) in options {
                b.u16(*code);
                b.u16(value.len() as u16);
                b.bytes.extend(*value);
                b.bytes.resize(b.bytes.len().next_multiple_of(4), 0);
            }
        });
    }

    fn enhanced(&mut self, interface: u32, ticks: u64, frame: &[u8]) {
        self.block(6, |b| {
            let length = frame.len() as u32;
            for word in [interface, (ticks >> 32) as u32, ticks as u32, length, length] {
                b.u32(word);
            }
            b.bytes.extend(frame);
        });
    }
}

fn frame(xid: u32) -> Vec<u8> {
    ethernet(&ipv4(Side::Client, 17, 0, &udp(Side::Client, &lookup(xid, b"a"))))
}

fn times(seen: &Seen) -> Vec<i64> {
    let times = seen.rows.column_by_name("time").unwrap();
    let mut times = times.as_primitive::<TimestampMicrosecondType>().values().to_vec();
    times.sort_unstable();
    times
}

#[test]
fn pcap_is_read_in_both_byte_orders_and_both_resolutions() {
    let length = frame(1).len() as u32;
    for big in [false, true] {
        for (magic, fraction) in [(0xa1b2_c3d4, 250_000), (0xa1b2_3c4d, 250_000_999)] {
            let packet = [1000, fraction, length, length];
            let bytes = Builder::new(big).pcap(magic, (2, 4), packet, &frame(1));
            assert!((FORMAT.begins)(&bytes));
            let seen = read(bytes).unwrap();
            assert_eq!(times(&seen), [1_000_250_000]);
        }
    }
}

#[test]
fn old_versions_hold_the_lengths_in_either_order() {
    let frame = frame(1);
    let (all, most) = (frame.len() as u32, frame.len() as u32 - 4);
    for lengths in [[most, all], [all, most]] {
        let packet = [1000, 0, lengths[0], lengths[1]];
        let cut = &frame[..most as usize];
        let bytes = Builder::new(true).pcap(0xa1b2_c3d4, (2, 1), packet, cut);
        assert_eq!(read(bytes).unwrap().answers(), [(1, None, true)]);
    }
}

#[test]
fn pcapng_is_read_with_its_sections_interfaces_and_clocks() {
    for big in [false, true] {
        let mut file = Builder::new(big);
        file.section();
        file.interface(1, &[]);
        file.interface(101, &[(2, b"eth1"), (9, &[9])]);
        file.block(4, |b| b.u32(0)); // names: skipped
        file.enhanced(0, 1_000_000, &frame(1));
        file.enhanced(1, 2_000_000_500, &frame(2)[14..]);
        file.block(2, |b| {
            let length = frame(3).len() as u32;
            b.u16(0);
            b.u16(0);
            for word in [0, 3_000_000, length, length] {
                b.u32(word);
            }
            b.bytes.extend(frame(3));
        });
        file.block(3, |b| {
            b.u32(frame(4).len() as u32);
            b.bytes.extend(frame(4));
        });
        // a section in the other byte order, which knows nothing of the first one's interfaces
        let mut other = Builder::new(!big);
        other.section();
        let offset = if big { 100_i64.to_le_bytes() } else { 100_i64.to_be_bytes() };
        other.interface(1, &[(9, &[0x80 | 20]), (14, &offset)]);
        other.enhanced(0, 3 << 19, &frame(5));
        let bytes = [file.bytes, other.bytes].concat();
        assert!((FORMAT.begins)(&bytes));
        let seen = read(bytes).unwrap();
        // the simple packet block has no time
        assert_eq!(times(&seen), [1_000_000, 2_000_000, 3_000_000, 101_500_000]);
        assert_eq!(seen.damage(), [("no-time", 1)]);
        let unread: Vec<_> = seen.counts.unread.reasons().map(|(name, ..)| name).collect();
        assert_eq!(unread, ["no-time"]);
    }
}

#[test]
fn packets_of_an_interface_that_cannot_be_read_are_set_aside() {
    let mut file = Builder::new(false);
    file.section();
    file.interface(1, &[]);
    file.interface(147, &[]);
    file.enhanced(1, 0, &frame(1));
    file.enhanced(7, 0, &frame(2));
    file.enhanced(0, 0, &frame(3));
    let seen = read(file.bytes).unwrap();
    assert_eq!(seen.answers(), [(3, None, false)]);
    assert_eq!(seen.damage(), [("unknown-interface", 2)]);
}

#[test]
fn an_interface_may_be_described_after_packets_of_one_that_cannot_be_read() {
    // draft-ietf-opsawg-pcapng section 4.2: anywhere before its first packet
    let mut file = Builder::new(false);
    file.section();
    file.interface(220, &[]);
    file.enhanced(0, 0, &frame(1));
    file.interface(1, &[]);
    file.enhanced(1, 0, &frame(2));
    file.section(); // of unknown link types only
    file.interface(147, &[]);
    file.enhanced(0, 0, &frame(3));
    let seen = read(file.bytes).unwrap();
    assert_eq!(seen.answers(), [(2, None, false)]);
    assert_eq!(seen.damage(), [("unknown-interface", 2)]);
    let unread: Vec<_> =
        seen.counts.unread.reasons().map(|(name, count, _)| (name, count)).collect();
    assert_eq!(unread, [("link-type", 2)]);
}

#[test]
fn a_file_of_unknown_link_types_only_is_an_error_that_names_them() {
    let mut file = Builder::new(true);
    for link in [220, 147] {
        file.section();
        file.interface(link, &[]);
        file.enhanced(0, 0, &frame(1));
    }
    let error = read(file.bytes).err().unwrap();
    assert_eq!(error, CaptureError::LinkType(vec![147, 220]));
    assert!(error.to_string().ends_with("found link type 147, 220"));
}

#[test]
fn a_file_without_times_is_an_error_that_says_what_to_do() {
    let mut file = Builder::new(false);
    file.section();
    file.interface(1, &[]);
    for xid in 0..3 {
        file.block(3, |b| {
            b.u32(frame(xid).len() as u32);
            b.bytes.extend(frame(xid));
        });
    }
    let error = read(file.bytes).err().unwrap();
    assert_eq!(error, CaptureError::NoTimes(3));
    assert!(error.to_string().contains("capture again"));
}

#[test]
fn other_files_are_refused_by_their_first_bytes() {
    let expected = "expected a capture: pcap or pcapng";
    for (bytes, found) in [
        (&b""[..], "found an empty file"),
        (b"\xff\xd8\xff\xe0JFIF", "found ffd8ffe0"),
        (b"10", "found 3130"),
    ] {
        assert!(!(FORMAT.begins)(bytes));
        let message = read(bytes.to_vec()).err().unwrap().to_string();
        assert!(message.starts_with(expected) && message.ends_with(found), "{message}");
    }
    let cut = File::new().bytes[..20].to_vec();
    let error = CaptureError::CutHeader { expected: 24, found: 20 };
    assert_eq!(read(cut).err(), Some(error));
    let version = Builder::new(false).pcap(0xa1b2_c3d4, (9, 4), [0; 4], &[]);
    assert_eq!(read(version).err(), Some(CaptureError::Version(9, 4)));
}

#[test]
fn a_damaged_block_is_set_aside_and_the_next_one_read() {
    let mut file = Builder::new(false);
    file.section();
    file.interface(1, &[]);
    file.enhanced(0, 1, &frame(1));
    let from = file.bytes.len();
    file.enhanced(0, 2, &frame(2));
    file.enhanced(0, 3, &frame(3));
    for (at, value) in [(from, 0), (from + 4, 0xff), (from + 5, 1), (from + 7, 0x70)] {
        let mut bytes = file.bytes.clone();
        bytes[at] = value;
        let seen = read(bytes).unwrap();
        if at > from {
            assert_eq!(seen.answers(), [(1, None, false), (3, None, false)]);
            assert_eq!(seen.damage(), [("bad-block", 1)]);
        }
        assert!(seen.answers().contains(&(3, None, false)));
    }
    let cut = file.bytes[..file.bytes.len() - 9].to_vec();
    let seen = read(cut).unwrap();
    assert_eq!(seen.answers().len(), 3);
    assert_eq!(seen.damage(), [("cut-short", 1)]);
}
