//! IP packets of version 4 (RFC 791) and 6 (RFC 8200).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The protocol number of TCP.
pub const TCP: u8 = 6;
/// The protocol number of UDP.
pub const UDP: u8 = 17;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const AUTHENTICATION: u8 = 51;
const DESTINATION: u8 = 60;
const MOBILITY: u8 = 135;
const HOST_IDENTITY: u8 = 139;
const SHIM6: u8 = 140;

/// The headers between that of version 6 and its payload, except a fragment's. AUTHENTICATION (RFC
/// 4302) may follow that of version 4, too.
const EXTENSIONS: [u8; 7] =
    [HOP_BY_HOP, ROUTING, AUTHENTICATION, DESTINATION, MOBILITY, HOST_IDENTITY, SHIM6];

/// The most extension headers that a packet carries.
const MOST_EXTENSIONS: usize = 16;

/// An IP packet, possibly cut by the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The sender.
    pub from: IpAddr,
    /// The receiver.
    pub to: IpAddr,
    /// The protocol of the payload.
    pub protocol: u8,
    /// The payload's captured bytes.
    pub payload: &'a [u8],
    /// The payload's bytes on the wire.
    pub length: usize,
    /// Its part of a datagram, if it is a fragment.
    pub fragment: Option<Fragment>,
}

/// A part of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The datagram's identification.
    pub id: u32,
    /// Where the part begins in the datagram's payload.
    pub offset: usize,
    /// Whether more parts follow it.
    pub more: bool,
}

/// Reads a packet from the captured bytes of the `wire` bytes sent.
pub fn read(bytes: &[u8], wire: usize) -> Option<Packet<'_>> {
    match bytes.first()? >> 4 {
        4 => read4(bytes, wire),
        6 => read6(bytes, wire),
        _ => None,
    }
}

/// Whether an IP packet begins here whose stated length fits into the `wire` bytes of its frame.
pub fn fits(bytes: &[u8], wire: usize) -> bool {
    let length = match bytes.first().map(|byte| byte >> 4) {
        Some(4) if bytes[0] & 15 >= 5 => half(bytes, 2).map(usize::from),
        Some(6) => half(bytes, 4).map(|length| 40 + usize::from(length)),
        _ => None,
    };
    length.is_some_and(|length| (20..=wire).contains(&length))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|half| u16::from_be_bytes(*half))
}

/// A packet's length; its length on the wire if the header says 0, because the network card was to
/// split a large segment.
fn length_or(stated: usize, wire: usize) -> usize {
    if stated == 0 {
        wire
    } else {
        stated
    }
}

fn read4(bytes: &[u8], wire: usize) -> Option<Packet<'_>> {
    let header = usize::from(bytes[0] & 15) * 4;
    let total = length_or(half(bytes, 2)?.into(), wire);
    if header < 20 || total < header {
        return None;
    }
    let (id, flags) = (half(bytes, 4)?, half(bytes, 6)?);
    let address = |at: usize| bytes.get(at..)?.first_chunk::<4>().map(|a| Ipv4Addr::from(*a));
    let (more, offset) = (flags & 0x2000 != 0, usize::from(flags & 0x1fff) * 8);
    Some(Packet {
        protocol: *bytes.get(9)?,
        from: address(12)?.into(),
        to: address(16)?.into(),
        payload: bytes.get(header..total.min(bytes.len())).unwrap_or_default(),
        length: total - header,
        fragment: (more || offset > 0).then_some(Fragment { id: id.into(), offset, more }),
    })
}

fn read6(bytes: &[u8], wire: usize) -> Option<Packet<'_>> {
    const HEADER: usize = 40;
    let total = HEADER + length_or(half(bytes, 4)?.into(), wire.checked_sub(HEADER)?);
    let address = |at: usize| bytes.get(at..)?.first_chunk::<16>().map(|a| Ipv6Addr::from(*a));
    let (from, to) = (address(8)?.into(), address(24)?.into());
    let bytes = &bytes[..total.min(bytes.len())];
    let (mut protocol, mut at) = behind_extensions(bytes[6], bytes, HEADER)?;
    let mut fragment = None;
    if protocol == FRAGMENT {
        let (next, place) = (*bytes.get(at)?, half(bytes, at + 2)?);
        let id = u32::from(half(bytes, at + 4)?) << 16 | u32::from(half(bytes, at + 6)?);
        let (offset, more) = (usize::from(place & !7), place & 1 != 0);
        // the rest is a part of what was fragmented
        (protocol, at) = (next, at + 8);
        if more || offset > 0 {
            fragment = Some(Fragment { id, offset, more });
        } else {
            (protocol, at) = behind_extensions(protocol, bytes, at)?;
        }
    }
    let length = total.checked_sub(at)?;
    let payload = bytes.get(at..).unwrap_or_default();
    Some(Packet { from, to, protocol, payload, length, fragment })
}

