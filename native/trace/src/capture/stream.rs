//! One direction of a TCP conversation: segments put in order (RFC 9293 section 3.10.7.4).

use super::messages::Origin;
use super::receiver::Receiver;
use super::records::Records;

/// A gap is given up after this many segments, …
const SEGMENTS: usize = 32;

/// … this many of their bytes, …
const BYTES: usize = 4 << 20;

/// … or this many microseconds of the trace's time.
const PATIENCE: i64 = 1_000_000;

/// A gap whose bytes the receiver has acknowledged this often is given up: they arrived, and only
/// the capture lacks them. Earlier, the capture may have them a few packets late.
const ACKNOWLEDGED: u8 = 8;

/// A conversation met in its middle begins with the earliest of this many segments, since they may
/// come out of order.
const GATHERED: usize = 8;

/// A sequence number this far from the expected one belongs to another conversation.
const FAR: u64 = 32 << 20;

/// A TCP segment, possibly cut by the capture.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The sequence number of the first byte.
    pub sequence: u32,
    /// The next sequence number that its sender expects.
    pub acknowledged: Option<u32>,
    /// Whether it opens the conversation.
    pub syn: bool,
    /// Whether it breaks the conversation off.
    pub reset: bool,
    /// The captured bytes.
    pub data: &'a [u8],
    /// The bytes on the wire.
    pub length: usize,
}

/// The load of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burden {
    /// Bytes of memory.
    pub memory: usize,
    /// Whether segments are pending.
    pub waits: bool,
}

/// A segment pending earlier ones.
#[derive(Debug)]
struct Waiting {
    at: u64,
    data: Vec<u8>,
    length: usize,
    origin: Origin,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Met in its middle; the first segments are gathered.
    #[default]
    Gathering,
    /// In order up to `next`.
    Running,
}

/// The state of one direction.
#[derive(Debug, Default)]
pub struct Stream {
    /// The time of the last segment; no packet is from before 1970.
    pub heard: i64,
    records: Records,
    phase: Phase,
    /// The position of the next byte. Its lower half is the sequence number; positions continue
    /// when sequence numbers wrap.
    next: u64,
    opening: Option<u32>,
    /// The time of the last bytes in order.
    delivered: Option<i64>,
    waiting: Vec<Waiting>,
    waiting_bytes: usize,
    /// How often the bytes of the first gap were acknowledged.
    acknowledged: u8,
}

impl Stream {
    /// Its load.
    pub fn burden(&self) -> Burden {
        let waiting = self.waiting.capacity() * size_of::<Waiting>();
        let memory = self.waiting_bytes + waiting + self.records.memory();
        Burden { memory, waits: !self.waiting.is_empty() }
    }

    /// Whether the conversation has turned out not to be RPC.
    pub fn ignored(&self) -> bool {
        self.records.ignored()
    }

    /// Takes a segment.
    pub fn segment(&mut self, segment: &Segment, origin: Origin, to: &mut Receiver) {
        self.heard = self.heard.max(origin.time);
        // The data of a reset are words for people (RFC 9293 section 3.5.3); an opening with data
        // in the middle of a conversation is damage.
        let misplaced = segment.syn && segment.length > 0 && self.phase == Phase::Running;
        if segment.reset || misplaced {
            return;
        }
        let mut sequence = segment.sequence;
        if segment.syn {
            sequence = sequence.wrapping_add(1);
            self.open(sequence, to);
        }
        if segment.length == 0 || self.ignored() {
            return;
        }
        let at = self.position(sequence);
        if at.abs_diff(self.next) > FAR {
            self.end(to);
            *self = Stream { heard: self.heard, ..Stream::default() };
        }
        let at = self.position(sequence);
        if self.phase == Phase::Running && at <= self.next {
            self.deliver(at, segment.data, segment.length, origin, to);
            self.drain(to);
        } else {
            self.wait(at, segment, origin);
        }
        self.give_up(self.heard, to);
    }

    /// Takes the sequence number that the other side expects next.
    pub fn acknowledged(&mut self, sequence: u32, to: &mut Receiver) {
        let Some(first) = self.waiting.first().map(|first| first.at) else {
            return;
        };
        if self.phase == Phase::Running && self.position(sequence) >= first {
            self.acknowledged += 1;
            if self.acknowledged >= ACKNOWLEDGED {
                self.leap(to);
            }
        }
    }

    /// Gives up gaps that are too old by now.
    pub fn give_up(&mut self, now: i64, to: &mut Receiver) {
        while let Some(first) = self.waiting.first() {
            let most = if self.phase == Phase::Gathering { GATHERED - 1 } else { SEGMENTS };
            let old = now.saturating_sub(first.origin.time) > PATIENCE;
            if !old && self.waiting.len() <= most && self.waiting_bytes <= BYTES {
                return;
            }
            self.leap(to);
        }
    }

