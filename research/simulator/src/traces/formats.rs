//! The formats of lines.

use super::lines::Line;
use super::{Access, Format};
use crate::{measured, srt};

pub(super) const CSV: &str = "time,stream,rw,byte,length[,completion]: seconds, any word, R or W, \
                              two whole numbers, seconds";
pub(super) const BLKPARSE: &str =
    "blkparse's: device, processor, sequence, seconds, process, action, \
                                   RWBS and, of what was queued, SECTOR + SECTORS";
pub(super) const MSR: &str = "Timestamp,Hostname,DiskNumber,Read|Write,Offset,Size,ResponseTime, \
                              with times in 100 ns";
pub(super) const DISKSIM: &str = "five numbers: time in ms, device, first sector, sectors, flags";
pub(super) const VALIDATION: &str = measured::EXPECTED;

/// The most bytes of a request, and the last byte of a device.
const MOST: u64 = 1 << 30;
const LAST: u64 = 1 << 62;

/// The latest accepted time, in nanoseconds: 146 years.
const LATEST: f64 = (1_u64 << 62) as f64;

/// The format detected from a trace's first bytes.
pub(super) fn of(first: &[u8]) -> Option<Format> {
    if srt::has_header(first) {
        return Some(Format::Srt);
    }
    let text = String::from_utf8_lossy(first.split(|&byte| byte == b'\n').next()?);
    let line = text.trim_end();
    let looks = |line: Option<Line>| line.is_some();
    let all: [(Format, bool); 5] = [
        (Format::Csv, looks(csv(line, 1))),
        (Format::Msr, looks(msr(line, 1))),
        (Format::Validation, looks(validation(line, &mut 0))),
        (Format::Disksim, looks(disksim(line, 1))),
        (Format::Blkparse, matches!(blkparse(line, 1), Some(Line::Request(_) | Line::Other))),
    ];
    all.into_iter().find(|(_, it)| *it).map(|(format, _)| format)
}

/// `time,stream,rw,byte,length[,completion]`; the first line may be that header.
pub(super) fn csv(line: &str, number: u64) -> Option<Line> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    if number == 1 && fields.starts_with(&["time", "stream", "rw", "byte", "length"]) {
        return Some(Line::Other);
    }
    let (time, rw, byte, length, completion) = match fields[..] {
        [time, _, rw, byte, length] => (time, rw, byte, length, None),
        [time, _, rw, byte, length, completion] => (time, rw, byte, length, Some(completion)),
        _ => return None,
    };
    let at = time_of(time, 1e9)?;
    let took = match completion {
        Some(completion) => Some(time_of(completion, 1e9)?.checked_sub(at)?),
        None => None,
    };
    let write = match rw {
        "R" | "r" => false,
        "W" | "w" => true,
        _ => return None,
    };
    access(at, took, byte.parse().ok()?, length.parse().ok()?, write)
}

/// `blkparse`'s default lines. A queued request counts; the summary at the end is ignored.
pub(super) fn blkparse(line: &str, _: u64) -> Option<Line> {
    if line.starts_with("CPU") || line.is_empty() {
        return Some(Line::End);
    }
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [device, processor, sequence, time, process, action, rest @ ..] = &fields[..] else {
        return None;
    };
    let (major, minor) = device.split_once(',')?;
    for number in [major, minor, processor, sequence, process] {
        number.parse::<u64>().ok()?;
    }
    let at = time_of(time, 1e9)?;
    let [kinds, rest @ ..] = rest else {
        return Some(Line::Other);
    };
    let write = kinds.contains('W');
    if *action != "Q" || !(write || kinds.contains('R')) || kinds.starts_with('D') {
        return Some(Line::Other);
    }
    match rest {
        [sector, "+", sectors, ..] => sectors_of(at, None, sector, sectors, write),
        // A flush moves nothing.
        _ if kinds.contains('F') => Some(Line::Other),
        _ => None,
    }
}

/// Microsoft Research Cambridge's of 2007.
pub(super) fn msr(line: &str, _: u64) -> Option<Line> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [stamp, _, _, kind, offset, size, response] = fields[..] else {
        return None;
    };
    let write = match kind {
        "Read" => false,
        "Write" => true,
        _ => return None,
    };
    let ticks = |text: &str| text.parse::<u64>().ok()?.checked_mul(100);
    let (at, took) = (ticks(stamp)?, ticks(response)?);
    access(at, Some(took), offset.parse().ok()?, size.parse().ok()?, write)
}

/// DiskSim's ASCII format (manual of version 4.0, section on input traces).
pub(super) fn disksim(line: &str, _: u64) -> Option<Line> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [time, device, sector, sectors, flags] = fields[..] else {
        return None;
    };
    device.parse::<u64>().ok()?;
    let flags = match flags.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => flags.parse().ok()?,
    };
    sectors_of(time_of(time, 1e6)?, None, sector, sectors, flags & 1 == 0)
}

/// A line of the validation suite; `now` is when its client sent it.
pub(super) fn validation(line: &str, now: &mut u64) -> Option<Line> {
    let own = measured::parse(line)?;
    let at = *now;
    *now = now.checked_add(own.response + own.think).filter(|now| *now <= LATEST as u64)?;
    let request = own.request;
    let bytes = request.sectors.checked_mul(512)?;
    access(at, Some(own.response), request.sector.checked_mul(512)?, bytes, request.write)
}

/// A time in some unit, in nanoseconds.
fn time_of(text: &str, unit: f64) -> Option<u64> {
    let time = text.parse::<f64>().ok()? * unit;
    (0.0..=LATEST).contains(&time).then(|| time.round() as u64)
}

fn sectors_of(
    at: u64,
    took: Option<u64>,
    sector: &str,
    sectors: &str,
    write: bool,
) -> Option<Line> {
    let bytes = |text: &str| text.parse::<u64>().ok()?.checked_mul(512);
    access(at, took, bytes(sector)?, bytes(sectors)?, write)
}

fn access(at: u64, took: Option<u64>, byte: u64, bytes: u64, write: bool) -> Option<Line> {
    let sound = byte <= LAST && (1..=MOST).contains(&bytes);
    sound.then_some(Line::Request(Access { at, took, byte, bytes, write }))
}
