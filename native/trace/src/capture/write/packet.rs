//! Ethernet, IPv4, TCP and UDP headers (RFC 791, RFC 9293, RFC 768), with their checksums.

use std::net::{Ipv4Addr, SocketAddrV4};

/// IPv4 in an Ethernet frame.
const IPV4: [u8; 2] = [8, 0];
/// The most bytes that an IP packet carries behind its header and TCP's.
pub const MOST_TCP: usize = 65_535 - 40;
/// The most bytes that an IP packet carries behind its header and UDP's.
pub const MOST_UDP: usize = 65_535 - 28;
/// Usual for a host (RFC 1700); nothing here is routed.
const TTL: u8 = 64;
/// Protocol numbers of IP.
const TCP: u8 = 6;
const UDP: u8 = 17;
/// "Don't fragment", and no offset.
const WHOLE: [u8; 2] = [0x40, 0];
/// The largest without scaling: no sender ever waits.
const WINDOW: u16 = 65_535;

/// TCP's flags.
pub const SYN: u8 = 2;
/// With data to be handed on at once.
pub const PSH: u8 = 8;
/// With an acknowledgement.
pub const ACK: u8 = 16;

/// What a packet carries: bytes, and zeros behind them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Payload<'a> {
    /// Bytes.
    pub bytes: &'a [u8],
    /// The number of zeros.
    pub zeros: usize,
}

impl Payload<'_> {
    /// Its length.
    pub fn length(&self) -> usize {
        self.bytes.len() + self.zeros
    }
}

/// The number, acknowledgement and flags of a TCP segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// The sequence number of the first byte.
    pub sequence: u32,
    /// The sequence number expected of the other side.
    pub acknowledged: u32,
    /// Flags.
    pub flags: u8,
}

/// The headers of a TCP segment. It carries at most [`MOST_TCP`] bytes.
pub fn tcp(from: SocketAddrV4, to: SocketAddrV4, segment: Segment, payload: Payload) -> Vec<u8> {
    let mut header = [from.port().to_be_bytes(), to.port().to_be_bytes()].concat();
    header.extend(segment.sequence.to_be_bytes());
    header.extend(segment.acknowledged.to_be_bytes());
    header.extend([0x50, segment.flags]);
    header.extend(WINDOW.to_be_bytes());
    header.extend([0; 4]);
    let sum = checksum(&[&pseudo(from, to, TCP, 20 + payload.length()), &header, payload.bytes]);
    header[16..18].copy_from_slice(&sum.to_be_bytes());
    framed(*from.ip(), *to.ip(), TCP, &header, payload)
}

/// The headers of a UDP datagram. It carries at most [`MOST_UDP`] bytes.
pub fn udp(from: SocketAddrV4, to: SocketAddrV4, payload: Payload) -> Vec<u8> {
    let length = 8 + payload.length();
    let mut header = [from.port().to_be_bytes(), to.port().to_be_bytes()].concat();
    header.extend((length as u16).to_be_bytes());
    header.extend([0; 2]);
    // a sum of zero is sent as all ones: zero says that there is none
    let sum = match checksum(&[&pseudo(from, to, UDP, length), &header, payload.bytes]) {
        0 => u16::MAX,
        sum => sum,
    };
    header[6..8].copy_from_slice(&sum.to_be_bytes());
    framed(*from.ip(), *to.ip(), UDP, &header, payload)
}

/// Puts Ethernet's and IP's header before that of the transport.
fn framed(from: Ipv4Addr, to: Ipv4Addr, protocol: u8, header: &[u8], payload: Payload) -> Vec<u8> {
    let length = ((20 + header.len() + payload.length()) as u16).to_be_bytes();
    let mut ip = vec![0x45, 0, length[0], length[1], 0, 0, WHOLE[0], WHOLE[1], TTL, protocol, 0, 0];
    ip.extend([from.octets(), to.octets()].concat());
    let sum = checksum(&[&ip]);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    [&hardware(to)[..], &hardware(from), &IPV4, &ip, header].concat()
}

/// A locally administered Ethernet address derived from the host's.
fn hardware(host: Ipv4Addr) -> [u8; 6] {
    let [a, b, c, d] = host.octets();
    [2, 0, a, b, c, d]
}

/// The pseudo-header that the transports' checksums also cover.
fn pseudo(from: SocketAddrV4, to: SocketAddrV4, protocol: u8, length: usize) -> Vec<u8> {
    let mut header = [from.ip().octets(), to.ip().octets()].concat();
    header.extend([0, protocol]);
    header.extend((length as u16).to_be_bytes());
    header
}

/// The Internet checksum (RFC 1071) of parts, all but the last of even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let pairs = parts.iter().flat_map(|part| part.chunks(2));
    let mut sum: u64 =
        pairs.map(|pair| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |b| u64::from(*b))).sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_internet_checksum_is_that_of_rfc_1071() {
        // section 3: the sum of these words is ddf2
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(checksum(&[&bytes]), !0xddf2);
        assert_eq!(checksum(&[&bytes[..4], &bytes[4..]]), !0xddf2);
    }
}
