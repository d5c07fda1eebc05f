//! How a file begins: by the time of its first record it is known, and put in order.

use crate::capture::file::{File as Capture, SideOutputs};
use crate::capture::unread::Unread;
use crate::capture::FORMAT as CAPTURE;
use crate::input::Input;
use crate::quarantine::Quarantine;
use birthmark_source::decompress;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A file's first record stands within so many bytes.
const WITHIN: u64 = 1 << 20;

/// How a file begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The time of the first record, in microseconds since the epoch.
    pub began: i64,
    /// How many bytes, decompressed, lie before that record.
    pub length: u64,
}

impl Head {
    /// Reads it; `None` if the first record is not there yet, or is none that can be read.
    pub fn read(path: &Path) -> io::Result<Option<Head>> {
        let (_, reader) = decompress(Box::new(File::open(path)?))?;
        let mut input = Input::new(Box::new(reader.take(WITHIN)));
        let first = input.peek(CAPTURE.first);
        Ok(if (CAPTURE.begins)(first) { capture(&mut input) } else { text(&mut input) })
    }
}

fn capture(input: &mut Input) -> Option<Head> {
    let mut file = Capture::open(input).ok()?;
    let (quarantine, unread) = (&mut Quarantine::default(), &mut Unread::default());
    let frame = file.next(input, &mut SideOutputs { quarantine, unread })?;
    Some(Head { began: frame.time, length: input.position() })
}

/// The first line that begins with a time in seconds, with a fraction.
fn text(input: &mut Input) -> Option<Head> {
    let bytes = input.peek(WITHIN as usize);
    let whole = &bytes[..bytes.iter().rposition(|byte| *byte == b'\n')?];
    let began = whole.split(|byte| *byte == b'\n').find_map(time)?;
    Some(Head { began, length: 0 })
}

fn time(line: &[u8]) -> Option<i64> {
    let stamp = std::str::from_utf8(line.split(|byte| *byte == b' ').next()?).ok()?;
    let (seconds, fraction) = stamp.split_once('.')?;
    let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let seconds: i64 = seconds.parse().ok()?;
    seconds.checked_mul(1_000_000)?.checked_add(micros.parse().ok()?)
}
