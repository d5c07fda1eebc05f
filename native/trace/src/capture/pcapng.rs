//! The capture format of blocks and sections (draft-ietf-opsawg-pcapng).

use super::error::CaptureError;
use super::file::{cut_short, resynchronise, Frame, LONGEST_FRAME};
use super::interface::Interface;
use super::link::Link;
use super::order::Order;
use super::statistics::Statistics;
use crate::input::Input;
use crate::quarantine::Quarantine;

/// Types of blocks.
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
/// The packet block of the first drafts.
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const STATISTICS: u32 = 5;
/// Names, journal entries, secrets and custom blocks, which are passed over.
const OTHERS: [u32; 5] = [4, 9, 10, 0xbad, 0x4000_0bad];

/// A section begins with this number in its own byte order.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

/// The shortest block: its type, and its length twice.
const SHORTEST: usize = 12;

/// The longest block believed: a packet and its options.
const LONGEST: usize = LONGEST_FRAME;

/// The most interfaces of a section that are remembered.
const INTERFACES: usize = 65_536;

/// A file of blocks.
#[derive(Debug, Default)]
pub struct Pcapng {
    order: Order,
    interfaces: Vec<Interface>,
    /// The last packet's time, which a block without one takes over.
    last: i64,
    /// The first packet's time.
    first: Option<i64>,
    /// What was told of packets that were dropped.
    pub statistics: Statistics,
}

/// A block's byte order, type and length.
#[derive(Clone, Copy, Debug)]
struct Head {
    order: Order,
    kind: u32,
    size: usize,
}

/// A packet in its block.
#[derive(Clone, Copy, Debug)]
struct Packet {
    interface: usize,
    ticks: Option<u64>,
    length: usize,
    start: usize,
    captured: usize,
}

impl Pcapng {
    /// Whether a file that begins so is of this format.
    pub fn begins(first: &[u8]) -> bool {
        first.starts_with(&SECTION.to_be_bytes())
    }

    /// Whether the next block is there, or damage in its place.
    fn at_hand(&self, input: &mut Input) -> bool {
        input.at_hand(SHORTEST) && {
            let size = self.head(input.peek(SHORTEST)).map_or(SHORTEST, |head| head.size);
            input.at_hand(size)
        }
    }

    /// Finds the next packet.
    pub fn next(
        &mut self,
        input: &mut Input,
        quarantine: &mut Quarantine,
    ) -> Result<Option<Frame>, CaptureError> {
        loop {
            if input.live && !self.at_hand(input) {
                return Ok(None);
            }
            let bytes = input.peek(SHORTEST);
            if bytes.is_empty() {
                return Ok(None);
            }
            if bytes.len() < SHORTEST {
                let rest = cut_short(input, quarantine, "a block of at least 12 bytes");
                input.consume(rest);
                return Ok(None);
            }
            let head = self.head(bytes);
            let bytes = input.peek(head.map_or(SHORTEST, |head| head.size));
            let (head, size) = match head {
                Some(head) if head.is_borne_out(bytes) => (head, head.size),
                Some(head) if bytes.len() < head.size && !self.resumes_within(bytes) => {
                    (head, cut_short(input, quarantine, "a block of the length that it states"))
                }
                _ => {
                    let what = ("bad-block", "a block that states its length at both its ends");
                    resynchronise(input, quarantine, what, |bytes| self.resumes(bytes));
                    continue;
                }
            };
            if let Some(frame) = self.block(head, size, input, quarantine)? {
                return Ok(Some(frame));
            }
            input.consume(size);
        }
    }

    /// Reads a block of which `size` bytes are there; gives the packet in it.
    fn block(
        &mut self,
        head: Head,
        size: usize,
        input: &mut Input,
        quarantine: &mut Quarantine,
    ) -> Result<Option<Frame>, CaptureError> {
        let offset = input.position();
        let block = &input.peek(size)[..size];
        self.order = head.order;
        match head.kind {
            SECTION => self.interfaces.clear(),
            INTERFACE if size == head.size && self.interfaces.len() < INTERFACES => {
                self.interfaces.push(Interface::read(head.order, block));
            }
            STATISTICS if size == head.size => self.statistics(head.order, block),
            _ => {
                let Some(packet) = self.packet(head, block) else {
                    return Ok(None);
                };
                match self.interfaces.get(packet.interface) {
                    Some(Interface { link: Some(link), .. }) => {
                        return Ok(Some(self.frame(*link, &packet, size)));
                    }
                    Some(other) if self.interfaces.iter().all(|i| i.link.is_none()) => {
                        return Err(CaptureError::LinkType(other.number));
                    }
                    _ => {
                        let expected = "a packet of an interface whose link type can be read";
                        quarantine.set_aside(offset, None, "unknown-interface", expected, block);
                    }
                }
            }
        }
        Ok(None)
    }

