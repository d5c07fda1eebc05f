//! Link layers: what stands before the IP packet. The types' numbers are those of the
//! `LINKTYPE_` registry, which pcap and pcapng share.

/// A link type that can be read.
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
}

/// The link types, in words, for errors.
pub const READABLE: &str =
    "null (0), Ethernet (1), raw IP (12, 14, 101, 228, 229), loop (108), Linux cooked (113, 276)";

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// IEEE 802.1Q, 802.1ad and the two that came before it.
const TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
/// The most tags that a frame carries.
const MOST_TAGS: usize = 4;
/// Below are lengths of 802.3 frames, not types.
const FIRST_TYPE: u16 = 0x0600;
/// LLC and SNAP headers that announce an Ethernet type (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
/// `AF_INET`, and `AF_INET6` in NetBSD and OpenBSD, FreeBSD, macOS and Linux.
const FAMILIES: [u32; 5] = [2, 24, 28, 30, 10];

impl Link {
    /// The link type of a number.
    pub fn from_number(number: u32) -> Option<Link> {
        match number {
            0 | 108 => Some(Link::Loopback),
            1 => Some(Link::Ethernet),
            12 | 14 | 101 | 228 | 229 => Some(Link::Raw),
            113 => Some(Link::Cooked),
            276 => Some(Link::Cooked2),
            _ => None,
        }
    }

    /// Where the IP packet begins in a frame, if it holds one.
    pub fn ip_at(self, frame: &[u8]) -> Option<usize> {
        match self {
            Link::Raw => Some(0),
            Link::Loopback => {
                let family = *frame.first_chunk()?;
                let known = |family| FAMILIES.contains(&family);
                (known(u32::from_be_bytes(family)) || known(u32::from_le_bytes(family)))
                    .then_some(4)
            }
            Link::Ethernet => behind_type(frame, 12),
            Link::Cooked => behind_type(frame, 14),
            // the type stands first, the address last
            Link::Cooked2 => match word(frame, 0)? {
                tag if TAGS.contains(&tag) => behind_type(frame, 22),
                IPV4 | IPV6 => Some(20),
                _ => None,
            },
        }
    }
}

fn word(frame: &[u8], at: usize) -> Option<u16> {
    frame.get(at..)?.first_chunk().map(|word| u16::from_be_bytes(*word))
}

/// Where IP begins behind a type that stands at `at`, and any tags behind it.
fn behind_type(frame: &[u8], mut at: usize) -> Option<usize> {
    let mut kind = word(frame, at)?;
    for _ in 0..MOST_TAGS {
        if TAGS.contains(&kind) {
            at += 4;
            kind = word(frame, at)?;
        }
    }
    if kind < FIRST_TYPE && frame.get(at + 2..)?.starts_with(&SNAP) {
        at += 2 + SNAP.len();
        kind = word(frame, at)?;
    }
    matches!(kind, IPV4 | IPV6).then_some(at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn behind(prefix: &[u8]) -> Vec<u8> {
        [prefix, &[0x45, 0, 0, 20]].concat()
    }

    #[test]
    fn every_link_layer_is_passed_over_to_ip() {
        let addresses = [0; 12];
        let ethernet = |rest: &[u8]| behind(&[&addresses[..], rest].concat());
        for (number, frame, at) in [
            (1, ethernet(&[8, 0]), 14),
            (1, ethernet(&[0x81, 0, 0, 5, 8, 0]), 18),
            (1, ethernet(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x86, 0xdd]), 22),
            (1, ethernet(&[0, 40, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]), 22),
            (0, behind(&[2, 0, 0, 0]), 4),
            (0, behind(&[30, 0, 0, 0]), 4),
            (108, behind(&[0, 0, 0, 2]), 4),
            (101, behind(&[]), 0),
            (113, behind(&[&[0; 14][..], &[8, 0]].concat()), 16),
            (276, behind(&[&[0x86, 0xdd][..], &[0; 18]].concat()), 20),
        ] {
            let link = Link::from_number(number).unwrap();
            assert_eq!(link.ip_at(&frame), Some(at), "link type {number}");
            assert_eq!(frame[at], 0x45);
        }
    }

    #[test]
    fn frames_without_ip_and_frames_cut_in_the_link_layer_hold_none() {
        let arp = [&[0; 12][..], &[8, 6, 0, 1]].concat();
        assert_eq!(Link::Ethernet.ip_at(&arp), None);
        assert_eq!(Link::Ethernet.ip_at(&arp[..13]), None);
        assert_eq!(Link::Loopback.ip_at(&[7, 0, 0, 0]), None);
        assert_eq!(Link::from_number(147), None);
    }
}
