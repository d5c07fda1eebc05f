//! Link layers: the headers before the network layer's packet. Type numbers are those of the
//! `LINKTYPE_` registry, which pcap and pcapng share.

use super::ethertype::{self, half, Layer, Payload};
use super::ppp;

/// A readable link type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// BSD loopback: the address family in the byte order of the capturing host, or the
    /// network's.
    Loopback,
    /// Ethernet II or 802.3, with or without VLAN tags.
    Ethernet,
    /// No link layer.
    Raw,
    /// Linux cooked capture.
    Cooked,
    /// Linux cooked capture, version 2.
    Cooked2,
    /// PPP or Cisco HDLC, after this many bytes.
    Ppp(usize),
    /// A PPPoE session without Ethernet.
    Pppoe,
    /// The log of Linux's netfilter.
    Nflog,
    /// macOS's packets with metadata, each with its own link type.
    Pktap,
    /// Solaris's IP with metadata.
    Ipnet,
    /// IP over InfiniBand (RFC 4391).
    Infiniband,
    /// An LLC and SNAP header after this many bytes: ATM (RFC 2684) and Fibre Channel (RFC 2625).
    Llc(usize),
}

/// The link types, in words, for errors.
pub const READABLE: &str =
    "null (0), Ethernet (1), PPP (9, 50, 51, 104, 166), raw IP (12, 14, 101, \
     228, 229), ATM (100), loop (108), Linux cooked (113, 276), Fibre Channel (122), PKTAP (149, \
     258), ipnet (226), NFLOG (239), InfiniBand (242)";

/// `AF_INET`, and `AF_INET6` in NetBSD and OpenBSD, FreeBSD, macOS, Linux and Solaris.
const FAMILIES: [u32; 6] = [2, 24, 28, 30, 10, 26];

/// NFLOG's header, the header of each of its values, and the type of the packet's value.
const NFLOG_HEADER: usize = 4;
const NFLOG_VALUE: usize = 4;
const NFLOG_PACKET: u16 = 9;

/// The shortest header of PKTAP, and the type of the next header that announces a packet.
const PKTAP_HEADER: usize = 108;
const PKTAP_PACKET: u32 = 1;

impl Link {
    /// The link type of a number.
    pub fn from_number(number: u32) -> Option<Link> {
        match number {
            0 | 108 => Some(Link::Loopback),
            1 => Some(Link::Ethernet),
            9 | 50 | 104 => Some(Link::Ppp(0)),
            12 | 14 | 101 | 228 | 229 => Some(Link::Raw),
            51 => Some(Link::Pppoe),
            100 => Some(Link::Llc(0)),
            113 => Some(Link::Cooked),
            122 => Some(Link::Llc(16)),
            149 | 258 => Some(Link::Pktap),
            166 => Some(Link::Ppp(1)),
            226 => Some(Link::Ipnet),
            239 => Some(Link::Nflog),
            242 => Some(Link::Infiniband),
            276 => Some(Link::Cooked2),
            _ => None,
        }
    }

    /// The contents of a frame, and where they begin.
    #[inline]
    pub fn payload(self, frame: &[u8]) -> Payload {
        match self {
            Link::Ethernet => ethertype::at(frame, 12),
            Link::Raw => Some((Layer::IP, 0)),
            Link::Loopback => {
                let family = *frame.first_chunk()?;
                let known = |family| FAMILIES.contains(&family);
                (known(u32::from_be_bytes(family)) || known(u32::from_le_bytes(family)))
                    .then_some((Layer::IP, 4))
            }
            Link::Cooked => ethertype::at(frame, 14),
            // the type stands first, the address last
            Link::Cooked2 => Some((Layer::Type(half(frame, 0)?), 20)),
            Link::Ppp(at) => ppp::payload(frame, at),
            Link::Pppoe => Some((Layer::Type(ethertype::PPPOE), 0)),
            Link::Nflog => nflog(frame),
            Link::Pktap => pktap(frame),
            Link::Ipnet => Some((Layer::IP, 24)),
            // captures have the pseudo-header, the sender's or a global route header, or none
            Link::Infiniband => [0, 20, 40].into_iter().find_map(|at| {
                let payload = ethertype::at(frame, at)?;
                payload.0.is_ip().then_some((payload.0, at + 4))
            }),
            Link::Llc(at) => Some((Layer::LLC, at)),
        }
    }
}

