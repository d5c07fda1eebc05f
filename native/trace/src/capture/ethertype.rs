//! From a link layer or a tunnel to the IP packet in it, by EtherTypes (IEEE 802): VLAN tags, MPLS
//! (RFC 3032), PPPoE, provider backbones (802.1ah), service headers (RFC 8300), and Ethernet again.

use super::link::Link;
use super::unread::Reason;
use super::{ip, ppp};

/// IP of either version; the packet's first bits have the version.
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ARP: u16 = 0x0806;
/// IEEE 802.1Q, 802.1ad and the two that came before it.
const TAGS: [u16; 4] = [0x8100, 0x88a8, 0x9100, 0x9200];
/// Smaller values are lengths of 802.3 frames, not types.
const FIRST_TYPE: u16 = 0x0600;
/// LLC and SNAP headers that announce an EtherType (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
/// MPLS, and MPLS with a label that the sender did not assign.
pub const MPLS: u16 = 0x8847;
const MPLS_UPSTREAM: u16 = 0x8848;
/// A PPPoE session.
pub const PPPOE: u16 = 0x8864;
/// An Ethernet frame (RFC 1701 calls it transparent bridging).
pub const ETHERNET: u16 = 0x6558;
const PPP: u16 = 0x880b;
const BACKBONE: u16 = 0x88e7;
const SERVICE: u16 = 0x894f;
/// MACsec, TRILL and FabricPath, which are not read.
const OTHERS: [u16; 3] = [0x88e5, 0x22f3, 0x8903];

/// The most encapsulations that are removed from a packet, one in the other.
pub const DEPTH: u8 = 8;

/// The protocol that begins at a place in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The EtherType, or an LLC header if it is a length.
    Type(u16),
    /// An unreadable protocol.
    Unread(Reason),
}

impl Layer {
    /// An IP packet of either version.
    pub const IP: Layer = Layer::Type(IPV4);
    /// An LLC header.
    pub const LLC: Layer = Layer::Type(0);
    /// An Ethernet frame.
    pub const FRAME: Layer = Layer::Type(ETHERNET);

    /// Whether it is an IP packet.
    pub fn is_ip(self) -> bool {
        matches!(self, Layer::Type(IPV4 | IPV6))
    }

    /// Whether its type is one that [`find_ip`] knows.
    pub fn is_known(self) -> bool {
        match self {
            Layer::Type(kind) => {
                TAGS.contains(&kind)
                    || OTHERS.contains(&kind)
                    || [IPV4, IPV6, ARP, MPLS, MPLS_UPSTREAM, PPPOE].contains(&kind)
                    || [ETHERNET, PPP, BACKBONE, SERVICE].contains(&kind)
            }
            Layer::Unread(_) => false,
        }
    }
}

/// The layer after a header, and where it begins; `None` if nothing that holds packets follows, or
/// if the header is cut.
pub type Payload = Option<(Layer, usize)>;

/// The contents of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// An IP packet.
    Ip {
        /// Where it begins.
        at: usize,
        /// The number of encapsulations around it.
        depth: u8,
    },
    /// No IP packet.
    Nothing,
    /// Unreadable contents.
    Unread(Reason),
}

/// The 16-bit number at a place.
#[inline]
pub fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|half| u16::from_be_bytes(*half))
}

/// The layer of the EtherType at a place.
#[inline]
pub fn at(bytes: &[u8], at: usize) -> Payload {
    Some((Layer::Type(half(bytes, at)?), at + 2))
}

/// Finds the IP packet in a payload that has `depth` encapsulations around it.
#[inline]
pub fn find_ip(mut payload: Payload, bytes: &[u8], mut depth: u8) -> Inner {
    loop {
        let (kind, at) = match payload {
            Some((Layer::Type(kind), at)) => (kind, at),
            Some((Layer::Unread(reason), _)) => return Inner::Unread(reason),
            None => return Inner::Nothing,
        };
        if depth > DEPTH {
            return Inner::Unread(Reason::Nesting);
        }
        if matches!(kind, IPV4 | IPV6) {
            return Inner::Ip { at, depth };
        }
        payload = after_header(kind, bytes, at, &mut depth);
    }
}

/// The layer after a header of a type, which begins at `at`. Each header is longer than nothing.
fn after_header(kind: u16, bytes: &[u8], at: usize, depth: &mut u8) -> Payload {
    let payload = match kind {
        tag if TAGS.contains(&tag) => return self::at(bytes, at + 2),
        0..FIRST_TYPE if bytes.get(at..)?.starts_with(&SNAP) => {
            return self::at(bytes, at + SNAP.len());
        }
        ETHERNET => return self::at(bytes, at + 12),
        MPLS | MPLS_UPSTREAM => after_labels(bytes, at),
        PPPOE => ppp::session(bytes, at),
        PPP => ppp::payload(bytes, at),
        BACKBONE => Some((Layer::FRAME, at + 4)),
        SERVICE => service(bytes, at),
        other if OTHERS.contains(&other) => Some((Layer::Unread(Reason::Tunnel), at)),
        _ => None,
    };
    *depth += 1;
    payload
}

/// The layer after a stack of labels: IP by its first bits, or Ethernet, with or without a control
/// word before it (RFC 4385). A frame without one may begin as IP does; then lengths decide.
fn after_labels(bytes: &[u8], at: usize) -> Payload {
    let labels = bytes.get(at..)?.chunks_exact(4).position(|label| label[2] & 1 == 1)? + 1;
    let at = at + 4 * labels;
    let rest = bytes.get(at..)?;
    let first = *rest.first()?;
    let may_be_ip = matches!(first, 0x45..=0x4f | 0x60..=0x6f);
    let frame =
        [4, 0].into_iter().find(|skip| (first < 0x10 || *skip == 0) && is_frame(rest, *skip));
    match frame {
        _ if may_be_ip && (frame.is_none() || ip::fits(rest, rest.len())) => Some((Layer::IP, at)),
        Some(skip) => Some((Layer::FRAME, at + skip)),
        None if first < 0x10 => Some((Layer::FRAME, at + 4)),
        None if first < 0x20 => None, // a pseudowire's own messages (RFC 4385 section 5)
        None => Some((Layer::Unread(Reason::Tunnel), at)),
    }
}

/// Whether an Ethernet frame of a known type seems to begin at a place.
fn is_frame(bytes: &[u8], at: usize) -> bool {
    let payload = bytes.get(at..).and_then(|frame| Some((Link::Ethernet.payload(frame)?, frame)));
    payload.is_some_and(|((layer, after_header), frame)| {
        let first = frame.get(after_header).map_or(0, |first| first >> 4);
        layer.is_known() && (!layer.is_ip() || matches!(first, 4 | 6))
    })
}

/// The layer after a network service header.
fn service(bytes: &[u8], at: usize) -> Payload {
    let words = usize::from(half(bytes, at)? & 0x3f);
    let layer = next_protocol(*bytes.get(at + 3)?)?;
    (words > 0).then_some((layer, at + 4 * words))
}

/// The layer of a next protocol, as VXLAN-GPE and service headers number them.
pub fn next_protocol(number: u8) -> Option<Layer> {
    match number {
        1 | 2 => Some(Layer::IP),
        3 => Some(Layer::FRAME),
        4 => Some(Layer::Type(SERVICE)),
        5 => Some(Layer::Type(MPLS)),
        _ => None,
    }
}
