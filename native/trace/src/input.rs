//! A trace's decompressed bytes, seen through a window that grows on demand.

use std::io::{self, Read};

/// The bytes requested from the reader at a time.
const CHUNK: usize = 1 << 20;

/// A stream with look-ahead. Positions count decompressed bytes from the start.
pub struct Input {
    reader: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    position: u64,
    consumed: u64,
    /// The range that is skipped, and the position after it.
    resume_offset: Option<(u64, u64)>,
    /// The number of bytes skipped there.
    passed: u64,
    /// The consumed position at which reading pauses, once.
    pause: Option<u64>,
    ended: bool,
    error: Option<io::Error>,
    idle: bool,
    reads: u64,
    /// Whether present bytes should be processed before later ones are read.
    pub live: bool,
}

impl Input {
    /// Wraps a reader of decompressed bytes. `WouldBlock` from the reader means that nothing came
    /// for a while; it is asked again.
    pub fn new(reader: Box<dyn Read + Send>) -> Input {
        Input {
            reader,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            position: 0,
            consumed: 0,
            resume_offset: None,
            passed: 0,
            pause: None,
            ended: false,
            error: None,
            idle: false,
            reads: 0,
            live: false,
        }
    }

    /// Returns a stream that begins with the bytes `before`; the reader continues from the position
    /// `offset`.
    pub fn resume(reader: Box<dyn Read + Send>, before: Vec<u8>, offset: u64) -> Input {
        let resume_offset = before.len() as u64;
        let mut input = Input::new(Box::new(io::Cursor::new(before).chain(reader)));
        input.resume_offset = Some((resume_offset, offset.max(resume_offset)));
        input.passed = offset.saturating_sub(resume_offset);
        input.consume(0);
        input
    }

    /// Behaves at a position, once, as if nothing came for a while.
    pub fn pause_at(&mut self, position: u64) {
        self.pause = Some(position.saturating_sub(self.passed));
    }

    /// The bytes present, at least `want` of them unless the stream ends before.
    pub fn peek(&mut self, want: usize) -> &[u8] {
        while self.end - self.start < want && !self.ended {
            self.fill();
        }
        &self.buffer[self.start..self.end]
    }

    /// Like [`Input::peek`] with both lengths, but a live stream waits only for the first.
    pub fn peek_live(&mut self, want: usize, beyond: usize) -> &[u8] {
        self.peek(if self.live { want } else { want + beyond })
    }

    /// Waits for `want` bytes, or the end of the stream; returns false if nothing came for a while.
    pub fn at_hand(&mut self, want: usize) -> bool {
        while self.end - self.start < want && !self.ended {
            self.fill();
            if self.idle {
                return false;
            }
        }
        true
    }

    /// Whether the last request for more found nothing for a while.
    pub fn is_idle(&self) -> bool {
        self.idle
    }

    /// The number of requests for more.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// Reads more, so that the next [`Input::peek`] shows more than the last; returns false at the
    /// end.
    pub fn more(&mut self) -> bool {
        if !self.ended {
            self.fill();
        }
        !self.ended
    }

    /// Skips the first `n` of the bytes present.
    pub fn consume(&mut self, n: usize) {
        debug_assert!(n <= self.end - self.start);
        self.start += n;
        self.position += n as u64;
        self.consumed += n as u64;
        if let Some((_, resume)) =
            self.resume_offset.take_if(|(resume_offset, _)| *resume_offset == self.position)
        {
            self.position = resume;
        }
    }

    /// The number of bytes skipped by [`Input::consume`].
    pub fn consumed(&self) -> u64 {
        self.consumed
    }

    /// Skips the zero bytes present and following ones; returns their number.
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

    /// The position of the first present byte in the stream.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The error that ended the stream early (a compressed file cut short or damaged), once.
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
