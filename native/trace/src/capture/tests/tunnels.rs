//! Tunnels and labels: the same rows with an encapsulation around each packet as without.

use super::testing::*;
use crate::capture::ethertype::DEPTH;
use crate::capture::unread::Reason;

/// Puts an encapsulation around an Ethernet frame; gives an Ethernet frame.
type Encapsulation = Box<dyn Fn(&[u8]) -> Vec<u8>>;

/// A frame of a type.
fn frame(kind: u16, payload: &[u8]) -> Vec<u8> {
    [&[4; 12][..], &kind.to_be_bytes(), payload].concat()
}

/// An outer packet of IPv4, or of version 6.
fn outer(version: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
    if version == 4 {
        return ethernet(&ipv4(Side::Server, protocol, 0, payload));
    }
    let length = (payload.len() as u16).to_be_bytes();
    let head = [0x60, 0, 0, 0, length[0], length[1], protocol, 64];
    frame(0x86dd, &[&head[..], &[7; 16], &[8; 16], payload].concat())
}

/// An outer datagram of UDP to a port.
fn to_port(version: u8, port: u16, body: &[u8]) -> Vec<u8> {
    let (port, length) = (port.to_be_bytes(), (body.len() as u16 + 8).to_be_bytes());
    outer(version, 17, &[&[0xc0, 1][..], &port, &length, &[0, 0], body].concat())
}

fn ip_of(frame: &[u8]) -> &[u8] {
    &frame[14..]
}

/// Bytes before the frame, or before its packet, in a protocol of IP.
fn in_ip(version: u8, protocol: u8, header: &[u8], whole: bool) -> Encapsulation {
    let header = header.to_vec();
    Box::new(move |frame| {
        let inner = if whole { frame } else { ip_of(frame) };
        outer(version, protocol, &[&header, inner].concat())
    })
}

fn in_udp(version: u8, port: u16, header: &[u8], whole: bool) -> Encapsulation {
    let header = header.to_vec();
    Box::new(move |frame| {
        let inner = if whole { frame } else { ip_of(frame) };
        to_port(version, port, &[&header, inner].concat())
    })
}

fn of_type(kind: u16, header: &[u8], whole: bool) -> Encapsulation {
    let header = header.to_vec();
    Box::new(move |inner| {
        let inner = if whole { inner } else { ip_of(inner) };
        frame(kind, &[&header, inner].concat())
    })
}

