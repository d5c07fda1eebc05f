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
    consumed: u64,
    /// Where bytes are passed over, and the position behind them.
    seam: Option<(u64, u64)>,
    /// How many bytes are passed over there.
    passed: u64,
    /// Before how many bytes were consumed nothing more is read, once.
    pause: Option<u64>,
    ended: bool,
    error: Option<io::Error>,
    idle: bool,
    reads: u64,
    /// Whether what is there should be read before what comes after it.
    pub live: bool,
}

impl Input {
    /// Wraps a reader of decompressed bytes. One that answers `WouldBlock` says that nothing has
    /// come for a while, and is asked again.
    pub fn new(reader: Box<dyn Read + Send>) -> Input {
        Input {
            reader,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            position: 0,
            consumed: 0,
            seam: None,
            passed: 0,
            pause: None,
            ended: false,
            error: None,
            idle: false,
            reads: 0,
            live: false,
        }
    }

    /// A stream that begins with the bytes `before`, of which the reader has those from the
    /// position `offset` on.
    pub fn behind(reader: Box<dyn Read + Send>, before: Vec<u8>, offset: u64) -> Input {
        let seam = before.len() as u64;
        let mut input = Input::new(Box::new(io::Cursor::new(before).chain(reader)));
        input.seam = Some((seam, offset.max(seam)));
        input.passed = offset.saturating_sub(seam);
        input.consume(0);
        input
    }

    /// Behaves at a position, once, as if nothing came for a while.
    pub fn pause_at(&mut self, position: u64) {
        self.pause = Some(position.saturating_sub(self.passed));
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

    /// Waits for `want` bytes, or the end of the stream; false if nothing came for a while.
    pub fn at_hand(&mut self, want: usize) -> bool {
        while self.end - self.start < want && !self.ended {
            self.fill();
            if self.idle {
                return false;
            }
        }
        true
    }

    /// Whether nothing had come for a while when more was last asked for.
    pub fn is_idle(&self) -> bool {
        self.idle
    }

    /// How often more was asked for.
    pub fn reads(&self) -> u64 {
        self.reads
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
        self.consumed += n as u64;
        if let Some((_, behind)) = self.seam.take_if(|(seam, _)| *seam == self.position) {
            self.position = behind;
        }
    }

    /// How many bytes were passed over by [`Input::consume`].
    pub fn consumed(&self) -> u64 {
        self.consumed
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
        let at_hand = self.end - self.start;
        let room =
            self.pause.map_or(u64::MAX, |at| at.saturating_sub(self.consumed + at_hand as u64));
        self.idle = room == 0;
        if self.idle {
            self.pause = None;
            return;
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.buffer.len() < self.end + CHUNK {
            self.buffer.resize(self.end + CHUNK, 0);
        }
        let most =
            self.buffer.len().min(self.end.saturating_add(room.min(usize::MAX as u64) as usize));
        self.reads += 1;
        match self.reader.read(&mut self.buffer[self.end..most]) {
            Ok(0) => self.ended = true,
            Ok(n) => self.end += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.idle = true,
            Err(error) => {
                self.ended = true;
                self.error = Some(error);
            }
        }
    }
}
