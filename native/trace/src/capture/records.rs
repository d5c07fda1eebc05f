//! RPC records in one direction of a TCP stream (RFC 5531 section 11), which is seen as bytes
//! and holes of known length.
//!
//! A hole within a record costs that record's rest and nothing else, since the record's mark
//! tells where the next one begins. After a hole that swallows a mark, the next message is
//! searched for.

use super::boundary::{self, Mark, TELLING};
use super::messages::{Extent, Origin};
use super::receiver::Receiver;
use super::record::Record;

/// The bytes searched in vain before a stream that never held a message is left alone.
const PATIENCE: u64 = 4 << 20;

/// The state of one direction.
#[derive(Debug, Default)]
pub struct Records {
    state: State,
    /// Bytes that are too few to go on with, and where they came from.
    carried: Vec<u8>,
    carried_from: Origin,
    /// Whether a message was ever found.
    trusted: bool,
    searched: u64,
}

#[derive(Debug, Default)]
enum State {
    /// A record begins here.
    Boundary,
    /// Within a record.
    Inside(Record),
    /// Somewhere.
    #[default]
    Searching,
    /// In a conversation that is not RPC's.
    Ignored,
}

impl Records {
    /// Expects a record to begin with the next byte.
    pub fn begin(&mut self) {
        *self = Records { state: State::Boundary, ..Records::default() };
    }

    /// Whether the stream has turned out not to be RPC's.
    pub fn ignored(&self) -> bool {
        matches!(self.state, State::Ignored)
    }

    /// The bytes of memory held.
    pub fn memory(&self) -> usize {
        let gathered = match &self.state {
            State::Inside(record) => record.memory(),
            _ => 0,
        };
        gathered + self.carried.capacity()
    }

    /// Takes the next bytes of the stream.
    pub fn bytes(&mut self, bytes: &[u8], origin: Origin, to: &mut Receiver) {
        if self.carried.is_empty() {
            return self.run(bytes, 0, (origin, origin), to);
        }
        let mut joined = std::mem::take(&mut self.carried);
        let seam = joined.len();
        joined.extend_from_slice(bytes);
        self.run(&joined, seam, (self.carried_from, origin), to);
    }

    /// Passes over bytes that are missing.
    pub fn hole(&mut self, missing: u64, to: &mut Receiver) {
        self.use_carried(to);
        match std::mem::take(&mut self.state) {
            State::Inside(mut record) if (1..=record.left()).contains(&missing) => {
                record.miss(missing, to);
                self.state = behind(record);
            }
            State::Inside(mut record) => {
                record.cut(to);
                self.lose(to);
            }
            State::Boundary => self.lose(to),
            other => self.state = other,
        }
    }

    /// Ends the stream: what is there of a message is all there is.
    pub fn end(&mut self, to: &mut Receiver) {
        self.use_carried(to);
        if let State::Inside(mut record) = std::mem::take(&mut self.state) {
            record.cut(to);
        }
    }

    /// Makes do with the carried bytes, since no more are to come right behind them.
    fn use_carried(&mut self, to: &mut Receiver) {
        let carried = std::mem::take(&mut self.carried);
        if matches!(self.state, State::Boundary) && carried.len() >= Mark::LENGTH {
            let used = self.open(&carried, self.carried_from, to);
            self.run(&carried[used..], 0, (self.carried_from, self.carried_from), to);
            self.carried.clear();
        } else if matches!(self.state, State::Searching) {
            self.pass_over(carried.len(), to);
        }
    }

    fn lose(&mut self, to: &mut Receiver) {
        if self.trusted {
            to.lost();
        }
        self.state = State::Searching;
    }

    fn pass_over(&mut self, bytes: usize, to: &mut Receiver) {
        if self.trusted {
            to.skipped(bytes as u64);
            return;
        }
        self.searched += bytes as u64;
        if self.searched > PATIENCE {
            self.state = State::Ignored;
        }
    }

    /// Works through bytes of which those before the seam came from an earlier origin.
    fn run(
        &mut self,
        mut bytes: &[u8],
        seam: usize,
        (earlier, origin): (Origin, Origin),
        to: &mut Receiver,
    ) {
        let end = bytes.len();
        while !bytes.is_empty() {
            let here = if end - bytes.len() < seam { earlier } else { origin };
            let used = match &mut self.state {
                State::Boundary => self.start(bytes, here, to),
                State::Searching => self.search(bytes, to),
                State::Inside(_) => self.go_on(bytes, to),
                State::Ignored => return,
            };
            let Some(used) = used else {
                self.carried.extend_from_slice(bytes);
                self.carried_from = here;
                return;
            };
            bytes = &bytes[used..];
        }
    }

    /// Begins a record once enough of it is there to tell. The answer, here and below, is how
    /// many bytes were used, or `None` if more are needed.
    fn start(&mut self, bytes: &[u8], origin: Origin, to: &mut Receiver) -> Option<usize> {
        let whole =
            Mark::read(bytes).map_or(Mark::LENGTH, |mark| mark.length as usize + Mark::LENGTH);
        (bytes.len() >= TELLING.min(whole)).then(|| self.open(bytes, origin, to))
    }

    /// Begins a record, or reads it in place if it is all there.
    fn open(&mut self, bytes: &[u8], origin: Origin, to: &mut Receiver) -> usize {
        let mark = match Mark::read(bytes) {
            Some(mark) if boundary::may_begin(bytes) => mark,
            _ => {
                self.lose(to);
                return 0;
            }
        };
        self.trusted = true;
        let body = &bytes[Mark::LENGTH..];
        if let (true, Some(whole)) = (mark.last, body.get(..mark.length as usize)) {
            to.message(origin, whole, Extent::Whole);
            return Mark::LENGTH + whole.len();
        }
        self.state = State::Inside(Record::new(origin, mark));
        Mark::LENGTH
    }

    fn go_on(&mut self, bytes: &[u8], to: &mut Receiver) -> Option<usize> {
        let State::Inside(mut record) = std::mem::take(&mut self.state) else {
            return Some(0);
        };
        if record.left() > 0 {
            let used = bytes.len().min(record.left() as usize);
            record.take(&bytes[..used], to);
            self.state = behind(record);
            return Some(used);
        }
        if bytes.len() < Mark::LENGTH {
            self.state = State::Inside(record);
            return None;
        }
        let mark = match Mark::read(bytes) {
            Some(mark) if mark.length > 0 || mark.last => mark,
            _ => {
                record.cut(to);
                self.lose(to);
                return Some(0);
            }
        };
        record.fragment(mark, to);
        self.state = behind(record);
        Some(Mark::LENGTH)
    }

    fn search(&mut self, bytes: &[u8], to: &mut Receiver) -> Option<usize> {
        if let Some(at) = boundary::find(bytes, &|xid| to.awaits(xid)) {
            self.pass_over(at, to);
            self.state = State::Boundary;
            return Some(at);
        }
        let kept = bytes.len().min(TELLING - 1);
        self.pass_over(bytes.len() - kept, to);
        match self.state {
            State::Ignored => Some(bytes.len()),
            _ if kept == bytes.len() => None,
            _ => Some(bytes.len() - kept),
        }
    }
}

/// The state behind what was taken of a record.
fn behind(record: Record) -> State {
    if record.ended() {
        State::Boundary
    } else {
        State::Inside(record)
    }
}