/// All encapsulations that are removed.
fn encapsulations() -> Vec<(&'static str, Encapsulation)> {
    const VXLAN: &[u8] = &[8, 0, 0, 0, 0, 0, 42, 0];
    let geneve = [&[0x02, 0, 0x65, 0x58, 0, 0, 42, 0][..], &[9; 8]].concat();
    let sequence = [0x10, 0, 0x88, 0xbe, 0, 0, 0, 5];
    let erspan2 = [&sequence[..], &[0x10, 1, 0, 1, 0, 0, 0, 0]].concat();
    let erspan3 = |last: u8, more: usize| {
        let head = [0x10, 0, 0x22, 0xeb, 0, 0, 0, 5, 0x20, 1, 0, 1, 1, 2, 3, 4, 0, 0, 0, last];
        [&head[..], &vec![7; more]].concat()
    };
    let labels = [0, 1, 0, 64, 0, 2, 0, 64, 0, 3, 1, 64];
    vec![
        ("VXLAN", in_udp(4, 4789, VXLAN, true)),
        ("VXLAN on its first port", in_udp(4, 8472, VXLAN, true)),
        ("VXLAN over IPv6", in_udp(6, 4789, VXLAN, true)),
        ("VXLAN with a group policy", in_udp(4, 4789, &[0x88, 0, 0, 5, 0, 0, 42, 0], true)),
        ("VXLAN-GPE of IP", in_udp(4, 4790, &[12, 0, 0, 1, 0, 0, 42, 0], false)),
        ("VXLAN-GPE of Ethernet", in_udp(4, 4790, &[12, 0, 0, 3, 0, 0, 42, 0], true)),
        (
            "a service header in VXLAN-GPE",
            in_udp(4, 4790, &[12, 0, 0, 4, 0, 0, 42, 0, 0, 2, 2, 3, 0, 0, 1, 255], true),
        ),
        ("Geneve with options", in_udp(4, 6081, &geneve, true)),
        ("Geneve of IP", in_udp(6, 6081, &[0, 0, 8, 0, 0, 0, 42, 0], false)),
        ("GRE of IP", in_ip(4, 47, &[0, 0, 8, 0], false)),
        (
            "GRE with checksum, key and sequence",
            in_ip(4, 47, &[&[0xb0, 0, 8, 0][..], &[5; 12]].concat(), false),
        ),
        ("GRE over IPv6", in_ip(6, 47, &[0, 0, 8, 0], false)),
        ("NVGRE", in_ip(4, 47, &[0x20, 0, 0x65, 0x58, 0, 0, 42, 0], true)),
        ("Ethernet in GRE", in_ip(4, 47, &[0, 0, 0x65, 0x58], true)),
        ("ERSPAN I", in_ip(4, 47, &[0, 0, 0x88, 0xbe], true)),
        ("ERSPAN II", in_ip(4, 47, &erspan2, true)),
        ("ERSPAN III", in_ip(4, 47, &erspan3(0, 0), true)),
        ("ERSPAN III with a platform's sub-header", in_ip(4, 47, &erspan3(1, 8), true)),
        ("MPLS in GRE", in_ip(4, 47, &[0, 0, 0x88, 0x47, 0, 1, 1, 64], false)),
        (
            "PPTP",
            in_ip(
                4,
                47,
                &[0x30, 0x81, 0x88, 0x0b, 0, 9, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0x21],
                false,
            ),
        ),
        ("IP in IP", in_ip(4, 4, &[], false)),
        ("6in4 (of version 4 here)", in_ip(4, 41, &[], false)),
        ("IP in IPv6", in_ip(6, 4, &[], false)),
        ("Ethernet in IP", in_ip(4, 97, &[0x30, 0], true)),
        ("MPLS in IP", in_ip(4, 137, &[0, 1, 1, 64], false)),
        ("Ethernet in IPv6", in_ip(6, 143, &[], true)),
        ("MPLS", of_type(0x8847, &labels[8..], false)),
        ("MPLS of three labels", of_type(0x8847, &labels, false)),
        ("MPLS with a label of the receiver's", of_type(0x8848, &labels, false)),
        ("a pseudowire", of_type(0x8847, &[&labels[..], &[0; 4]].concat(), true)),
        ("a pseudowire without a control word", of_type(0x8847, &labels, true)),
        ("MPLS in UDP", in_udp(4, 6635, &labels, false)),
        ("PPPoE", of_type(0x8864, &[0x11, 0, 0, 7, 0, 90, 0, 0x21], false)),
        ("a provider's backbone", of_type(0x88e7, &[0, 0, 0, 42], true)),
        ("two VLANs", of_type(0x88a8, &[0, 7, 0x81, 0, 0, 8, 8, 0], false)),
        ("L2TP", in_udp(4, 1701, &[0x40, 2, 0, 90, 0, 1, 0, 1, 0xff, 3, 0, 0x21], false)),
        ("L2TP with an offset", in_udp(4, 1701, &[2, 2, 0, 1, 0, 1, 0, 1, 9, 0x21], false)),
        ("GTP-U", in_udp(4, 2152, &[0x30, 255, 0, 90, 0, 0, 0, 1], false)),
        (
            "GTP-U with an extension header",
            in_udp(4, 2152, &[0x34, 255, 0, 90, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 0, 0], false),
        ),
        ("LISP", in_udp(4, 4341, &[0x88, 0, 0, 0, 0, 0, 0, 0], false)),
        ("TZSP", in_udp(4, 37008, &[1, 0, 0, 1, 0, 10, 1, 7, 1], true)),
        (
            "AH",
            Box::new(|frame| {
                let (tcp, packet) = (&ip_of(frame)[20..], ip_of(frame));
                let header = [packet[9], 4, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1];
                let side = if packet[15] == 1 { Side::Client } else { Side::Server };
                ethernet(&ipv4(side, 51, 0, &[&header[..], &[9; 12], tcp].concat()))
            }),
        ),
        ("AH around a tunnel", in_ip(4, 51, &[[4, 4, 0, 0].as_slice(), &[1; 20]].concat(), false)),
        ("AH in IPv6", in_ip(6, 51, &[[4, 4, 0, 0].as_slice(), &[1; 20]].concat(), false)),
        ("IP behind options of IPv6", in_ip(6, 60, &[4, 0, 1, 4, 0, 0, 0, 0], false)),
    ]
}

/// Frames of calls and replies over TCP and UDP.
fn frames() -> Vec<Vec<u8>> {
    let datagram = |side, message: &[u8]| ethernet(&ipv4(side, 17, 0, &udp(side, message)));
    vec![
        segment(Side::Client, 1, &marked(&lookup(1, b"a"))),
        segment(Side::Server, 1, &marked(&not_found(1))),
        datagram(Side::Client, &lookup(2, b"b")),
        datagram(Side::Server, &not_found(2)),
    ]
}

const ROWS: [(u32, Option<u32>, bool); 2] = [(1, Some(2), false), (2, Some(2), false)];

