//! From packets to RPC messages: IP, then UDP (RFC 768) or TCP (RFC 9293), or a tunnel and again.

use super::counts::CaptureCounts;
use super::ethertype::{find_ip, Inner, Payload};
use super::flows::Flows;
use super::fragments::{Datagram, Fragments};
use super::link::Link;
use super::messages::{Extent, Flow, Messages, Origin};
use super::rdma::{self, Rdma};
use super::stream::Segment;
use super::unread::Reason;
use super::{ip, tunnel};
use crate::budget::Budget;
use crate::join::Joiner;
use crate::message::Transport;
use std::net::SocketAddr;

/// Bytes of the headers (RFC 768; RFC 9293 without options), and flags of TCP (RFC 9293).
const UDP_HEADER: usize = 8;
const TCP_HEADER: usize = 20;
const SYN: u8 = 2;
const RST: u8 = 4;
const ACK: u8 = 16;

/// A packet as the capture file holds it.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    /// Its link type.
    pub link: Link,
    /// The captured bytes.
    pub bytes: &'a [u8],
    /// The bytes on the wire.
    pub length: usize,
    /// Its time, and its place in the file.
    pub origin: Origin,
}

/// The layers between packets and messages.
#[derive(Default)]
pub struct Network {
    fragments: Fragments,
    flows: Flows,
    messages: Messages,
    /// Whether a packet in the last one's tunnel was cut before it entered the tunnel.
    cut_inside: bool,
    rdma: Rdma,
    /// The counts so far.
    pub counts: CaptureCounts,
}

/// The result of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It holds RPC, or may.
    Rpc,
    /// It holds no RPC.
    Other,
    /// It is a fragment, pending others.
    Waits,
    /// It is unreadable.
    Unread(Reason),
}

impl Network {
    /// Applies a memory budget from now on.
    pub fn limit(&mut self, budget: Budget) {
        self.fragments.limit(budget);
        self.flows.limit(budget);
    }

    /// Takes a packet.
    #[inline]
    pub fn packet(&mut self, packet: &Captured, joiner: &mut Joiner) {
        let Captured { link, bytes, length, origin } = *packet;
        let fragments = self.counts.fragments;
        self.cut_inside = false;
        let outcome = self.encapsulated(link.payload(bytes), bytes, length, (origin, 0), joiner);
        self.counts.packets += 1;
        self.counts.bytes += bytes.len() as u64;
        self.counts.cut_packets += u64::from(self.cut_inside || bytes.len() < length);
        self.count(outcome, bytes.len());
        if self.counts.fragments != fragments {
            self.expire(origin.time, joiner);
        }
    }

    /// Ends the capture and all pending data.
    pub fn end(&mut self, joiner: &mut Joiner) {
        self.expire(i64::MAX, joiner);
        self.flows.end((&mut self.messages, joiner, &mut self.counts));
    }

    fn count(&mut self, outcome: Outcome, bytes: usize) {
        match outcome {
            Outcome::Rpc | Outcome::Waits => {}
            Outcome::Other => self.counts.other_packets += 1,
            Outcome::Unread(reason) => self.counts.unread.add(reason, bytes as u64),
        }
    }

    fn expire(&mut self, now: i64, joiner: &mut Joiner) {
        while let Some(partial) = self.fragments.expired(now) {
            self.counts.incomplete_datagrams += 1;
            let outcome = self.datagram(&partial, joiner);
            self.count(outcome, partial.payload.len());
        }
    }

    /// Takes the contents, `length` bytes on the wire, of a link layer or a tunnel.
    fn encapsulated(
        &mut self,
        payload: Payload,
        bytes: &[u8],
        length: usize,
        (origin, depth): (Origin, u8),
        joiner: &mut Joiner,
    ) -> Outcome {
        let (at, depth) = match find_ip(payload, bytes, depth) {
            Inner::Ip { at, depth } if at < bytes.len() => (at, depth),
            Inner::Unread(reason) => return Outcome::Unread(reason),
            _ => return Outcome::Other,
        };
        let Some(packet) = ip::read(&bytes[at..], length - at) else {
            return Outcome::Other;
        };
        self.cut_inside |= depth > 0 && packet.payload.len() < packet.length;
        if let Some(part) = packet.fragment {
            self.counts.fragments += 1;
            let whole = self.fragments.take(&packet, part, (origin, depth));
            return whole.map_or(Outcome::Waits, |whole| self.datagram(&whole, joiner));
        }
        let ip::Packet { from, to, protocol, payload, length, .. } = packet;
        let (payload, length) = (payload.into(), Some(length));
        self.datagram(&Datagram { from, to, protocol, payload, length, origin, depth }, joiner)
    }

