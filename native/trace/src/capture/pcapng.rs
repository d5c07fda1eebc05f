//! The capture format of blocks and sections (draft-ietf-opsawg-pcapng).

use super::error::CaptureError;
use super::file::{cut_short, resynchronise, Frame, SideOutputs, LONGEST_FRAME};
use super::interface::Interface;
use super::link::Link;
use super::order::Order;
use super::statistics::Statistics;
use super::unread::Reason;
use crate::input::Input;
use std::collections::BTreeSet;

/// Types of blocks.
const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
/// The packet block of the first drafts.
const OLD_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
const STATISTICS: u32 = 5;
/// Names, journal entries, secrets and custom blocks, which are skipped.
const OTHERS: [u32; 5] = [4, 9, 10, 0xbad, 0x4000_0bad];

/// A section begins with this number in its own byte order.
const BYTE_ORDER: u32 = 0x1a2b_3c4d;

/// The shortest block: its type, and its length twice.
const SHORTEST: usize = 12;

/// The longest plausible block: a packet and its options.
const LONGEST: usize = LONGEST_FRAME;

/// The most interfaces of a section that are remembered.
const INTERFACES: usize = 65_536;

/// A file of blocks.
#[derive(Debug, Default)]
pub struct Pcapng {
    order: Order,
    interfaces: Vec<Interface>,
    /// The first packet's time.
    first: Option<i64>,
    /// Link types of unreadable packets.
    unknown_links: BTreeSet<u32>,
    /// Packets without a time.
    without_time: u64,
    /// The counts of dropped packets.
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
    ticks: u64,
    length: usize,
    start: usize,
    captured: usize,
}

impl Pcapng {
    /// Whether a file that begins so is of this format.
    pub fn begins(first: &[u8]) -> bool {
        first.starts_with(&SECTION.to_be_bytes())
    }

    /// Whether the next block, or damage in its place, is present.
    fn at_hand(&self, input: &mut Input) -> bool {
        input.at_hand(SHORTEST) && {
            let size = self.head(input.peek(SHORTEST)).map_or(SHORTEST, |head| head.size);
            input.at_hand(size)
        }
    }

    /// Finds the next packet.
    pub fn next(&mut self, input: &mut Input, side: &mut SideOutputs) -> Option<Frame> {
        loop {
            if input.live && !self.at_hand(input) {
                return None;
            }
            let bytes = input.peek(SHORTEST);
            if bytes.is_empty() {
                return None;
            }
            if bytes.len() < SHORTEST {
                let rest = cut_short(input, side.quarantine, "a block of at least 12 bytes");
                input.consume(rest);
                return None;
            }
            let head = self.head(bytes);
            let bytes = input.peek(head.map_or(SHORTEST, |head| head.size));
            let (head, size) = match head {
                Some(head) if head.is_confirmed(bytes) => (head, head.size),
                Some(head) if bytes.len() < head.size && !self.resumes_within(bytes) => {
                    let expected = "a block of the length that it states";
                    (head, cut_short(input, side.quarantine, expected))
                }
                _ => {
                    let what = ("bad-block", "a block that states its length at both its ends");
                    resynchronise(input, side.quarantine, what, |bytes| self.resumes(bytes));
                    continue;
                }
            };
            if let Some(frame) = self.block(head, size, input, side) {
                return Some(frame);
            }
            input.consume(size);
        }
    }

    /// Returns an error if there are packets, but none was readable.
    pub fn check(&self) -> Result<(), CaptureError> {
        match (self.first, self.unknown_links.is_empty(), self.without_time) {
            (None, false, _) => {
                Err(CaptureError::LinkType(self.unknown_links.iter().copied().collect()))
            }
            (None, true, 1..) => Err(CaptureError::NoTimes(self.without_time)),
            _ => Ok(()),
        }
    }

    /// Reads a block with `size` bytes present; returns its packet.
    fn block(
        &mut self,
        head: Head,
        size: usize,
        input: &mut Input,
        side: &mut SideOutputs,
    ) -> Option<Frame> {
        let offset = input.position();
        let block = &input.peek(size)[..size];
        self.order = head.order;
        let (reason, word, expected) = match head.kind {
            SECTION => {
                self.interfaces.clear();
                return None;
            }
            INTERFACE if size == head.size && self.interfaces.len() < INTERFACES => {
                self.interfaces.push(Interface::read(head.order, block));
                return None;
            }
            STATISTICS if size == head.size => {
                self.statistics(head.order, block);
                return None;
            }
            SIMPLE_PACKET => {
                self.without_time += 1;
                (Reason::NoTime, "no-time", "a packet with a time, which Simple Packet Blocks lack")
            }
            _ => {
                let packet = packet(head, block)?;
                match self.interfaces.get(packet.interface) {
                    Some(Interface { link: Some(link), .. }) => {
                        return Some(self.frame(*link, &packet, size));
                    }
                    other => self.unknown_links.extend(other.map(|interface| interface.number)),
                }
                let expected = "a packet of an interface whose link type can be read";
                (Reason::Link, "unknown-interface", expected)
            }
        };
        side.unread.add(reason, block.len() as u64);
        side.quarantine.set_aside(offset, None, word, expected, block);
        None
    }

    fn frame(&mut self, link: Link, packet: &Packet, size: usize) -> Frame {
        let Packet { interface, ticks, length, start, captured } = *packet;
        let time = self.interfaces.get(interface).map_or(0, |interface| interface.time(ticks));
        self.first = self.first.or(Some(time));
        Frame { link, time, length, start, captured, size }
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

    /// Reads a block's type and length, if plausible.
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
            (known.contains(&head.kind) || OTHERS.contains(&head.kind)) && head.is_confirmed(bytes)
        })
    }

    fn resumes_within(&self, bytes: &[u8]) -> bool {
        (1..bytes.len()).any(|at| self.resumes(&bytes[at..]))
    }
}

/// Reads the fixed part of a packet's block.
fn packet(head: Head, block: &[u8]) -> Option<Packet> {
    const START: usize = 28;
    let word = |at| head.order.u32(block, at);
    let interface = match head.kind {
        ENHANCED_PACKET => word(8) as usize,
        OLD_PACKET => head.order.u16(block, 8).into(),
        _ => return None,
    };
    let room = (head.size - 4).checked_sub(START)?;
    let captured = (word(20) as usize).min(room).min(block.len().checked_sub(START)?);
    let length = (word(24) as usize).min(LONGEST_FRAME).max(captured);
    let ticks = u64::from(word(12)) << 32 | u64::from(word(16));
    Some(Packet { interface, ticks, length, start: START, captured })
}

impl Head {
    /// Whether the block is present to its end, where its length is repeated.
    fn is_confirmed(&self, bytes: &[u8]) -> bool {
        bytes.len() >= self.size && self.order.u32(bytes, self.size - 4) as usize == self.size
    }
}
