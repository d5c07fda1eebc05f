//! Tunnels: the packets in a datagram, by its protocol or its UDP port.

use super::ethertype::{half, next_protocol, Layer, Payload, ETHERNET, MPLS};
use super::unread::Reason;
use super::{gre, ppp};

/// Protocols in IP (IANA's numbers).
const IP_IN_IP: u8 = 4;
const IPV6: u8 = 41;
const GRE: u8 = 47;
const ESP: u8 = 50;
/// RFC 3378.
const ETHER_IP: u8 = 97;
/// RFC 4023.
const MPLS_IN_IP: u8 = 137;
/// RFC 8986.
const ETHERNET_IN_IP: u8 = 143;
/// Minimal encapsulation (RFC 2004), IPComp (RFC 3173) and L2TP version 3 (RFC 3931).
const OTHERS: [u8; 3] = [55, 108, 115];

/// Flags of VXLAN (RFC 7348) and VXLAN-GPE: the network's number, a next protocol.
const VXLAN_NUMBER: u8 = 8;
const VXLAN_NEXT: u8 = 4;
const VXLAN_HEADER: usize = 8;

/// The contents of a datagram of a protocol.
pub fn in_ip(protocol: u8, bytes: &[u8]) -> Payload {
    match protocol {
        IP_IN_IP | IPV6 => Some((Layer::IP, 0)),
        GRE => gre::payload(bytes),
        ETHER_IP => (half(bytes, 0)? == 0x3000).then_some((Layer::FRAME, 2)),
        MPLS_IN_IP => Some((Layer::Type(MPLS), 0)),
        ETHERNET_IN_IP => Some((Layer::FRAME, 0)),
        ESP => Some((Layer::Unread(Reason::Esp), 0)),
        other if OTHERS.contains(&other) => Some((Layer::Unread(Reason::Tunnel), 0)),
        _ => None,
    }
}

/// The contents of a UDP datagram between two ports, if it is a tunnel's.
pub fn in_udp([from, to]: [u16; 2], bytes: &[u8]) -> Payload {
    match to {
        // the second is what Linux used before the first was assigned
        4789 | 8472 => vxlan(bytes),
        4790 => vxlan_gpe(bytes),
        6081 => geneve(bytes),
        6635 => Some((Layer::Type(MPLS), 0)), // RFC 7510
        1701 => l2tp(bytes),
        2152 => gtp(bytes),
        4341 => (bytes.len() > 8).then_some((Layer::IP, 8)), // LISP (RFC 9300)
        37008 => tzsp(bytes),
        _ if from == 3544 || to == 3544 => teredo(bytes),
        _ if from == 4500 || to == 4500 => esp(bytes),
        _ if from == 51820 || to == 51820 => wireguard(bytes),
        _ => None,
    }
}

fn vxlan(bytes: &[u8]) -> Payload {
    (bytes.first()? & VXLAN_NUMBER != 0).then_some((Layer::FRAME, VXLAN_HEADER))
}

fn vxlan_gpe(bytes: &[u8]) -> Payload {
    if bytes.first()? & VXLAN_NEXT == 0 {
        return vxlan(bytes);
    }
    Some((next_protocol(*bytes.get(3)?)?, VXLAN_HEADER))
}

/// RFC 8926: options of a stated length in words of 4 bytes, version 0.
fn geneve(bytes: &[u8]) -> Payload {
    let (first, kind) = (*bytes.first()?, half(bytes, 2)?);
    (first >> 6 == 0).then_some((Layer::Type(kind), 8 + 4 * usize::from(first & 0x3f)))
}

/// Data of L2TP version 2 (RFC 2661): flags select the fields.
fn l2tp(bytes: &[u8]) -> Payload {
    const CONTROL: u16 = 0x8000;
    const LENGTH: u16 = 0x4000;
    const SEQUENCE: u16 = 0x0800;
    const OFFSET: u16 = 0x0200;
    let flags = half(bytes, 0)?;
    if flags & CONTROL != 0 {
        return None;
    }
    match flags & 0xf {
        2 => {}
        3 => return Some((Layer::Unread(Reason::Tunnel), 0)),
        _ => return None,
    }
    let has = |flag: u16, bytes: usize| if flags & flag != 0 { bytes } else { 0 };
    let at = 6 + has(LENGTH, 2) + has(SEQUENCE, 4);
    let offset = if flags & OFFSET != 0 { 2 + usize::from(half(bytes, at)?) } else { 0 };
    ppp::payload(bytes, at + offset)
}

/// Packets of GTP-U version 1 (3GPP TS 29.281): four more bytes if any of three flags is set, the
/// last of which is the type of an extension header.
fn gtp(bytes: &[u8]) -> Payload {
    const PACKET: u8 = 255;
    let (flags, kind) = (*bytes.first()?, *bytes.get(1)?);
    if flags >> 4 != 3 || kind != PACKET {
        return None;
    }
    let mut at = if flags & 7 != 0 { 12 } else { 8 };
    let mut extended = flags & 4 != 0 && *bytes.get(11)? != 0;
    while extended {
        let words = usize::from(*bytes.get(at)?);
        at += 4 * words;
        extended = words > 0 && *bytes.get(at - 1)? != 0;
    }
    Some((Layer::IP, at))
}

/// RFC 4380 section 5.1.1: an authentication and an origin may stand before the packet.
fn teredo(bytes: &[u8]) -> Payload {
    let mut at = 0;
    if half(bytes, 0)? == 1 {
        at += 13 + usize::from(*bytes.get(2)?) + usize::from(*bytes.get(3)?);
    }
    if half(bytes, at)? == 0 {
        at += 8;
    }
    (bytes.get(at)? >> 4 == 6).then_some((Layer::IP, at))
}

/// TZSP, which forwards frames from sensors: tagged fields up to the one of type 1.
fn tzsp(bytes: &[u8]) -> Payload {
    if !bytes.starts_with(&[1, 0]) {
        return None;
    }
    let layer = match half(bytes, 2)? {
        1 => Layer::Type(ETHERNET),
        _ => Layer::Unread(Reason::Tunnel),
    };
    let mut at = 4;
    loop {
        at += match bytes.get(at)? {
            0 => 1,
            1 => return Some((layer, at + 1)),
            _ => 2 + usize::from(*bytes.get(at + 1)?),
        };
    }
}

/// ESP in UDP (RFC 3948): its first word is not 0, as that of a key exchange is.
fn esp(bytes: &[u8]) -> Payload {
    const SHORTEST: usize = 16;
    let first = bytes.first_chunk::<4>().filter(|_| bytes.len() >= SHORTEST)?;
    (*first != [0; 4]).then_some((Layer::Unread(Reason::Esp), 0))
}

/// WireGuard's data.
fn wireguard(bytes: &[u8]) -> Payload {
    bytes.starts_with(&[4, 0, 0, 0]).then_some((Layer::Unread(Reason::Tunnel), 0))
}