    /// The time of the first pending segment.
    pub fn waits_since(&self) -> Option<i64> {
        self.waiting.first().map(|first| first.origin.time)
    }

    /// Hands on the first pending segment, whatever is missing before it.
    pub fn go_on(&mut self, to: &mut Receiver) {
        let due = self.waiting.first().is_some_and(|first| first.at <= self.next);
        if !due || self.phase == Phase::Gathering {
            self.pass_gap(to);
        }
        self.take_first(to);
    }

    /// Hands on the rest.
    pub fn end(&mut self, to: &mut Receiver) {
        while !self.waiting.is_empty() {
            self.go_on(to);
        }
        self.records.end(to);
    }

    /// Opens the conversation before the byte with this sequence number, unless it is open there
    /// already: openings are resent, and may come late.
    fn open(&mut self, sequence: u32, to: &mut Receiver) {
        if self.opening == Some(sequence) {
            return;
        }
        let first = self.waiting.first().map(|first| first.at);
        let before = self.position(sequence);
        let late = self.phase == Phase::Gathering
            && first.is_some_and(|first| before <= first && first - before <= FAR);
        if !late {
            self.end(to);
        }
        self.next = if late { before } else { position(sequence) };
        to.messages.open(&to.flow);
        self.records.begin();
        self.opening = Some(sequence);
        self.phase = Phase::Running;
        self.drain(to);
    }

    /// The position of a sequence number that is nearest to the next byte.
    fn position(&mut self, sequence: u32) -> u64 {
        if self.phase == Phase::Gathering && self.waiting.is_empty() {
            self.next = position(sequence);
        }
        let ahead = sequence.wrapping_sub(self.next as u32) as i32;
        self.next.wrapping_add_signed(ahead.into())
    }

    /// Takes bytes, the first of which is due or was seen before.
    fn deliver(&mut self, at: u64, data: &[u8], length: usize, origin: Origin, to: &mut Receiver) {
        let seen = self.next - at;
        let Some(fresh) = (length as u64).checked_sub(seen).filter(|fresh| *fresh > 0) else {
            return;
        };
        let data = data.get(seen as usize..).unwrap_or_default();
        self.next += fresh;
        self.delivered = Some(origin.time);
        if !data.is_empty() {
            self.records.bytes(data, origin, to);
        }
        let missing = fresh - data.len() as u64;
        if missing > 0 {
            to.counts.missing_bytes += missing;
            self.records.hole(missing, to);
        }
    }

    /// Takes the segments that have become due.
    fn drain(&mut self, to: &mut Receiver) {
        self.acknowledged = 0;
        while self.waiting.first().is_some_and(|first| first.at <= self.next) {
            self.take_first(to);
        }
    }

    /// Takes the first pending segment, which is due.
    fn take_first(&mut self, to: &mut Receiver) {
        if self.waiting.is_empty() {
            return;
        }
        let first = self.waiting.remove(0);
        self.waiting_bytes -= first.data.len();
        self.deliver(first.at, &first.data, first.length, first.origin, to);
    }

    /// Holds a segment until earlier ones have come.
    fn wait(&mut self, at: u64, segment: &Segment, origin: Origin) {
        let index = self.waiting.partition_point(|other| other.at < at);
        if let Some(same) = self.waiting.get_mut(index).filter(|other| other.at == at) {
            if same.length >= segment.length && same.data.len() >= segment.data.len() {
                return;
            }
        }
        let data = segment.data.to_vec();
        self.waiting_bytes += data.len();
        self.waiting.insert(index, Waiting { at, data, length: segment.length, origin });
    }

    /// Skips the first gap, or begins a conversation met in its middle.
    fn leap(&mut self, to: &mut Receiver) {
        self.pass_gap(to);
        self.drain(to);
    }

    /// Expects the first pending segment next.
    fn pass_gap(&mut self, to: &mut Receiver) {
        let Some(first) = self.waiting.first() else {
            return;
        };
        let (at, behind) = (first.at, first.origin.time);
        if std::mem::replace(&mut self.phase, Phase::Running) == Phase::Running {
            let missing = at - self.next;
            to.hole((self.delivered.unwrap_or(behind), behind), missing);
            self.next = at;
            self.records.hole(missing, to);
        }
        self.next = at;
    }
}

/// The first position for a sequence number, with room for earlier positions.
fn position(sequence: u32) -> u64 {
    (1 << 32) + u64::from(sequence)
}
