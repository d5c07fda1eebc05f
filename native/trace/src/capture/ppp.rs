//! PPP (RFC 1661) on a line, in a PPPoE session (RFC 2516) and in tunnels; Cisco HDLC.

use super::ethertype::{half, Layer, Payload, MPLS};
use super::unread::Reason;

/// Address and control of PPP (RFC 1662).
const HDLC: u16 = 0xff03;
/// Addresses of Cisco HDLC, to one and to all.
const CISCO: [u8; 2] = [0x0f, 0x8f];

/// Version and type of PPPoE, and the code of a session's packets.
const SESSION: u16 = 0x1100;
const PPPOE_HEADER: usize = 6;

/// The contents of a PPP frame that begins at `at`.
pub fn payload(bytes: &[u8], mut at: usize) -> Payload {
    let first = *bytes.get(at)?;
    if CISCO.contains(&first) {
        return Some((Layer::Type(half(bytes, at + 2)?), at + 4));
    }
    if half(bytes, at) == Some(HDLC) {
        at += 2;
    }
    let first = *bytes.get(at)?;
    // the protocol's last byte is odd, the one before it even, and left out if it is 0
    let (protocol, at) = match first & 1 {
        1 => (first.into(), at + 1),
        _ => (half(bytes, at)?, at + 2),
    };
    let layer = match protocol {
        0x21 | 0x57 => Layer::IP,
        0x281 | 0x283 => Layer::Type(MPLS),
        // compressed headers, several links, bridged frames; encrypted and compressed packets
        0x2d | 0x2f | 0x31 | 0x3d | 0x53 | 0x55 | 0xfb | 0xfd => Layer::Unread(Reason::Tunnel),
        _ => return None,
    };
    Some((layer, at))
}

/// The contents of a packet of a PPPoE session that begins at `at`.
pub fn session(bytes: &[u8], at: usize) -> Payload {
    match half(bytes, at)? {
        SESSION => payload(bytes, at + PPPOE_HEADER),
        _ => None,
    }
}
