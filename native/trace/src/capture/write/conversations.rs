//! Sends messages as packets: datagrams, or segments of a conversation.

use super::packet::{tcp, udp, Payload, Segment, ACK, MOST_TCP, MOST_UDP, PSH, SYN};
use super::pcap::PcapFile;
use super::queue::Sent;
use super::rpc::Message;
use crate::message::Transport;
use hashbrown::HashMap;
use std::io::{self, Write};
use std::net::SocketAddrV4;

/// The most bytes in a TCP segment: 45 usual Ethernet segments, as captures with offloading
/// hardware have them.
const SEGMENT: usize = 45 * 1448;

/// The last fragment of a record (RFC 5531 section 11).
const LAST: u32 = 0x8000_0000;

/// Both sides' first sequence number.
const FIRST: u32 = 1;

/// The two ends of a conversation, and the direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The client.
    pub client: SocketAddrV4,
    /// The server.
    pub server: SocketAddrV4,
    /// The transport.
    pub transport: Transport,
    /// Whether the client sends.
    pub call: bool,
}

impl Flow {
    /// The sender and the receiver.
    fn ends(&self) -> (SocketAddrV4, SocketAddrV4) {
        match self.call {
            true => (self.client, self.server),
            false => (self.server, self.client),
        }
    }

    /// The longest message that the transport carries.
    pub fn longest(&self) -> usize {
        match self.transport {
            Transport::Tcp => (LAST - 1) as usize,
            Transport::Udp => MOST_UDP,
        }
    }
}

/// The sequence numbers of the next bytes of client and server.
type Numbers = [u32; 2];

/// Writes messages as packets.
pub struct Conversations<W: Write> {
    file: PcapFile<W>,
    tcp: HashMap<(SocketAddrV4, SocketAddrV4), Numbers>,
    /// Packets written so far.
    pub packets: u64,
}

impl<W: Write> Conversations<W> {
    /// A file without packets.
    pub fn new(to: W) -> io::Result<Conversations<W>> {
        Ok(Conversations { file: PcapFile::new(to)?, tcp: HashMap::new(), packets: 0 })
    }

    /// Writes a message.
    pub fn send(&mut self, sent: &Sent) -> io::Result<()> {
        match sent.flow.transport {
            Transport::Udp => self.datagram(sent),
            Transport::Tcp => self.record(sent),
        }
    }

    /// Ends the file.
    pub fn finish(self) -> io::Result<W> {
        self.file.finish()
    }

    fn datagram(&mut self, sent: &Sent) -> io::Result<()> {
        let (from, to) = sent.flow.ends();
        let Message { bytes, zeros, captured } = &sent.message;
        let payload = Payload { bytes, zeros: *zeros };
        self.packet(sent.time, &udp(from, to, payload), payload, *captured)
    }

    /// Writes a message as a record of one fragment, in segments.
    fn record(&mut self, sent: &Sent) -> io::Result<()> {
        let mut numbers = self.open_conversation(sent)?;
        let (from, to) = sent.flow.ends();
        let Message { bytes, zeros, captured } = &sent.message;
        let mark = (LAST | sent.message.length() as u32).to_be_bytes();
        let bytes = [&mark[..], bytes].concat();
        let (length, captured) = (bytes.len() + zeros, mark.len() + captured);
        let (own, other) = if sent.flow.call { (0, 1) } else { (1, 0) };
        for at in (0..length).step_by(SEGMENT.min(MOST_TCP)) {
            let end = (at + SEGMENT).min(length);
            let here = &bytes[at.min(bytes.len())..end.min(bytes.len())];
            let payload = Payload { bytes: here, zeros: end - at - here.len() };
            let flags = if end == length { ACK | PSH } else { ACK };
            let segment = Segment { sequence: numbers[own], acknowledged: numbers[other], flags };
            let there = captured.clamp(at, end) - at;
            self.packet(sent.time, &tcp(from, to, segment, payload), payload, there)?;
            numbers[own] = numbers[own].wrapping_add(payload.length() as u32);
        }
        self.tcp.insert((sent.flow.client, sent.flow.server), numbers);
        Ok(())
    }

    /// The sequence numbers of a conversation, opened if it is new.
    fn open_conversation(&mut self, sent: &Sent) -> io::Result<Numbers> {
        let (client, server) = (sent.flow.client, sent.flow.server);
        if let Some(numbers) = self.tcp.get(&(client, server)) {
            return Ok(*numbers);
        }
        let next = FIRST + 1;
        for (from, to, sequence, acknowledged, flags) in [
            (client, server, FIRST, 0, SYN),
            (server, client, FIRST, next, SYN | ACK),
            (client, server, next, next, ACK),
        ] {
            let header =
                tcp(from, to, Segment { sequence, acknowledged, flags }, Payload::default());
            self.packet(sent.time, &header, Payload::default(), 0)?;
        }
        Ok([next; 2])
    }

    /// Writes a packet, with the captured first bytes of its payload.
    fn packet(
        &mut self,
        time: i64,
        header: &[u8],
        payload: Payload,
        captured: usize,
    ) -> io::Result<()> {
        self.packets += 1;
        let (captured, length) = (header.len() + captured, header.len() + payload.length());
        self.file.packet(time, &[header, payload.bytes], captured, length)
    }
}