    fn datagram(&mut self, datagram: &Datagram, joiner: &mut Joiner) -> Outcome {
        let carried = match datagram.protocol {
            ip::TCP => self.tcp(datagram, joiner),
            ip::UDP => return self.udp(datagram, joiner).unwrap_or(Outcome::Other),
            _ => return self.other_protocol(datagram, joiner).unwrap_or(Outcome::Other),
        };
        if carried == Some(true) {
            Outcome::Rpc
        } else {
            Outcome::Other
        }
    }

    /// Takes a datagram of another protocol: after extension headers, or in a tunnel.
    fn other_protocol(&mut self, datagram: &Datagram, joiner: &mut Joiner) -> Option<Outcome> {
        let bytes = &datagram.payload[..];
        let (protocol, at) = ip::behind_extensions(datagram.protocol, bytes, 0)?;
        if at == 0 {
            let payload = tunnel::in_ip(protocol, bytes);
            return Some(self.tunnel_payload(payload, bytes, datagram.length, datagram, joiner));
        }
        let payload = bytes.get(at..)?.into();
        let length = datagram.length.and_then(|length| length.checked_sub(at));
        Some(self.datagram(&Datagram { protocol, payload, length, ..*datagram }, joiner))
    }

    /// Takes a UDP datagram, if its header is present: a message, or a tunnel's.
    fn udp(&mut self, datagram: &Datagram, joiner: &mut Joiner) -> Option<Outcome> {
        let (header, body) = datagram.payload.split_first_chunk::<UDP_HEADER>()?;
        let ports = [0, 2].map(|at| u16::from_be_bytes([header[at], header[at + 1]]));
        let stated = usize::from(u16::from_be_bytes([header[4], header[5]]));
        // a length of zero marks a jumbo datagram (RFC 2675)
        let travelled = if stated == 0 { datagram.length? } else { stated };
        let length = travelled.checked_sub(UDP_HEADER)?;
        let body = &body[..length.min(body.len())];
        if ports[1] == rdma::PORT && self.rdma.carries_rpc(datagram.to, body) {
            self.counts.unread.add(Reason::Rdma, length as u64);
            return Some(Outcome::Rpc);
        }
        let flow = flow(datagram, ports, Transport::Udp);
        if !self.messages.is_message(&flow, body, length, joiner) {
            let payload = tunnel::in_udp(ports, body);
            if payload.is_none() && flow.is_nfs() && length > 0 {
                self.counts.unread.add(Reason::NoMessage, length as u64);
            }
            return Some(self.tunnel_payload(payload, body, Some(length), datagram, joiner));
        }
        let extent = if body.len() == length { Extent::Whole } else { Extent::Cut };
        self.counts.rpc_bytes += length as u64;
        self.messages.message((&flow, datagram.origin), body, extent, joiner, &mut self.counts);
        Some(Outcome::Rpc)
    }

    /// Takes the contents of a datagram, if it is a tunnel's.
    fn tunnel_payload(
        &mut self,
        payload: Payload,
        bytes: &[u8],
        length: Option<usize>,
        around: &Datagram,
        joiner: &mut Joiner,
    ) -> Outcome {
        let length = length.unwrap_or(0).max(bytes.len());
        self.encapsulated(payload, bytes, length, (around.origin, around.depth + 1), joiner)
    }

    /// Takes a TCP segment, if its header is present; returns whether its conversation may be RPC.
    fn tcp(&mut self, datagram: &Datagram, joiner: &mut Joiner) -> Option<bool> {
        let header = datagram.payload.first_chunk::<TCP_HEADER>()?;
        let ports = [0, 2].map(|at| u16::from_be_bytes([header[at], header[at + 1]]));
        let behind = usize::from(header[12] >> 4) * 4;
        if behind < TCP_HEADER {
            return None;
        }
        let number = |at| u32::from_be_bytes([0, 1, 2, 3].map(|byte: usize| header[at + byte]));
        let flags = header[13];
        let segment = Segment {
            sequence: number(4),
            acknowledged: (flags & ACK != 0).then(|| number(8)),
            syn: flags & SYN != 0,
            reset: flags & RST != 0,
            data: datagram.payload.get(behind..).unwrap_or_default(),
            length: datagram.length?.checked_sub(behind)?,
        };
        let flow = flow(datagram, ports, Transport::Tcp);
        let Network { flows, messages, counts, .. } = self;
        Some(flows.segment(flow, &segment, datagram.origin, (messages, joiner, counts)))
    }
}

fn flow(datagram: &Datagram, [from, to]: [u16; 2], transport: Transport) -> Flow {
    let (from, to) = (SocketAddr::new(datagram.from, from), SocketAddr::new(datagram.to, to));
    Flow { from, to, transport }
}
