//! Reassembles IP datagrams from fragments (RFC 791 section 3.2, RFC 8200 section 4.5).

use super::ip::{Fragment, Packet};
use super::messages::Origin;
use crate::budget::{Budget, Part};
use hashbrown::HashMap;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::net::IpAddr;

/// The longest payload of a datagram.
const LONGEST: usize = 65_535;

/// The most datagrams reassembled at once.
const AT_ONCE: usize = 512;

/// The most datagrams remembered, finished ones included.
const REMEMBERED: usize = 16 * AT_ONCE;

/// How long a datagram waits for its fragments, in microseconds: less than a busy host takes to
/// reuse identifications.
const PATIENCE: i64 = 5_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    from: IpAddr,
    to: IpAddr,
    protocol: u8,
    id: u32,
    depth: u8,
}

/// A datagram's payload: the bytes known from its beginning on, and its length on the wire, if
/// known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    /// The sender.
    pub from: IpAddr,
    /// The receiver.
    pub to: IpAddr,
    /// The protocol of the payload.
    pub protocol: u8,
    /// The known bytes, up to the first unknown one.
    pub payload: Cow<'a, [u8]>,
    /// The bytes on the wire, if the last fragment came.
    pub length: Option<usize>,
    /// When its first fragment came, and from which place in the file.
    pub origin: Origin,
    /// The number of encapsulations around it.
    pub depth: u8,
}

#[derive(Debug)]
struct Partial {
    bytes: Vec<u8>,
    /// The captured bytes.
    known: Ranges,
    /// The bytes on the wire, captured or not.
    travelled: Ranges,
    length: Option<usize>,
    origin: Origin,
}

/// The datagrams with missing fragments.
#[derive(Debug, Default)]
pub struct Fragments {
    partial: HashMap<Key, Partial>,
    order: VecDeque<(Key, Origin)>,
    /// Their bytes of memory.
    memory: usize,
    budget: Budget,
}

impl Fragments {
    /// Applies a memory budget from now on.
    pub fn limit(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// Takes a fragment within `depth` encapsulations; returns the datagram that it completes. The
    /// same fragments outside and inside a tunnel belong to two datagrams.
    pub fn take(
        &mut self,
        packet: &Packet,
        part: Fragment,
        (origin, depth): (Origin, u8),
    ) -> Option<Datagram<'static>> {
        let end = part.offset + packet.length;
        if end > LONGEST || packet.length == 0 {
            return None;
        }
        let Packet { from, to, protocol, .. } = *packet;
        let key = Key { from, to, protocol, id: part.id, depth };
        let partial = self.partial.entry(key).or_insert_with(|| {
            self.order.push_back((key, origin));
            Partial {
                bytes: Vec::new(),
                known: Ranges::default(),
                travelled: Ranges::default(),
                length: None,
                origin,
            }
        });
        self.memory -= partial.memory();
        if !part.more {
            partial.length.get_or_insert(end);
        }
        partial.keep(part.offset, packet.payload);
        partial.travelled.insert(part.offset, end);
        self.memory += partial.memory();
        if partial.length.is_none_or(|length| partial.travelled.prefix() < length) {
            return None;
        }
        self.remove(&key)
    }

    fn remove(&mut self, key: &Key) -> Option<Datagram<'static>> {
        let partial = self.partial.remove(key)?;
        self.memory -= partial.memory();
        Some(partial.datagram(key))
    }

    /// Returns a datagram that has waited too long at the time `now`, or a surplus one; `i64::MAX`
    /// returns all.
    pub fn expired(&mut self, now: i64) -> Option<Datagram<'static>> {
        while let Some(&(key, origin)) = self.order.front() {
            let old = now.saturating_sub(origin.time) > PATIENCE;
            let many = self.partial.len() > AT_ONCE || self.order.len() > REMEMBERED;
            if !old && !many && self.memory <= self.budget.share(Part::Fragments) {
                return None;
            }
            self.order.pop_front();
            if self.partial.get(&key).is_some_and(|partial| partial.origin == origin) {
                return self.remove(&key);
            }
        }
        None
    }
}

impl Partial {
    /// The bytes of memory.
    fn memory(&self) -> usize {
        let ranges = self.known.0.capacity() + self.travelled.0.capacity();
        self.bytes.capacity() + ranges * size_of::<(usize, usize)>()
    }

    /// Copies unknown bytes: of overlapping fragments the first counts.
    fn keep(&mut self, offset: usize, payload: &[u8]) {
        let end = offset + payload.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        let mut from = offset;
        while from < end {
            let (to, known) = self.known.run(from, end);
            if !known {
                self.bytes[from..to].copy_from_slice(&payload[from - offset..to - offset]);
            }
            from = to;
        }
        self.known.insert(offset, end);
    }

    fn datagram(mut self, key: &Key) -> Datagram<'static> {
        self.bytes.truncate(self.known.prefix());
        let (payload, length, origin) = (self.bytes.into(), self.length, self.origin);
        let Key { from, to, protocol, depth, .. } = *key;
        Datagram { from, to, protocol, payload, length, origin, depth }
    }
}

