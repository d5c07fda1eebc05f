//! Traces of HP's workstations and servers of 1992 in HP's `srt` format: requests with arrival,
//! start and completion (Ruemmler and Wilkes, "UNIX disk access patterns", HPL-92-152).
//!
//! A header in text, which ends with a form feed, then records of 14 whole numbers of 32 bits, the
//! most significant byte first: their size in bytes, kind, seconds and microseconds of the arrival,
//! start and completion in microseconds after it, bytes, block (in sectors of the drive), device,
//! -, cylinder, flags, -, queue length.

use crate::issue::Traced;
use birthmark_storage::drive::Request;
use std::io::{self, Read};

const NUMBERS: usize = 14;
const RECORD: usize = 4 * NUMBERS;
const READS: u32 = 1;

/// A request, with its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The request.
    pub request: Request,
    /// Its arrival and completion, in nanoseconds from the trace's beginning.
    pub times: Traced,
    /// The time at which the drive got it.
    pub start: u64,
}

/// A trace that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SrtError {
    /// The file.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// No header.
    #[error("expected a header that ends with a form feed, and tells sectorsize")]
    Header,
    /// An invalid record.
    #[error("record {record}: expected {expected}")]
    Record {
        /// Its number, from 1.
        record: usize,
        /// Its expected form.
        expected: &'static str,
    },
}

/// Read a trace, in the order of arrival.
pub fn read(trace: impl Read) -> Result<Vec<Recorded>, SrtError> {
    read_sized(trace).map(|(_, records)| records)
}

/// Whether a trace begins with such a header.
pub fn has_header(first: &[u8]) -> bool {
    let end = first.iter().position(|&byte| byte == b'\x0c');
    end.is_some_and(|end| sector_bytes(&first[..end]).is_some())
}

/// The bytes of a sector, and the requests in the order of arrival.
pub fn read_sized(mut trace: impl Read) -> Result<(u32, Vec<Recorded>), SrtError> {
    let mut bytes = Vec::new();
    trace.read_to_end(&mut bytes)?;
    let end = bytes.iter().position(|&byte| byte == b'\x0c').ok_or(SrtError::Header)?;
    let sector = sector_bytes(&bytes[..end]).ok_or(SrtError::Header)?;
    let records = &bytes[end + 1..];
    let count = records.len().div_ceil(RECORD);
    let mut found: Vec<Recorded> = Vec::with_capacity(count);
    for (own, record) in records.chunks(RECORD).zip(1..) {
        let refused = |expected| SrtError::Record { record, expected };
        let recorded = parse(own, sector).map_err(refused)?;
        let earlier = found.last().is_some_and(|last| last.times.arrival > recorded.times.arrival);
        if earlier {
            return Err(refused("an arrival not before that of the record before it"));
        }
        found.push(recorded);
    }
    Ok((sector, found))
}

fn sector_bytes(header: &[u8]) -> Option<u32> {
    let text = String::from_utf8_lossy(header);
    let value = text.split("sectorsize").nth(1)?.trim_start().strip_prefix('=')?;
    value.split(',').next()?.trim().parse().ok().filter(|&bytes| bytes > 0)
}

fn parse(record: &[u8], sector_bytes: u32) -> Result<Recorded, &'static str> {
    let record: &[u8; RECORD] = record.try_into().map_err(|_| "56 bytes")?;
    let number =
        |place: usize| u32::from_be_bytes([0, 1, 2, 3].map(|byte| record[4 * place + byte]));
    let (bytes, micros) = (number(6), number(3));
    let (start, done) = (number(4), number(5));
    if number(0) as usize != RECORD {
        return Err("its size to be 56 bytes");
    }
    if bytes == 0 || bytes % sector_bytes != 0 || micros >= 1_000_000 || start > done {
        return Err("whole sectors, microseconds below a million, a start before the completion");
    }
    let arrival = (u64::from(number(2)) * 1_000_000 + u64::from(micros)) * 1_000;
    Ok(Recorded {
        request: Request {
            sector: u64::from(number(7)),
            sectors: u64::from(bytes / sector_bytes),
            write: number(11) & READS == 0,
        },
        times: Traced { arrival, completion: arrival + u64::from(done) * 1_000 },
        start: arrival + u64::from(start) * 1_000,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &[u8] = b"disks = { 0 -> { sectorsize  = 256,\n\t} };\n\x0c";

    fn record(changes: &[(usize, u32)]) -> Vec<u8> {
        let mut numbers = [56, 1, 2, 3, 100, 900, 1024, 77, 0, 0, 0, READS, 0, 1];
        for &(place, number) in changes {
            numbers[place] = number;
        }
        numbers.iter().flat_map(|number| number.to_be_bytes()).collect()
    }

    fn trace(records: &[Vec<u8>]) -> Vec<u8> {
        [HEADER.to_vec(), records.concat()].concat()
    }

    #[test]
    fn a_record_is_a_request_with_its_times() {
        let found = read(&trace(&[record(&[]), record(&[(11, 0x2a), (2, 3)])])[..]).unwrap();
        let request = Request { sector: 77, sectors: 4, write: false };
        let times = Traced { arrival: 2_000_003_000, completion: 2_000_903_000 };
        assert_eq!(found[0], Recorded { request, times, start: 2_000_103_000 });
        assert_eq!((found[1].request.write, found[1].times.arrival), (true, 3_000_003_000));
    }

    #[test]
    fn what_is_no_record_is_named_by_its_number() {
        let damaged: [&[(usize, u32)]; 5] =
            [&[(0, 55)], &[(6, 1000)], &[(6, 0)], &[(3, 1_000_000)], &[(4, 901)]];
        for changes in damaged {
            let error = read(&trace(&[record(&[]), record(changes)])[..]).unwrap_err();
            assert!(error.to_string().starts_with("record 2: expected"), "{error}");
        }
        let error = read(&trace(&[record(&[]), record(&[(2, 1)])])[..]).unwrap_err();
        assert!(error.to_string().contains("not before that of the record before"), "{error}");
        let mut short = trace(&[record(&[])]);
        short.pop();
        assert!(read(&short[..]).unwrap_err().to_string().contains("56 bytes"));
    }

    #[test]
    fn without_a_header_it_is_no_trace() {
        for trace in [&b""[..], b"sectorsize = 256,", b"\x0c", b"sectorsize = 0,\x0c"] {
            assert!(matches!(read(trace), Err(SrtError::Header)));
        }
    }
}
