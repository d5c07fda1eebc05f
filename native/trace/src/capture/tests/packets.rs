//! Link types, IP and UDP.

use super::testing::*;
use crate::capture::CaptureError;
use crate::schema::Op;

const LOOKUP: (u64, u64) = (1, 1);

#[test]
fn a_call_and_its_reply_are_one_row_on_every_link_type() {
    let cooked = [&[0; 14][..], &[8, 0]].concat();
    let cooked2 = [&[8, 0][..], &[0; 18]].concat();
    for (link, header) in [
        (0, vec![2, 0, 0, 0]),
        (1, [&[2; 12][..], &[8, 0]].concat()),
        (1, [&[2; 12][..], &[0x81, 0, 0, 7, 8, 0]].concat()),
        (1, [&[2; 12][..], &[0x88, 0xa8, 0, 7, 0x81, 0, 0, 7, 8, 0]].concat()),
        (101, vec![]),
        (108, vec![0, 0, 0, 2]),
        (113, cooked),
        (228, vec![]),
        (276, cooked2),
    ] {
        let frame =
            |side, message: &[u8]| [&header[..], &ipv4(side, 17, 0, &udp(side, message))].concat();
        let seen = File::of_link(link)
            .packet(&frame(Side::Client, &lookup(5, b"a")))
            .packet(&frame(Side::Server, &not_found(5)))
            .read();
        assert_eq!(seen.answers(), [(5, Some(2), false)], "link type {link}");
        assert_eq!(seen.words("client"), ["10.0.0.1"]);
        assert_eq!(seen.words("server"), ["10.0.0.2"]);
        assert_eq!(seen.words("transport"), ["udp"]);
    }
}

#[test]
fn an_unknown_link_type_is_named() {
    let error = read(File::of_link(147).bytes).err().unwrap();
    assert_eq!(error, CaptureError::LinkType(vec![147]));
    assert!(error.to_string().ends_with("found link type 147"));
}

#[test]
fn fragments_are_put_together_in_any_order() {
    let datagram = udp(Side::Client, &write(5, 3000));
    let part = |from: usize, to: usize, more: bool| {
        let word = (from / 8) as u16 | if more { 0x2000 } else { 0 };
        ethernet(&ipv4(Side::Client, 17, word, &datagram[from..to]))
    };
    let end = datagram.len();
    let seen =
        File::holding(&[part(1480, 2960, true), part(2960, end, false), part(0, 1480, true)])
            .read();
    assert_eq!(seen.answers(), [(5, None, false)]);
    assert_eq!((seen.counts.fragments, seen.counts.incomplete_datagrams), (3, 0));
    // the same, its last fragment lost: the arguments stand in the first
    let seen = File::holding(&[part(0, 1480, true), part(1480, 2960, true)]).read();
    assert_eq!(seen.answers(), [(5, None, false)]);
    assert_eq!((seen.counts.fragments, seen.counts.incomplete_datagrams), (2, 1));
}

#[test]
fn version_6_is_read_like_version_4() {
    let datagram = udp(Side::Client, &lookup(5, b"a"));
    let mut packet = vec![0x60, 0, 0, 0, 0, datagram.len() as u8, 17, 64];
    packet.extend([&[0; 15][..], &[1], &[0; 15], &[2], &datagram].concat());
    let frame = [&[2; 12][..], &[0x86, 0xdd], &packet].concat();
    let seen = File::holding(&[frame]).read();
    assert_eq!(seen.words("client"), ["::1"]);
    assert_eq!(seen.tally(Op::Lookup), (1, 0));
}

#[test]
fn a_reply_seen_before_its_call_is_joined_to_it() {
    let frame = |side, message: &[u8]| ethernet(&ipv4(side, 17, 0, &udp(side, message)));
    let seen =
        File::holding(&[frame(Side::Server, &not_found(5)), frame(Side::Client, &lookup(5, b"a"))])
            .read();
    assert_eq!(seen.answers(), [(5, Some(2), false)]);
    assert_eq!(seen.tally(Op::Lookup), LOOKUP);
}

#[test]
fn other_protocols_are_counted_and_passed_over() {
    let arp = [&[2; 12][..], &[8, 6], &[0; 28]].concat();
    let dns = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x03www\x01a\0\0\x01\0\x01";
    let dns = ethernet(&ipv4(Side::Client, 17, 0, &udp(Side::Client, dns)));
    let icmp = ethernet(&ipv4(Side::Client, 1, 0, &[8, 0, 0, 0]));
    let seen = File::holding(&[arp, dns, icmp]).read();
    assert_eq!((seen.counts.packets, seen.counts.other_packets), (3, 3));
    assert_eq!((seen.counts.messages, seen.damage().len()), (0, 0));
}

#[test]
fn a_datagram_that_the_capture_cut_is_read_as_far_as_it_goes() {
    let frame = ethernet(&ipv4(Side::Client, 17, 0, &udp(Side::Client, &lookup(5, b"name"))));
    let seen = File::new().cut(&frame, frame.len() - 4).read();
    assert_eq!(seen.answers(), [(5, None, true)]);
    assert_eq!(seen.counts.cut_packets, 1);
    // no more than the header up to the procedure's number
    let seen = File::new().cut(&frame, 14 + 20 + 8 + 24).read();
    assert_eq!(seen.answers(), [(5, None, true)]);
    assert_eq!(seen.words("op"), ["lookup"]);
}
