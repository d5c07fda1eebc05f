//! Requests that were measured on a drive, one outstanding at a time.

use birthmark_storage::drive::Request;
use std::io::{self, BufRead};

/// A request, and its measured times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The request.
    pub request: Request,
    /// Nanoseconds until it was done.
    pub response: u64,
    /// Nanoseconds from then until the next was sent.
    pub think: u64,
}

/// The expected form of a line.
pub(crate) const EXPECTED: &str =
    "R or W, Hit or Miss, first sector, sectors, response and think time in \
                        microseconds";

/// The longest accepted time: a day, in microseconds.
const LONGEST: f64 = 86.4e9;

/// A trace that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MeasuredError {
    /// The file.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line that is no request.
    #[error("line {line}: expected {EXPECTED}; found {found:?}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// Its beginning.
        found: String,
    },
    /// Nothing in it.
    #[error("expected at least one line: {EXPECTED}")]
    Empty,
}

/// Read a trace of DiskSim's validation suite: a request a line.
pub fn read(trace: impl BufRead) -> Result<Vec<Measured>, MeasuredError> {
    let mut requests = Vec::new();
    for (index, line) in trace.split(b'\n').enumerate() {
        let line = line?;
        let text = String::from_utf8_lossy(&line);
        let request = parse(&text).ok_or_else(|| {
            let found = text.chars().take(80).collect();
            MeasuredError::Line { line: index + 1, found }
        })?;
        requests.push(request);
    }
    if requests.is_empty() {
        return Err(MeasuredError::Empty);
    }
    Ok(requests)
}

/// A line's request.
pub(crate) fn parse(line: &str) -> Option<Measured> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [kind @ ("R" | "W"), "Hit" | "Miss", sector, sectors, response, think] = fields[..] else {
        return None;
    };
    let request = Request {
        sector: sector.parse().ok()?,
        sectors: sectors.parse().ok()?,
        write: kind == "W",
    };
    Some(Measured { request, response: time(response)?, think: time(think)? })
}

/// Microseconds in nanoseconds.
fn time(text: &str) -> Option<u64> {
    let time: f64 = text.parse().ok()?;
    (0.0..=LONGEST).contains(&time).then(|| (time * 1e3).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(trace: &str) -> String {
        read(trace.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_line_is_a_request_with_times_in_microseconds() {
        let trace = "R Hit  1975456   4  15362.00000  56074.50000\nW Hit 9 8 0.5 0\n";
        let request = |sector, sectors, write| Request { sector, sectors, write };
        let expected = [
            Measured {
                request: request(1_975_456, 4, false),
                response: 15_362_000,
                think: 56_074_500,
            },
            Measured { request: request(9, 8, true), response: 500, think: 0 },
        ];
        assert_eq!(read(trace.as_bytes()).unwrap(), expected);
    }

    #[test]
    fn other_lines_are_named_by_their_number() {
        let others = [
            "",
            "R Hit 1 2 3",
            "R Hit 1 2 3 4 5",
            "X Hit 1 2 3 4",
            "R hit 1 2 3 4",
            "R Hit -1 2 3 4",
            "R Hit 1 2.5 3 4",
            "R Hit 1 2 -3 4",
            "R Hit 1 2 3 nan",
            "R Hit 1 2 inf 4",
        ];
        for other in others {
            let error = error(&format!("R Hit 1 2 3 4\n{other}\n"));
            assert!(error.starts_with("line 2: expected R or W, Hit or Miss, first"), "{error}");
            assert!(error.ends_with(&format!("found {other:?}")), "{error}");
        }
    }

    #[test]
    fn an_empty_trace_is_none() {
        assert!(error("").starts_with("expected at least one line"));
    }
}
