//! One RPC record while it comes in, fragment by fragment.

use super::boundary::Mark;
use super::messages::{Extent, Origin};
use super::receiver::Receiver;

/// The most bytes of a record that are gathered: the largest transfers of servers, and more. (Only
/// in version 4 does anything follow the data of a write, so that it is worth waiting for.)
pub const GATHERED: usize = 2 << 20;

/// How often a message is tried before its end is there.
const TRIES: u8 = 2;

/// A record of which more is to come.
#[derive(Debug)]
pub struct Record {
    origin: Origin,
    /// Bytes of the fragment still to come.
    left: u64,
    last: bool,
    gathered: Vec<u8>,
    tries: u8,
    /// Whether the message has been dealt with, so that the rest is passed over.
    done: bool,
}

impl Record {
    /// A record whose first fragment begins.
    pub fn new(origin: Origin, mark: Mark) -> Record {
        let (left, last) = (mark.length.into(), mark.last);
        Record { origin, left, last, gathered: Vec::new(), tries: 0, done: false }
    }

    /// Begins the next fragment.
    pub fn fragment(&mut self, mark: Mark, to: &mut Receiver) {
        (self.left, self.last) = (mark.length.into(), mark.last);
        if self.ended() {
            self.give(Extent::Whole, to);
        }
    }

    /// The bytes of the fragment still to come.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Whether nothing more is to come.
    pub fn ended(&self) -> bool {
        self.left == 0 && self.last
    }

    /// The bytes of memory held.
    pub fn memory(&self) -> usize {
        self.gathered.capacity()
    }

    /// Takes bytes of the current fragment, no more than are left of it.
    pub fn take(&mut self, bytes: &[u8], to: &mut Receiver) {
        self.left -= bytes.len() as u64;
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

    /// Passes over bytes of the current fragment that are missing, no more than are left of it.
    pub fn miss(&mut self, missing: u64, to: &mut Receiver) {
        self.left -= missing;
        self.cut(to);
    }

    /// Gives what is there of the message, if it was not given yet: the rest is lost.
    pub fn cut(&mut self, to: &mut Receiver) {
        self.give(Extent::Cut, to);
    }

    /// Whether what is there of the message is enough to read it.
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
