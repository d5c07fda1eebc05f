//! RPC records in one direction of a TCP stream (RFC 5531 section 11), which consists of bytes and
//! of holes of known length.
//!
//! A hole within a record costs only the rest of that record, since the record's mark has the
//! position of the next one. After a hole that swallows a mark, the next message is searched for.
//!
//! Until a message has been found the stream may have another protocol. A possible message is then
//! handed on once it is proved: by its header, by its call, or by the bytes after it.

use super::boundary::{self, Mark, Proof, TELLING};
use super::messages::{Extent, Origin};
use super::opaque;
use super::receiver::Receiver;
use super::record::Record;
use super::unread::Reason;

/// The bytes searched in vain before a stream without messages is ignored.
const PATIENCE: u64 = 4 << 20;

/// The state of one direction.
#[derive(Debug, Default)]
pub struct Records {
    state: State,
    /// Bytes that are too few to continue with, and their origin.
    carried: Vec<u8>,
    carried_from: Origin,
    /// Whether a message was ever found.
    trusted: bool,
    /// Segments and bytes before the first message; and the skipped ones among them.
    unproved: (u64, u64),
    searched: u64,
    /// Whether the next record must be proved, though messages were found before.
    doubt: bool,
    tls: opaque::Search,
}

#[derive(Debug, Default)]
enum State {
    /// A record begins here.
    Boundary,
    /// Within a record.
    Inside(Record),
    /// At an unknown position.
    #[default]
    Searching,
    /// In a conversation that is not RPC.
    Ignored,
    /// In an unreadable conversation.
    Opaque(Reason),
}

impl Records {
    /// Expects a record to begin with the next byte.
    pub fn begin(&mut self) {
        *self = Records { state: State::Boundary, ..Records::default() };
    }

    /// Whether the stream has turned out not to be RPC.
    pub fn ignored(&self) -> bool {
        matches!(self.state, State::Ignored)
    }

    /// The bytes of memory.
    pub fn memory(&self) -> usize {
        let gathered = match &self.state {
            State::Inside(record) => record.memory(),
            _ => 0,
        };
        gathered + self.carried.capacity()
    }

    /// Takes the next bytes of the stream.
    pub fn bytes(&mut self, bytes: &[u8], origin: Origin, to: &mut Receiver) {
        match self.state {
            State::Ignored => return,
            State::Opaque(reason) if !begins(bytes, to) => {
                return to.counts.unread.add(reason, bytes.len() as u64);
            }
            State::Opaque(_) => self.state = State::Boundary,
            _ => {}
        }
        self.count(bytes.len() as u64, to);
        if matches!(self.state, State::Searching) && self.is_concerned(to) {
            if let Some(reason) = self.unreadable(bytes, to) {
                let carried = std::mem::take(&mut self.carried);
                self.pass_over(carried.len(), to);
                return self.close(reason, bytes.len(), to);
            }
        }
        if self.carried.is_empty() {
            return self.run(bytes, 0, (origin, origin), to);
        }
        let mut joined = std::mem::take(&mut self.carried);
        let seam = joined.len();
        joined.extend_from_slice(bytes);
        self.run(&joined, seam, (self.carried_from, origin), to);
    }

    /// Skips missing bytes.
    pub fn hole(&mut self, missing: u64, to: &mut Receiver) {
        self.use_carried(to);
        self.tls.hole(missing);
        let state = match std::mem::take(&mut self.state) {
            State::Inside(record) => self.settle(record, to),
            other => other,
        };
        match state {
            State::Inside(mut record) if (1..=record.left()).contains(&missing) => {
                record.miss(missing, to);
                self.state = after_record(record);
            }
            State::Inside(mut record) => {
                record.cut(to);
                self.lose(to);
            }
            State::Boundary => self.lose(to),
            State::Opaque(reason) => {
                to.counts.unread.add_all(reason, (0, missing));
                self.state = State::Opaque(reason);
            }
            other => self.state = other,
        }
    }

    /// Why bytes without a message are unreadable, if that can be recognized.
    fn unreadable(&mut self, bytes: &[u8], to: &Receiver) -> Option<Reason> {
        // the data of messages may be anything, records of TLS among it
        let tls = !self.trusted && self.tls.proves(bytes);
        tls.then_some(Reason::Tls).or_else(|| to.messages.other_closed(&to.flow))
    }

