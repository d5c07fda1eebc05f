//! The lines of a recording, and errors that name them.

use std::io::{BufRead, Read};
use thiserror::Error;

/// Bytes of the longest line read: the blocks of a file of 100 GB.
const LONGEST: u64 = 1 << 26;

/// A mismatch between a recording and its format.
#[derive(Debug, Error)]
#[error("{line}: {what}")]
pub struct RecordingError {
    /// The line, from 1.
    pub line: u64,
    /// What was expected, and what was found.
    pub what: String,
}

/// The lines of a recording.
pub struct Lines<R> {
    source: R,
    /// The number of the last line read, from 1.
    pub line: u64,
    /// The last line read.
    pub text: String,
}

impl<R: BufRead> Lines<R> {
    /// None read yet.
    pub fn new(source: R) -> Lines<R> {
        Lines { source, line: 0, text: String::new() }
    }

    /// The next one, without its end.
    pub fn read(&mut self) -> Result<Option<&str>, RecordingError> {
        self.line += 1;
        self.text.clear();
        let read = self.source.by_ref().take(LONGEST).read_line(&mut self.text);
        if let Err(error) = read {
            return Err(
                self.wrong(format!("expected a line of text, which cannot be read: {error}"))
            );
        }
        if self.text.is_empty() {
            return Ok(None);
        }
        if self.text.pop() != Some('\n') {
            return Err(self.wrong("expected a whole line, but it is cut off".into()));
        }
        Ok(Some(&self.text))
    }

    /// An error about the last line read.
    pub fn unexpected(&self, expected: &str, found: &str) -> RecordingError {
        self.wrong(format!("expected {expected}, found `{found}`"))
    }

    /// An error at the last line read.
    pub fn wrong(&self, what: String) -> RecordingError {
        RecordingError { line: self.line, what }
    }
}
