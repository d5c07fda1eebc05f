//! The trace of an Auspex file server at Berkeley, 1993, and others in its format: lines of
//!
//! ```text
//! TIME TYPE ACTION FID: FILE OFF: OFFSET SIZE: BYTES HOST: CLIENT
//! ```
//!
//! The time is in seconds; the type `Attr`, `Block`, `Dir`, `Delete`, `Open` or `Close`; the action
//! `READ` or `WRITE`; the file 16 digits of base 16.

use super::{Ask, Kind};
use std::collections::HashMap;
use std::io::{self, BufRead};

/// The expected form of a line.
const EXPECTED: &str = "TIME Attr|Block|Dir|Delete|Open|Close READ|WRITE FID: HEX OFF: BYTES \
                        SIZE: BYTES HOST: NAME, not before the line before, and at most 1 GiB";

/// The latest accepted time, in seconds: 146 years.
const LATEST: f64 = 4.6e9;

/// The most bytes of a request, and the last byte of a file.
const MOST: u64 = 1 << 30;
const LAST: u64 = 1 << 43;

/// A trace that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AuspexError {
    /// The file.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line that is no request.
    #[error("line {line}: expected {EXPECTED}; found {found:?}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// Its beginning.
        found: String,
    },
}

/// The requests of a trace, in order; memory grows with the files, not with the requests.
///
/// `Open` and `Close`, which the makers of the trace inferred, are no requests. `Delete` costs as
/// much as attributes.
pub fn auspex(trace: impl BufRead) -> impl Iterator<Item = Result<Ask, AuspexError>> {
    let (mut files, mut before) = (HashMap::new(), 0);
    trace.split(b'\n').zip(1..).filter_map(move |(line, number)| {
        let line = match line {
            Ok(line) => line,
            Err(error) => return Some(Err(error.into())),
        };
        let text = String::from_utf8_lossy(&line);
        match parse(&text, &mut files).filter(|(ask, _)| ask.at >= before) {
            Some((ask, is_request)) => {
                before = ask.at;
                is_request.then_some(Ok(ask))
            }
            None => {
                let found = text.chars().take(80).collect();
                Some(Err(AuspexError::Line { line: number, found }))
            }
        }
    })
}

/// A line, and whether it is a request.
fn parse(line: &str, files: &mut HashMap<u64, u32>) -> Option<(Ask, bool)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [time, kind, action, "FID:", file, "OFF:", offset, "SIZE:", bytes, "HOST:", _] = fields[..]
    else {
        return None;
    };
    let write = match action {
        "READ" => false,
        "WRITE" => true,
        _ => return None,
    };
    let (kind, is_request) = match kind {
        "Block" if write => (Kind::Write, true),
        "Block" => (Kind::Read, true),
        "Dir" => (Kind::Directory, true),
        "Attr" | "Delete" => (Kind::Attributes, true),
        "Open" | "Close" => (Kind::Attributes, false),
        _ => return None,
    };
    let time: f64 = time.parse().ok().filter(|time| (0.0..=LATEST).contains(time))?;
    let (offset, bytes): (u64, u64) = (offset.parse().ok()?, bytes.parse().ok()?);
    if is_request && (bytes > MOST || offset > LAST) {
        return None;
    }
    let next = files.len() as u32;
    let file = *files.entry(u64::from_str_radix(file, 16).ok()?).or_insert(next);
    Some((Ask { at: (time * 1e9).round() as u64, file, kind, offset, bytes }, is_request))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(trace: &str) -> Result<Vec<Ask>, AuspexError> {
        auspex(trace.as_bytes()).collect()
    }

    #[test]
    fn a_line_is_a_request_and_those_that_were_inferred_are_none() {
        let trace = "1.5 Attr READ FID: 00ab00cd00000001 OFF: 0 SIZE: 96 HOST: 3\n\
                     1.5 Open READ FID: 00ab00cd00000002 OFF: 9000 SIZE: 0 HOST: 3\n\
                     2.25 Block WRITE FID: 00ab00cd00000002 OFF: 8192 SIZE: 808 HOST: 3\n\
                     3 Dir READ FID: 00ab00cd00000001 OFF: 0 SIZE: 512 HOST: 9\n";
        let ask = |at, file, kind, offset, bytes| Ask { at, file, kind, offset, bytes };
        let expected = [
            ask(1_500_000_000, 0, Kind::Attributes, 0, 96),
            ask(2_250_000_000, 1, Kind::Write, 8192, 808),
            ask(3_000_000_000, 0, Kind::Directory, 0, 512),
        ];
        assert_eq!(asks(trace).unwrap(), expected);
    }

    #[test]
    fn other_lines_are_named_by_their_number() {
        let good = "5 Block READ FID: 1 OFF: 0 SIZE: 10 HOST: 3";
        let others = [
            "",
            "4 Block READ FID: 1 OFF: 0 SIZE: 10 HOST: 3",
            "x Block READ FID: 1 OFF: 0 SIZE: 10 HOST: 3",
            "5 Lock READ FID: 1 OFF: 0 SIZE: 10 HOST: 3",
            "5 Block COPY FID: 1 OFF: 0 SIZE: 10 HOST: 3",
            "5 Block READ FID: z OFF: 0 SIZE: 10 HOST: 3",
            "5 Block READ FID: 1 OFF: -1 SIZE: 10 HOST: 3",
            "5 Block READ FID: 1 OFF: 0 SIZE: 1073741825 HOST: 3",
            "5 Block READ FID: 1 OFF: 0 SIZE: 10",
        ];
        for other in others {
            let error = asks(&format!("{good}\n{other}\n")).unwrap_err().to_string();
            assert!(error.starts_with("line 2: expected TIME Attr|Block"), "{error}");
            assert!(error.ends_with(&format!("found {other:?}")), "{error}");
        }
    }
}