/// Ranges of numbers, in order and apart from each other.
#[derive(Debug, Default)]
struct Ranges(Vec<(usize, usize)>);

impl Ranges {
    fn insert(&mut self, mut from: usize, mut to: usize) {
        if from >= to {
            return;
        }
        self.0.retain(|&(start, end)| {
            let apart = end < from || to < start;
            if !apart {
                (from, to) = (from.min(start), to.max(end));
            }
            apart
        });
        let index = self.0.partition_point(|&(start, _)| start < from);
        self.0.insert(index, (from, to));
    }

    /// The end of the range that begins with 0.
    fn prefix(&self) -> usize {
        self.0.first().filter(|(start, _)| *start == 0).map_or(0, |(_, end)| *end)
    }

    /// How far from `from`, at most to `to`, positions stay inside or outside of a range.
    fn run(&self, from: usize, to: usize) -> (usize, bool) {
        for &(start, end) in &self.0 {
            if from < start {
                return (start.min(to), false);
            }
            if from < end {
                return (end.min(to), true);
            }
        }
        (to, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::ip::UDP;

    fn take(
        fragments: &mut Fragments,
        offset: usize,
        more: bool,
        payload: &[u8],
        length: usize,
    ) -> Option<Datagram<'static>> {
        let (from, to) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let fragment = Fragment { id: 9, offset, more };
        let packet = Packet { from, to, protocol: UDP, payload, length, fragment: Some(fragment) };
        fragments.take(&packet, fragment, (Origin { time: 5, offset: 40 }, 0))
    }

    #[test]
    fn fragments_make_a_datagram_in_any_order() {
        let mut fragments = Fragments::default();
        assert_eq!(take(&mut fragments, 16, false, b"end", 3), None);
        assert_eq!(take(&mut fragments, 0, true, b"01234567", 8), None);
        assert_eq!(take(&mut fragments, 0, true, b"01234567", 8), None);
        let datagram = take(&mut fragments, 8, true, b"89abcdef", 8).unwrap();
        assert_eq!(datagram.payload, &b"0123456789abcdefend"[..]);
        assert_eq!(datagram.length, Some(19));
        assert_eq!(fragments.expired(i64::MAX), None);
    }

    #[test]
    fn the_first_of_overlapping_fragments_counts() {
        let mut fragments = Fragments::default();
        take(&mut fragments, 8, true, b"AAAAAAAA", 8);
        take(&mut fragments, 0, true, b"BBBBBBBBBBBBBBBB", 16);
        let datagram = take(&mut fragments, 8, false, b"CCCCCCCCCC", 10).unwrap();
        assert_eq!(datagram.payload, &b"BBBBBBBBAAAAAAAACC"[..]);
    }

    #[test]
    fn a_datagram_is_known_up_to_where_a_fragment_was_cut() {
        let mut fragments = Fragments::default();
        take(&mut fragments, 0, true, b"0123", 8);
        let datagram = take(&mut fragments, 8, false, b"89", 2).unwrap();
        assert_eq!((&datagram.payload[..], datagram.length), (&b"0123"[..], Some(10)));
    }

    #[test]
    fn a_datagram_without_its_last_fragment_is_given_up_with_what_there_is() {
        let mut fragments = Fragments::default();
        take(&mut fragments, 0, true, b"01234567", 8);
        assert_eq!(fragments.expired(5 + PATIENCE), None);
        let datagram = fragments.expired(6 + PATIENCE).unwrap();
        assert_eq!((&datagram.payload[..], datagram.length), (&b"01234567"[..], None));
    }

    #[test]
    fn the_number_of_unfinished_datagrams_is_bounded() {
        let mut fragments = Fragments::default();
        let address = [10, 0, 0, 1].into();
        for id in 0..2 * AT_ONCE as u32 {
            let fragment = Fragment { id, offset: 0, more: true };
            let packet = Packet {
                from: address,
                to: address,
                protocol: UDP,
                payload: b"x",
                length: 1,
                fragment: Some(fragment),
            };
            fragments.take(&packet, fragment, (Origin { time: 0, offset: id.into() }, 0));
            while fragments.expired(0).is_some() {}
        }
        assert_eq!(fragments.partial.len(), AT_ONCE);
        assert!(fragments.order.len() <= REMEMBERED);
    }

    #[test]
    fn datagrams_keep_to_their_share_of_bytes() {
        let mut fragments = Fragments::default();
        let budget = Budget::new(25_000_000);
        fragments.limit(budget);
        for id in 0..100 {
            let (from, to) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
            let fragment = Fragment { id, offset: 60_000, more: true };
            let payload = &[1; 1000];
            let fragment_of = Some(fragment);
            let packet =
                Packet { from, to, protocol: UDP, payload, length: 1000, fragment: fragment_of };
            fragments.take(&packet, fragment, (Origin { time: 5, offset: id.into() }, 0));
            while fragments.expired(5).is_some() {}
            assert!(fragments.memory <= budget.share(Part::Fragments));
        }
        assert!((10..20).contains(&fragments.partial.len()), "{}", fragments.partial.len());
        while fragments.expired(i64::MAX).is_some() {}
        assert_eq!(fragments.memory, 0);
    }
}
