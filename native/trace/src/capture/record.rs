//! One RPC record as it arrives, fragment by fragment.

use super::boundary::{self, Mark, Proof};
use super::header;
use super::messages::{Extent, Origin};
use super::receiver::Receiver;

/// The most bytes gathered of a record: more than the largest transfers of servers. (Only in
/// version 4 can anything worth waiting for follow the data of a write.)
pub const GATHERED: usize = 2 << 20;

/// The shortest header of an accepted reply.
const HEADER: usize = 24;

/// How often reading a message is tried before its end is present.
const TRIES: u8 = 2;

/// A record with more to come.
#[derive(Debug)]
pub struct Record {
    origin: Origin,
    /// Bytes of the fragment still to come.
    left: u64,
    last: bool,
    gathered: Vec<u8>,
    tries: u8,
    /// Whether the message was handled, so that the rest is skipped.
    done: bool,
    /// Whether it may not be a message, so that it is held until proved.
    doubtful: bool,
}

impl Record {
    /// Returns a record whose first fragment begins.
    pub fn new(origin: Origin, mark: Mark) -> Record {
        let (left, last) = (mark.length.into(), mark.last);
        let gathered = Vec::new();
        Record { origin, left, last, gathered, tries: 0, done: false, doubtful: false }
    }

    /// Returns a record that may not be a message.
    pub fn doubtful(origin: Origin, mark: Mark) -> Record {
        Record { doubtful: true, ..Record::new(origin, mark) }
    }

    /// Whether it is held until proved.
    pub fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// The bytes gathered, from the XID on.
    pub fn gathered(&self) -> &[u8] {
        &self.gathered
    }

    /// The evidence from the record itself, as far as it is present.
    pub fn proof(&self, awaited: &dyn Fn(u32) -> bool) -> Proof {
        let overlong = self.gathered.len() as u64 + self.left > GATHERED as u64;
        match boundary::prove_message(&self.gathered, self.length(), awaited) {
            Proof::Doubtful if overlong => Proof::Refuted,
            proof => proof,
        }
    }

    /// Whether it begins like a reply, to the end of the shortest header.
    pub fn has_reply_header(&self) -> bool {
        self.gathered.len() >= HEADER && header::is_reply(&self.gathered, self.length())
    }

    /// Whether it is a reply from beginning to end.
    pub fn is_whole_reply(&self) -> bool {
        self.ended() && header::is_reply(&self.gathered, self.gathered.len())
    }

    /// The largest possible length of the message.
    fn length(&self) -> usize {
        if self.last {
            self.gathered.len() + self.left as usize
        } else {
            usize::MAX
        }
    }

    /// Treats it as a message from now on.
    pub fn prove(&mut self, to: &mut Receiver) {
        self.doubtful = false;
        if self.ended() {
            self.give(Extent::Whole, to);
        }
    }

    /// Begins the next fragment.
    pub fn fragment(&mut self, mark: Mark, to: &mut Receiver) {
        (self.left, self.last) = (mark.length.into(), mark.last);
        if self.ended() && !self.doubtful {
            self.give(Extent::Whole, to);
        }
    }

    /// The bytes of the fragment still to come.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Whether it is complete.
    pub fn ended(&self) -> bool {
        self.left == 0 && self.last
    }

    /// The bytes of memory.
    pub fn memory(&self) -> usize {
        self.gathered.capacity()
    }

    /// Takes bytes of the current fragment, at most the missing ones.
    pub fn take(&mut self, bytes: &[u8], to: &mut Receiver) {
        self.left -= bytes.len() as u64;
        if self.doubtful {
            self.gathered.extend_from_slice(bytes);
            return;
        }
        if self.done {
            return;
        }
        let first = self.gathered.is_empty();
        if first && !self.ended() && self.tried(bytes, to) {
            return;
        }
        let room = GATHERED - self.gathered.len();
        self.gathered.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            self.cut(to);
        } else if self.ended() {
            self.give(Extent::Whole, to);
        } else if !first && self.tries < TRIES {
            let gathered = std::mem::take(&mut self.gathered);
            if !self.tried(&gathered, to) {
                self.gathered = gathered;
            }
        }
    }

    /// Skips lost bytes of the current fragment, at most the missing ones.
    pub fn miss(&mut self, missing: u64, to: &mut Receiver) {
        self.left -= missing;
        self.cut(to);
    }

    /// Hands on the present part of the message, if it was not handed on: the rest is lost.
    pub fn cut(&mut self, to: &mut Receiver) {
        self.give(Extent::Cut, to);
    }

    /// Whether the present part of the message is enough to read it.
    fn tried(&mut self, bytes: &[u8], to: &mut Receiver) -> bool {
        self.tries += 1;
        self.done = to.message(self.origin, bytes, Extent::Growing);
        self.done
    }

    fn give(&mut self, extent: Extent, to: &mut Receiver) {
        if !std::mem::replace(&mut self.done, true) {
            to.message(self.origin, &std::mem::take(&mut self.gathered), extent);
        }
    }
}