/// The protocol after the extension headers from `at`, the first of type `protocol`, up to a
/// fragment's, and where it begins; `None` if they are cut, or too many.
pub fn behind_extensions(mut protocol: u8, bytes: &[u8], mut at: usize) -> Option<(u8, usize)> {
    for _ in 0..MOST_EXTENSIONS {
        if !EXTENSIONS.contains(&protocol) {
            return Some((protocol, at));
        }
        let (next, words) = (*bytes.get(at)?, usize::from(*bytes.get(at + 1)?));
        at += if protocol == AUTHENTICATION { (words + 2) * 4 } else { (words + 1) * 8 };
        protocol = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version4(total: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 0, 0, 7, 0, 0, 64, UDP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        packet[6..8].copy_from_slice(&flags.to_be_bytes());
        packet.extend(payload);
        packet
    }

    fn version6(next: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x60, 0, 0, 0, 0, payload.len() as u8, next, 64];
        packet.extend([[0; 15].as_slice(), &[1], &[0; 15], &[2], payload].concat());
        packet
    }

    #[test]
    fn padding_behind_the_packet_is_not_payload() {
        let packet = version4(23, 0, b"abc\0\0\0");
        let read = read(&packet, packet.len()).unwrap();
        assert_eq!((read.payload, read.length, read.fragment), (&b"abc"[..], 3, None));
        assert_eq!(read.from.to_string(), "10.0.0.1");
    }

    #[test]
    fn a_packet_cut_by_the_capture_keeps_its_length() {
        let packet = version4(1020, 0, b"abc");
        let read = read(&packet, 1020).unwrap();
        assert_eq!((read.payload, read.length), (&b"abc"[..], 1000));
    }

    #[test]
    fn a_length_of_zero_is_that_of_the_wire() {
        let packet = version4(0, 0, b"abc");
        assert_eq!(read(&packet, 70_020).unwrap().length, 70_000);
    }

    #[test]
    fn fragments_tell_their_place() {
        let packet = version4(28, 0x2000 | 185, &[0; 8]);
        let fragment = Fragment { id: 7, offset: 1480, more: true };
        assert_eq!(read(&packet, 28).unwrap().fragment, Some(fragment));
    }

    #[test]
    fn extension_headers_are_passed_over() {
        let payload = [&[DESTINATION, 0][..], &[0; 6], &[UDP, 0], &[0; 6], b"abc"].concat();
        let packet = version6(HOP_BY_HOP, &payload);
        let read = read(&packet, packet.len()).unwrap();
        assert_eq!((read.protocol, read.payload, read.length), (UDP, &b"abc"[..], 3));
        assert_eq!(read.to.to_string(), "::2");
    }

    #[test]
    fn a_fragment_header_of_version_6_tells_its_place() {
        let packet = version6(FRAGMENT, &[&[UDP, 0, 5, 0xa9, 0, 1, 0, 2][..], b"abc"].concat());
        let read = read(&packet, packet.len()).unwrap();
        assert_eq!(read.fragment, Some(Fragment { id: 65_538, offset: 1448, more: true }));
        assert_eq!(read.payload, b"abc");
    }

    #[test]
    fn broken_headers_hold_no_packet() {
        assert_eq!(read(&[], 0), None);
        assert_eq!(read(&[0x45; 10], 10), None);
        assert_eq!(read(&[0x60; 39], 39), None);
        assert_eq!(read(&version4(19, 0, b""), 20), None);
        assert_eq!(read(&version6(HOP_BY_HOP, &[0]), 41), None);
    }
}