/// The packet among values that follow their length and type, in the byte order of the capturing
/// host.
fn nflog(frame: &[u8]) -> Payload {
    let big = u16::from_le_bytes(*frame.get(NFLOG_HEADER + 2..)?.first_chunk()?) > 0xff;
    let read = |at| half(frame, at).map(|word| if big { word } else { word.swap_bytes() });
    let mut at = NFLOG_HEADER;
    loop {
        let (length, kind) = (usize::from(read(at)?), read(at + 2)?);
        if kind == NFLOG_PACKET {
            return Some((Layer::IP, at + NFLOG_VALUE));
        }
        if length < NFLOG_VALUE {
            return None;
        }
        at += length.next_multiple_of(4);
    }
}

/// The frame after its metadata, which have its link type.
fn pktap(frame: &[u8]) -> Payload {
    let word = |at: usize| frame.get(at..)?.first_chunk().map(|word| u32::from_le_bytes(*word));
    let (header, next) = (word(0)? as usize, word(4)?);
    if header < PKTAP_HEADER || next != PKTAP_PACKET {
        return None;
    }
    let link = Link::from_number(word(8)?).filter(|link| *link != Link::Pktap)?;
    let (layer, at) = link.payload(frame.get(header..)?)?;
    Some((layer, header + at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::ethertype::{find_ip, Inner};

    fn ip_at(link: Link, frame: &[u8]) -> Option<usize> {
        match find_ip(link.payload(frame), frame, 0) {
            Inner::Ip { at, .. } => Some(at),
            _ => None,
        }
    }

    fn behind(prefix: &[u8]) -> Vec<u8> {
        [prefix, &[0x45, 0, 0, 20]].concat()
    }

    #[test]
    fn every_link_layer_is_passed_over_to_ip() {
        let addresses = [0; 12];
        let ethernet = |rest: &[u8]| behind(&[&addresses[..], rest].concat());
        let snap = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0];
        let mut pktap = [0; 108 + 14];
        (pktap[0], pktap[4], pktap[8]) = (108, 1, 1);
        pktap[120] = 8;
        for (number, frame, at) in [
            (1, ethernet(&[8, 0]), 14),
            (1, ethernet(&[0x81, 0, 0, 5, 8, 0]), 18),
            (1, ethernet(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x86, 0xdd]), 22),
            (1, ethernet(&[&[0, 40][..], &snap].concat()), 22),
            (0, behind(&[2, 0, 0, 0]), 4),
            (0, behind(&[30, 0, 0, 0]), 4),
            (108, behind(&[0, 0, 0, 2]), 4),
            (101, behind(&[]), 0),
            (113, behind(&[&[0; 14][..], &[8, 0]].concat()), 16),
            (276, behind(&[&[0x86, 0xdd][..], &[0; 18]].concat()), 20),
            (276, behind(&[&[0x81, 0][..], &[0; 18], &[0, 5, 8, 0]].concat()), 24),
            (9, behind(&[0, 0x21]), 2),
            (9, behind(&[0x21]), 1),
            (50, behind(&[0xff, 3, 0, 0x57]), 4),
            (50, behind(&[0x0f, 0, 8, 0]), 4),
            (166, behind(&[1, 0xff, 3, 0, 0x21]), 5),
            (51, behind(&[0x11, 0, 0, 7, 0, 6, 0, 0x21]), 8),
            (100, behind(&snap), 8),
            (122, behind(&[&[0; 16][..], &snap].concat()), 24),
            (226, behind(&[0; 24]), 24),
            (239, behind(&[2, 0, 0, 1, 8, 0, 1, 0, 8, 0, 0, 0, 24, 0, 9, 0]), 16),
            (239, behind(&[2, 0, 0, 1, 0, 5, 0, 10, b'x', 0, 0, 0, 0, 24, 0, 9]), 16),
            (242, behind(&[8, 0, 0, 0]), 4),
            (242, behind(&[&[0; 40][..], &[8, 0, 0, 0]].concat()), 44),
            (258, behind(&pktap), 122),
            (149, behind(&pktap), 122),
        ] {
            let link = Link::from_number(number).unwrap();
            assert_eq!(ip_at(link, &frame), Some(at), "link type {number}");
            assert_eq!(frame[at], 0x45);
            assert!(READABLE.contains(&number.to_string()), "link type {number}");
            for cut in 0..at {
                ip_at(link, &frame[..cut]);
            }
        }
    }

    #[test]
    fn frames_without_ip_and_frames_cut_in_the_link_layer_hold_none() {
        let arp = [&[0; 12][..], &[8, 6, 0, 1]].concat();
        assert_eq!(ip_at(Link::Ethernet, &arp), None);
        assert_eq!(ip_at(Link::Ethernet, &arp[..13]), None);
        assert_eq!(ip_at(Link::Loopback, &[7, 0, 0, 0]), None);
        assert_eq!(ip_at(Link::Nflog, &[2, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0]), None);
        assert_eq!(ip_at(Link::Pktap, &[0; 200]), None);
        assert_eq!(Link::from_number(147), None);
    }
}
