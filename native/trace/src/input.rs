//! A trace's decompressed bytes, seen through a window that grows as the decoder asks.

use std::io::{self, Read};

/// How much is asked of the reader at a time.
const CHUNK: usize = 1 << 20;

/// A stream with look-ahead. Positions count decompressed bytes from the start.
pub struct Input {
    reader: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    position: u64,
    ended: bool,
    error: Option<io::Error>,
    /// Whether what is there should be read before what comes after it.
    pub live: bool,
}

impl Input {
    /// Wraps a reader of decompressed bytes.
    pub fn new(reader: Box<dyn Read + Send>) -> Input {
        Input {
            reader,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            position: 0,
            ended: false,
            error: None,
            live: false,
        }
    }

    /// The bytes at hand, at least `want` of them unless the stream ends before.
    pub fn peek(&mut self, want: usize) -> &[u8] {
        while self.end - self.start < want && !self.ended {
            self.fill();
        }
        &self.buffer[self.start..self.end]
    }

    /// As [`Input::peek`] of both, but if the stream is live, only the first is waited for.
    pub fn glimpse(&mut self, want: usize, beyond: usize) -> &[u8] {
        self.peek(if self.live { want } else { want + beyond })
    }

    /// Reads more, so that the next [`Input::peek`] shows more than the last; false at the end.
    pub fn more(&mut self) -> bool {
        if !self.ended {
            self.fill();
        }
        !self.ended
    }

    /// Passes over the first `n` of the bytes at hand.
    pub fn consume(&mut self, n: usize) {
        debug_assert!(n <= self.end - self.start);
        self.start += n;
        self.position += n as u64;
    }

    /// Passes over the zero bytes at hand and what follows them; returns how many there were.
    pub fn skip_zeros(&mut self) -> u64 {
        let start = self.position;
        loop {
            let window = self.peek(1);
            let zeros = window.iter().position(|byte| *byte != 0).unwrap_or(window.len());
            if zeros == 0 {
                return self.position - start;
            }
            self.consume(zeros);
        }
    }

    /// Where the first of the bytes at hand stands in the stream.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// What ended the stream early (a compressed file cut short or damaged), once.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }

    fn fill(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() < self.end + CHUNK {
            self.buffer.resize(self.end + CHUNK, 0);
        }
        match self.reader.read(&mut self.buffer[self.end..]) {
            Ok(0) => self.ended = true,
            Ok(n) => self.end += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                self.ended = true;
                self.error = Some(error);
            }
        }
    }
}