fn check(seen: &Seen, what: &str) {
    assert_eq!(seen.answers(), ROWS, "{what}");
    assert_eq!(seen.words("client"), ["10.0.0.1"; 2], "{what}");
    assert_eq!(seen.words("server"), ["10.0.0.2"; 2], "{what}");
    assert_eq!((seen.counts.other_packets, seen.damage()), (0, vec![]), "{what}");
    assert_eq!(seen.counts.unread.reasons().count(), 0, "{what}");
}

#[test]
fn the_same_rows_come_out_of_every_encapsulation() {
    for (what, encapsulation) in encapsulations() {
        let frames: Vec<_> = frames().iter().map(|frame| encapsulation(frame)).collect();
        check(&File::holding(&frames).read(), what);
    }
}

#[test]
fn the_same_rows_come_out_of_every_encapsulation_in_every_other() {
    let probe = frame(0x1234, b"x");
    for (outer, around) in encapsulations().iter().filter(|(what, _)| *what != "AH") {
        for (inner, encapsulation) in &encapsulations() {
            let frames: Vec<_> = frames().iter().map(|frame| encapsulation(frame)).collect();
            let is_ip = matches!(frames[0][12..14], [8, 0] | [0x86, 0xdd]);
            if is_ip || around(&probe).ends_with(&probe) {
                let frames: Vec<_> = frames.iter().map(|frame| around(frame)).collect();
                check(&File::holding(&frames).read(), &format!("{inner} in {outer}"));
            }
        }
    }
}

#[test]
fn encapsulations_cut_at_any_length_make_no_wrong_row() {
    for (what, encapsulation) in encapsulations() {
        for (frame, xid) in frames().iter().zip([1, 1, 2]) {
            let frame = encapsulation(frame);
            let cut = |file: File, captured| file.cut(&frame, captured);
            let seen = (1..frame.len()).fold(File::new(), cut).read();
            assert!(seen.answers().iter().all(|row| (row.0, row.1) == (xid, None)), "{what}");
            let reasons: Vec<_> = seen.damage().iter().map(|(reason, _)| *reason).collect();
            assert!(reasons.iter().all(|reason| *reason == "cut-header"), "{what}: {reasons:?}");
            assert_eq!(seen.counts.cut_packets as usize, frame.len() - 1, "{what}");
        }
    }
}

#[test]
fn packets_cut_by_a_mirror_before_the_tunnel_have_their_length() {
    let whole = segment(Side::Client, 1, &marked(&write(1, 400)));
    let next = segment(Side::Client, 1 + 4 + write(1, 400).len() as u32, &marked(&lookup(2, b"b")));
    let vxlan = in_udp(4, 4789, &[8, 0, 0, 0, 0, 0, 42, 0], true);
    let seen = File::holding(&[vxlan(&whole[..200]), vxlan(&next)]).read();
    assert_eq!(seen.answers(), [(1, None, false), (2, None, false)]);
    assert_eq!((seen.counts.cut_packets, seen.counts.skipped_bytes), (1, 0));
}

#[test]
fn the_fragments_of_an_outer_datagram_are_put_together() {
    let body = [&[8, 0, 0, 0, 0, 0, 42, 0][..], &frames()[2]].concat();
    let datagram = ip_of(&to_port(4, 4789, &body))[20..].to_vec();
    let part = |from: usize, to: usize, more: bool| {
        let word = (from / 8) as u16 | if more { 0x2000 } else { 0 };
        ethernet(&ipv4(Side::Client, 17, word, &datagram[from..to]))
    };
    let parts = [part(64, datagram.len(), false), part(0, 64, true)];
    assert_eq!(File::holding(&parts).read().answers(), [(2, None, false)]);
    // in a tunnel the fragments are those of another datagram than plain ones
    let gre = in_ip(4, 47, &[0, 0, 8, 0], false);
    let mixed = [parts[0].clone(), gre(&parts[0]), gre(&parts[1]), parts[1].clone()];
    let seen = File::holding(&mixed).read();
    assert_eq!((seen.counts.fragments, seen.counts.incomplete_datagrams), (4, 0));
    assert_eq!((seen.counts.messages, seen.answers()), (2, vec![(2, None, false)]));
}