    /// Ends the stream: no more of a message will come.
    pub fn end(&mut self, to: &mut Receiver) {
        self.use_carried(to);
        if let State::Inside(record) = std::mem::take(&mut self.state) {
            if let State::Inside(mut record) = self.settle(record, to) {
                record.cut(to);
            }
        }
        if self.trusted || self.unproved.0 == 0 {
            return;
        }
        if let Some(reason) = to.messages.other_closed(&to.flow) {
            self.close(reason, 0, to);
        } else if to.is_rpc() && !to.is_nfs() {
            let (_, bytes) = std::mem::take(&mut self.unproved);
            to.counts.rpc_bytes += bytes;
            to.skipped(bytes);
        }
    }

    /// Handles the carried bytes, as none will follow directly.
    fn use_carried(&mut self, to: &mut Receiver) {
        let carried = std::mem::take(&mut self.carried);
        if matches!(self.state, State::Boundary) && carried.len() >= Mark::LENGTH {
            let used = self.open(&carried, self.carried_from, to);
            self.run(&carried[used..], 0, (self.carried_from, self.carried_from), to);
            let rest = std::mem::take(&mut self.carried);
            self.pass_over(rest.len(), to);
        } else {
            self.pass_over(carried.len(), to);
        }
    }

    /// Whether an unreadable conversation should have been readable.
    fn is_concerned(&self, to: &Receiver) -> bool {
        self.trusted || to.is_nfs() || to.is_rpc()
    }

    /// Counts incoming bytes.
    fn count(&mut self, bytes: u64, to: &mut Receiver) {
        if self.trusted {
            to.counts.rpc_bytes += bytes;
            return;
        }
        self.unproved = (self.unproved.0 + 1, self.unproved.1 + bytes);
        if to.is_nfs() {
            to.counts.unread.add(Reason::NoMessage, bytes);
        }
    }

    /// Uncounts the segments and bytes before the first message, and returns them.
    fn take_unproved(&mut self, to: &mut Receiver) -> (u64, u64) {
        let unproved = std::mem::take(&mut self.unproved);
        if to.is_nfs() {
            to.counts.unread.take_back(Reason::NoMessage, unproved);
        }
        unproved
    }

    /// Treats the stream as RPC, since a message was found.
    fn trust(&mut self, to: &mut Receiver) {
        if !std::mem::replace(&mut self.trusted, true) {
            to.counts.rpc_bytes += self.take_unproved(to).1;
            to.skipped(std::mem::take(&mut self.searched));
        }
    }

    /// Gives the stream up; its last bytes showed why it is unreadable.
    fn close(&mut self, reason: Reason, last: usize, to: &mut Receiver) {
        let unread = if self.trusted {
            to.counts.rpc_bytes = to.counts.rpc_bytes.saturating_sub(last as u64);
            (1, last as u64)
        } else {
            self.take_unproved(to)
        };
        to.counts.unread.add_all(reason, unread);
        to.messages.close(to.flow, reason);
        self.state = State::Opaque(reason);
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
        if self.searched > PATIENCE && !self.is_concerned(to) {
            self.state = State::Ignored;
        }
    }

