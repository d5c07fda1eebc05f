//! From packets to RPC messages: IP, then UDP (RFC 768) or TCP (RFC 9293).

use super::boundary;
use super::counts::CaptureCounts;
use super::flows::Flows;
use super::fragments::{Datagram, Fragments};
use super::ip;
use super::link::Link;
use super::messages::{Extent, Flow, Messages, Origin};
use super::stream::Segment;
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
    /// How its frame begins.
    pub link: Link,
    /// The bytes that were captured.
    pub bytes: &'a [u8],
    /// The bytes that travelled.
    pub length: usize,
    /// When, and where in the file.
    pub origin: Origin,
}

/// Everything between packets and messages.
#[derive(Default)]
pub struct Network {
    fragments: Fragments,
    flows: Flows,
    messages: Messages,
    /// What was seen so far.
    pub counts: CaptureCounts,
}

impl Network {
    /// Takes a packet.
    pub fn packet(&mut self, packet: &Captured, joiner: &mut Joiner) {
        self.counts.packets += 1;
        self.counts.bytes += packet.bytes.len() as u64;
        self.counts.cut_packets += u64::from(packet.bytes.len() < packet.length);
        let at = packet.link.ip_at(packet.bytes).filter(|at| *at < packet.bytes.len());
        let read = at.and_then(|at| ip::read(&packet.bytes[at..], packet.length - at));
        let Some(read) = read else {
            self.counts.other_packets += 1;
            return;
        };
        let origin = packet.origin;
        if let Some(part) = read.fragment {
            self.counts.fragments += 1;
            if let Some(whole) = self.fragments.take(&read, part, origin) {
                self.datagram(&whole, joiner);
            }
            self.expire(origin.time, joiner);
            return;
        }
        let whole = Datagram {
            from: read.from,
            to: read.to,
            protocol: read.protocol,
            payload: read.payload.into(),
            length: Some(read.length),
            origin,
        };
        self.datagram(&whole, joiner);
    }

    /// Ends the capture: what waits for more gets none.
    pub fn end(&mut self, joiner: &mut Joiner) {
        self.expire(i64::MAX, joiner);
        self.flows.end((&mut self.messages, joiner, &mut self.counts));
    }

    fn expire(&mut self, now: i64, joiner: &mut Joiner) {
        while let Some(partial) = self.fragments.expired(now) {
            self.counts.incomplete_datagrams += 1;
            self.datagram(&partial, joiner);
        }
    }

    fn datagram(&mut self, datagram: &Datagram, joiner: &mut Joiner) {
        let carried = match datagram.protocol {
            ip::UDP => self.udp(datagram, joiner),
            ip::TCP => self.tcp(datagram, joiner),
            _ => None,
        };
        self.counts.other_packets += u64::from(carried != Some(true));
    }

    /// Takes a UDP datagram; whether it holds a message, if its header is there.
    fn udp(&mut self, datagram: &Datagram, joiner: &mut Joiner) -> Option<bool> {
        let (header, body) = datagram.payload.split_first_chunk::<UDP_HEADER>()?;
        let ports = [0, 2].map(|at| u16::from_be_bytes([header[at], header[at + 1]]));
        let stated = usize::from(u16::from_be_bytes([header[4], header[5]]));
        // a length of zero is that of a jumbo datagram (RFC 2675)
        let travelled = if stated == 0 { datagram.length? } else { stated };
        let length = travelled.checked_sub(UDP_HEADER)?;
        let body = &body[..length.min(body.len())];
        if !boundary::is_message(body) {
            return Some(false);
        }
        let extent = if body.len() == length { Extent::Whole } else { Extent::Cut };
        let flow = flow(datagram, ports, Transport::Udp);
        self.messages.message((&flow, datagram.origin), body, extent, joiner, &mut self.counts);
        Some(true)
    }

    /// Takes a TCP segment; whether its conversation may be RPC's, if its header is there.
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