#[test]
fn encapsulations_are_taken_off_to_a_stated_depth() {
    for (depth, read) in [(DEPTH, true), (DEPTH + 1, false)] {
        for (_, encapsulation) in encapsulations().iter().filter(|(what, _)| {
            ["VXLAN", "IP in IP", "a pseudowire", "ERSPAN II", "GRE of IP"].contains(what)
        }) {
            let deep =
                |frame: &Vec<u8>| (0..depth).fold(frame.clone(), |inner, _| encapsulation(&inner));
            let frames: Vec<_> = frames().iter().map(deep).collect();
            let seen = File::holding(&frames).read();
            let bytes = frames.iter().map(|frame| frame.len() as u64).sum();
            match read {
                true => check(&seen, "deep"),
                false => {
                    let unread: Vec<_> = seen.counts.unread.reasons().collect();
                    assert_eq!(unread, [("nested-too-deep", 4, bytes)]);
                    assert!(seen.answers().is_empty());
                }
            }
        }
    }
}

#[test]
fn unreadable_tunnels_are_counted_by_their_reason() {
    let inner = frames()[2].clone();
    for (reason, what, encapsulation) in [
        (Reason::Esp, "ESP", in_ip(4, 50, &[0, 0, 1, 0, 0, 0, 0, 1], false)),
        (Reason::Esp, "ESP of IPv6", in_ip(6, 50, &[0, 0, 1, 0, 0, 0, 0, 1], false)),
        (Reason::Esp, "ESP in UDP", in_udp(4, 4500, &[0, 0, 1, 0, 0, 0, 0, 1], false)),
        (Reason::Tunnel, "L2TP version 3", in_ip(4, 115, &[0, 0, 0, 1], true)),
        (Reason::Tunnel, "IPComp", in_ip(4, 108, &[4, 0, 0, 2], false)),
        (Reason::Tunnel, "an unknown protocol in GRE", in_ip(4, 47, &[0, 0, 0x20, 1], false)),
        (Reason::Tunnel, "routed GRE", in_ip(4, 47, &[0x40, 0, 8, 0, 0, 0, 0, 0], false)),
        (Reason::Tunnel, "encrypted PPP", of_type(0x8864, &[0x11, 0, 0, 7, 0, 90, 0, 0xfd], false)),
        (Reason::Tunnel, "MACsec", of_type(0x88e5, &[0x2c, 0, 0, 0, 0, 1], false)),
        (Reason::Tunnel, "WireGuard", in_udp(4, 51820, &[4, 0, 0, 0, 1, 2, 3, 4], false)),
        (
            Reason::Tunnel,
            "labels around something else",
            of_type(0x8847, &[0, 1, 1, 64, 0xf0], false),
        ),
    ] {
        let frame = encapsulation(&inner);
        let seen = File::holding(std::slice::from_ref(&frame)).read();
        let (unread, bytes) = (seen.counts.unread, frame.len() as u64);
        let mut expected = crate::capture::unread::Unread::default();
        expected.add(reason, bytes);
        assert_eq!(unread, expected, "{what}");
        assert_eq!((seen.counts.other_packets, seen.answers().len()), (0, 0), "{what}");
    }
}

#[test]
fn other_traffic_on_the_port_of_a_tunnel_is_other_traffic_and_rpc_there_is_read() {
    for port in [1701, 2152, 3544, 4341, 4500, 4789, 4790, 6081, 6635, 8472, 37008, 51820] {
        let call = to_port(4, port, &lookup(2, b"b"));
        assert_eq!(File::holding(&[call]).read().answers(), [(2, None, false)], "port {port}");
        for body in [&b""[..], b"\0", b"\x12\x34\x81\x80\0\x01", &[0; 60], &[0xff; 60], b"GET /x"] {
            let seen = File::holding(&[to_port(4, port, body)]).read();
            let unread = seen.counts.unread.reasons().map(|(_, count, _)| count).sum::<u64>();
            assert_eq!(seen.counts.other_packets + unread, 1, "port {port}: {body:?}");
            assert!(seen.answers().is_empty() && seen.damage().is_empty(), "port {port}");
        }
    }
    let vxlan = in_udp(4, 4789, &[8, 0, 0, 0, 0, 0, 42, 0], true);
    let arp = vxlan(&frame(0x0806, &[0; 28]));
    assert_eq!(File::holding(&[arp]).read().counts.other_packets, 1);
}

#[test]
fn headers_that_never_end_do_not_exhaust_the_stack() {
    let mut packet = [60, 0, 1, 4, 0, 0, 0, 0].repeat(8000);
    packet.truncate(64_000);
    let options = outer(4, 60, &packet);
    let tags = frame(0x8100, &[0, 7, 0x81, 0].repeat(16_000));
    let labels = frame(0x8847, &[0, 1, 0, 64].repeat(16_000));
    let services = frame(0x894f, &[0, 1, 2, 4].repeat(16_000));
    let seen = File::holding(&[options, tags, labels, services]).read();
    let unread = seen.counts.unread.reasons().map(|(_, count, _)| count).sum::<u64>();
    assert_eq!((seen.counts.other_packets, unread), (3, 1));
}
