//! Lines handed on as messages come, for output that is live.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes of lines that trigger handing them on, besides waiting for input.
const MOST: usize = 1 << 20;

/// Takes lines.
pub type Taker = Box<dyn FnMut(Vec<u8>) + Send>;

struct Lines {
    text: Vec<u8>,
    taker: Taker,
}

/// The destination of lines, shared by decoder and reader.
#[derive(Clone)]
pub struct Log(Arc<Mutex<Lines>>);

impl Log {
    /// A log whose lines go to `taker`.
    pub fn new(taker: Taker) -> Log {
        Log(Arc::new(Mutex::new(Lines { text: Vec::new(), taker })))
    }

    /// Adds what `write` writes.
    pub fn add(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        write(&mut lines.text);
        if lines.text.len() >= MOST {
            lines.give();
        }
    }

    /// Hands on all lines.
    pub fn flush(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).give();
    }
}

impl Lines {
    fn give(&mut self) {
        if !self.text.is_empty() {
            (self.taker)(std::mem::take(&mut self.text));
        }
    }
}

/// A reader that hands on the lines read so far before it waits for more.
pub struct Flushing<R> {
    /// What is read.
    pub reader: R,
    /// The log of the lines.
    pub log: Log,
}

impl<R: Read> Read for Flushing<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.log.flush();
        self.reader.read(out)
    }
}
