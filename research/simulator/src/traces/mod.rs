//! Traces of block devices, read one request after the other.
//!
//! | format | where it comes from |
//! | --- | --- |
//! | [`Format::Csv`] | `time,stream,rw,byte,length[,completion]`, times in seconds |
//! | [`Format::Blkparse`] | Linux: `blkparse`'s text, queued requests (`Q`) |
//! | [`Format::Msr`] | Microsoft Research, Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, times in 100 ns |
//! | [`Format::Disksim`] | DiskSim's ASCII: time in ms, device, block, size, flags (bit 0: read) |
//! | [`Format::Validation`] | DiskSim's validation suite: see [`crate::measured`] |
//! | [`Format::Srt`] | HP's of 1992: see [`crate::srt`], the only one that is read as a whole |

mod formats;
mod lines;
#[cfg(test)]
mod tests;

use crate::srt::{self, SrtError};
use lines::Lines;
use serde::Deserialize;
use std::io::{self, BufRead, Cursor, Read};

/// A request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Arrival in nanoseconds since the first one; 0 for an earlier one behind it in the trace.
    pub at: u64,
    /// Duration in nanoseconds, if recorded.
    pub took: Option<u64>,
    /// Its first byte.
    pub byte: u64,
    /// Number of bytes, at least one.
    pub bytes: u64,
    /// Whether it writes.
    pub write: bool,
}

/// Format of a trace.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Format {
    Csv,
    Blkparse,
    Msr,
    Disksim,
    Validation,
    Srt,
}

/// A trace that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line that is no request.
    #[error("line {line}: expected {expected}; found {found:?}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// Its expected form.
        expected: &'static str,
        /// Its beginning.
        found: String,
    },
    /// HP's.
    #[error(transparent)]
    Srt(#[from] SrtError),
    /// An empty trace.
    #[error("expected requests; the trace is empty")]
    Empty,
    /// An unknown format.
    #[error(
        "expected a trace: the first line is none of csv, blkparse, msr, disksim or validation, and \
         there is no header of srt; name the format"
    )]
    Unknown,
}

/// Requests, or the error that ends them.
pub type Accesses = Box<dyn Iterator<Item = Result<Access, TraceError>> + Send>;

/// Number of first bytes for detecting a format: HP's headers have 2 to 3 thousand.
const LOOKED_AT: u64 = 1 << 16;

/// The requests of a trace; the format is detected if none is named.
pub fn read(
    mut trace: impl BufRead + Send + 'static,
    format: Option<Format>,
) -> Result<Accesses, TraceError> {
    let mut first = Vec::new();
    trace.by_ref().take(LOOKED_AT).read_to_end(&mut first)?;
    if first.is_empty() {
        return Err(TraceError::Empty);
    }
    let format = match format {
        Some(format) => format,
        None => formats::of(&first).ok_or(TraceError::Unknown)?,
    };
    let trace = Cursor::new(first).chain(trace);
    let all: Accesses = match format {
        Format::Csv => Box::new(Lines::new(trace, formats::CSV, formats::csv)),
        Format::Blkparse => Box::new(Lines::new(trace, formats::BLKPARSE, formats::blkparse)),
        Format::Msr => Box::new(Lines::new(trace, formats::MSR, formats::msr)),
        Format::Disksim => Box::new(Lines::new(trace, formats::DISKSIM, formats::disksim)),
        Format::Validation => Box::new(Lines::new(trace, formats::VALIDATION, {
            let mut now = 0;
            move |line, _| formats::validation(line, &mut now)
        })),
        Format::Srt => {
            let (sector, records) = srt::read_sized(trace)?;
            Box::new(records.into_iter().map(move |own| {
                let (request, times) = (own.request, own.times);
                Ok(Access {
                    at: times.arrival,
                    took: Some(times.completion - times.arrival),
                    byte: request.sector * u64::from(sector),
                    bytes: request.sectors * u64::from(sector),
                    write: request.write,
                })
            }))
        }
    };
    let mut first = None;
    Ok(Box::new(all.map(move |access| {
        let access = access?;
        let at = access.at.saturating_sub(*first.get_or_insert(access.at));
        Ok(Access { at, ..access })
    })))
}
