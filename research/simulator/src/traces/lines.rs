//! A text, line by line.

use super::{Access, TraceError};
use std::io::BufRead;

/// Kind of a line.
pub(super) enum Line {
    /// A request.
    Request(Access),
    /// A valid line without a request.
    Other,
    /// The end of the requests.
    End,
}

/// The requests in a text.
pub(super) struct Lines<R, P> {
    text: R,
    expected: &'static str,
    parse: P,
    line: u64,
    bytes: Vec<u8>,
    ended: bool,
}

impl<R: BufRead, P: FnMut(&str, u64) -> Option<Line>> Lines<R, P> {
    /// The requests that a parser finds, given a line and its number.
    pub fn new(text: R, expected: &'static str, parse: P) -> Self {
        Self { text, expected, parse, line: 0, bytes: Vec::new(), ended: false }
    }

    fn read(&mut self) -> Result<Option<Access>, TraceError> {
        loop {
            self.bytes.clear();
            if self.text.read_until(b'\n', &mut self.bytes)? == 0 {
                return Ok(None);
            }
            self.line += 1;
            let text = String::from_utf8_lossy(&self.bytes);
            let text = text.trim_end_matches(['\n', '\r']);
            match (self.parse)(text, self.line) {
                Some(Line::Request(access)) => return Ok(Some(access)),
                Some(Line::Other) => {}
                Some(Line::End) => return Ok(None),
                None => {
                    let found = text.chars().take(80).collect();
                    let (line, expected) = (self.line, self.expected);
                    return Err(TraceError::Line { line, expected, found });
                }
            }
        }
    }
}

impl<R: BufRead, P: FnMut(&str, u64) -> Option<Line>> Iterator for Lines<R, P> {
    type Item = Result<Access, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let read = self.read().transpose();
        self.ended = !matches!(read, Some(Ok(_)));
        read
    }
}