    /// Processes bytes; those before the seam came from an earlier origin.
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
                State::Ignored | State::Opaque(_) => return,
            };
            let Some(used) = used else {
                self.carried.extend_from_slice(bytes);
                self.carried_from = here;
                return;
            };
            bytes = &bytes[used..];
        }
    }

    /// Begins a record once enough of it is present. The result, here and below, is the number of
    /// bytes used, or `None` if more are needed.
    fn start(&mut self, bytes: &[u8], origin: Origin, to: &mut Receiver) -> Option<usize> {
        let whole =
            Mark::read(bytes).map_or(Mark::LENGTH, |mark| mark.length as usize + Mark::LENGTH);
        (bytes.len() >= TELLING.min(whole)).then(|| self.open(bytes, origin, to))
    }

    /// Begins a record, or reads it in place if it is complete.
    fn open(&mut self, bytes: &[u8], origin: Origin, to: &mut Receiver) -> usize {
        let found = std::mem::take(&mut self.doubt);
        let doubt = found || !(self.trusted || to.is_rpc());
        let proof = match (boundary::may_begin(bytes), doubt) {
            (true, true) => boundary::prove(bytes, &|xid| to.awaits(xid)),
            (true, false) => Proof::Certain,
            (false, _) => Proof::Refuted,
        };
        let Some(mark) = Mark::read(bytes).filter(|_| proof != Proof::Refuted) else {
            return self.refute(bytes, found, to);
        };
        if proof == Proof::Doubtful {
            self.state = State::Inside(Record::doubtful(origin, mark));
            return Mark::LENGTH;
        }
        self.trust(to);
        let body = &bytes[Mark::LENGTH..];
        if let (true, Some(whole)) = (mark.last, body.get(..mark.length as usize)) {
            to.message(origin, whole, Extent::Whole);
            return Mark::LENGTH + whole.len();
        }
        self.state = State::Inside(Record::new(origin, mark));
        Mark::LENGTH
    }

    /// Continues where no record begins, though one was expected, or found by its words.
    fn refute(&mut self, bytes: &[u8], found: bool, to: &mut Receiver) -> usize {
        if let Some(reason) = opaque::reason(bytes).filter(|_| self.is_concerned(to)) {
            self.close(reason, bytes.len(), to);
            return 0;
        }
        if !found {
            self.lose(to);
            return 0;
        }
        self.state = State::Searching;
        self.pass_over(1, to);
        1
    }

    fn go_on(&mut self, bytes: &[u8], to: &mut Receiver) -> Option<usize> {
        let State::Inside(mut record) = std::mem::take(&mut self.state) else {
            return Some(0);
        };
        if record.left() > 0 {
            let used = bytes.len().min(record.left() as usize);
            record.take(&bytes[..used], to);
            self.state = if record.is_doubtful() {
                let proof = record.proof(&|xid| to.awaits(xid));
                self.judge(record, proof, to)
            } else {
                after_record(record)
            };
            return Some(used);
        }
        let ended = record.ended();
        if bytes.len() < if ended { boundary::TYPE_TELLING } else { Mark::LENGTH } {
            self.state = State::Inside(record);
            return None;
        }
        if ended {
            self.state = self.judge(record, boundary::prove_next(bytes), to);
            return Some(0);
        }
        let mark = match Mark::read(bytes) {
            Some(mark) if mark.length > 0 || mark.last => mark,
            _ => {
                if let State::Inside(mut record) = self.settle(record, to) {
                    record.cut(to);
                    self.lose(to);
                }
                return Some(0);
            }
        };
        record.fragment(mark, to);
        self.state = after_record(record);
        Some(Mark::LENGTH)
    }

    /// The state after a part of a record, which may be proved or refuted.
    fn judge(&mut self, mut record: Record, proof: Proof, to: &mut Receiver) -> State {
        match proof {
            Proof::Certain => {
                self.trust(to);
                record.prove(to);
            }
            Proof::Refuted => {
                self.pass_over(record.gathered().len() + Mark::LENGTH, to);
                return if self.ignored() { State::Ignored } else { State::Searching };
            }
            Proof::Doubtful => {}
        }
        after_record(record)
    }

    /// Decides on a record that nothing more will prove: the bytes after it are missing.
    fn settle(&mut self, record: Record, to: &mut Receiver) -> State {
        if !record.is_doubtful() {
            return State::Inside(record);
        }
        let known = to.is_rpc() || to.is_nfs() && record.has_reply_header();
        let proof = if known || record.is_whole_reply() { Proof::Certain } else { Proof::Refuted };
        self.judge(record, proof, to)
    }

    fn search(&mut self, bytes: &[u8], to: &mut Receiver) -> Option<usize> {
        if let Some(at) = boundary::find(bytes, &|xid| to.awaits(xid)) {
            self.pass_over(at, to);
            (self.state, self.doubt) = (State::Boundary, true);
            return Some(at);
        }
        let tail = bytes.len().min(TELLING - 1);
        self.pass_over(bytes.len() - tail, to);
        match self.state {
            State::Ignored => Some(bytes.len()),
            _ if tail == bytes.len() => None,
            _ => Some(bytes.len() - tail),
        }
    }
}

/// Whether a message certainly begins here, after unreadable bytes.
fn begins(bytes: &[u8], to: &Receiver) -> bool {
    boundary::prove(bytes, &|xid| to.awaits(xid)) == Proof::Certain
}

/// The state after a part of a record.
fn after_record(record: Record) -> State {
    if record.ended() && !record.is_doubtful() {
        State::Boundary
    } else {
        State::Inside(record)
    }
}