    fn frame(&mut self, link: Link, packet: &Packet, size: usize) -> Frame {
        if let (Some(ticks), Some(interface)) =
            (packet.ticks, self.interfaces.get(packet.interface))
        {
            self.last = interface.time(ticks);
            self.first = self.first.or(Some(self.last));
        }
        let Packet { length, start, captured, .. } = *packet;
        Frame { link, time: self.last, length, start, captured, size }
    }

    /// Reads a block of an interface's statistics.
    fn statistics(&mut self, order: Order, block: &[u8]) {
        let number = order.u32(block, 8) as usize;
        if let (Some(interface), Some(_)) = (self.interfaces.get(number), block.get(20)) {
            let ticks = u64::from(order.u32(block, 12)) << 32 | u64::from(order.u32(block, 16));
            let at = interface.time(ticks);
            self.statistics.read(order, block, number, at, self.first.unwrap_or(at));
        }
    }

    /// Reads the fixed part of a packet's block.
    fn packet(&self, head: Head, block: &[u8]) -> Option<Packet> {
        let word = |at| head.order.u32(block, at);
        let ticks = |at| Some(u64::from(word(at)) << 32 | u64::from(word(at + 4)));
        let room = |start: usize| (head.size - 4).checked_sub(start);
        let (interface, ticks, stated, length, start) = match head.kind {
            ENHANCED_PACKET => (word(8) as usize, ticks(12), word(20) as usize, word(24), 28),
            OLD_PACKET => {
                (head.order.u16(block, 8).into(), ticks(12), word(20) as usize, word(24), 28)
            }
            SIMPLE_PACKET => {
                let longest = self.interfaces.first().map_or(0, |interface| interface.longest);
                let longest = if longest == 0 { usize::MAX } else { longest };
                (0, None, longest.min(word(8) as usize).min(room(12)?), word(8), 12)
            }
            _ => return None,
        };
        let there = stated.min(room(start)?).min(block.len().checked_sub(start)?);
        let length = (length as usize).min(LONGEST_FRAME).max(there);
        Some(Packet { interface, ticks, length, start, captured: there })
    }

    /// Reads a block's type and length, if they are possible.
    fn head(&self, bytes: &[u8]) -> Option<Head> {
        let order = match bytes.get(..SHORTEST)? {
            head if !Pcapng::begins(head) => self.order,
            head if Order::Little.u32(head, 8) == BYTE_ORDER => Order::Little,
            head if Order::Big.u32(head, 8) == BYTE_ORDER => Order::Big,
            _ => return None,
        };
        let (kind, size) = (order.u32(bytes, 0), order.u32(bytes, 4) as usize);
        let possible = (SHORTEST..=LONGEST).contains(&size) && size.is_multiple_of(4);
        possible.then_some(Head { order, kind, size })
    }

    /// Whether a block begins here, after damage.
    fn resumes(&self, bytes: &[u8]) -> bool {
        self.head(bytes).is_some_and(|head| {
            let known =
                [SECTION, INTERFACE, OLD_PACKET, SIMPLE_PACKET, ENHANCED_PACKET, STATISTICS];
            (known.contains(&head.kind) || OTHERS.contains(&head.kind)) && head.is_borne_out(bytes)
        })
    }

    fn resumes_within(&self, bytes: &[u8]) -> bool {
        (1..bytes.len()).any(|at| self.resumes(&bytes[at..]))
    }
}

impl Head {
    /// Whether the block is there to its end, where it states its length again.
    fn is_borne_out(&self, bytes: &[u8]) -> bool {
        bytes.len() >= self.size && self.order.u32(bytes, self.size - 4) as usize == self.size
    }
}
