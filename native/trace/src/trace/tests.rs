//! Times at the edges of their types: the seeds of the fuzzers, read with a clock and without.

use super::*;
use crate::instants::AHEAD;
use std::fs;
use std::io::Cursor;

/// 2027-01-15, in microseconds since the epoch.
const CLOCK: i64 = 1_800_000_000_000_000;

/// The seeds of a fuzzer, by their names.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let entries = fs::read_dir(place).unwrap().map(Result::unwrap);
    entries
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect()
}

/// Reads bytes to their end; what was counted, and whether most was later than the clock.
fn read(format: Format, bytes: &[u8], clock: Option<i64>) -> Option<(TraceCounts, bool)> {
    let mut trace = Trace::decode(format, Box::new(Cursor::new(bytes.to_vec())));
    if let Some(clock) = clock {
        trace.judge_by(clock);
    }
    loop {
        match trace.next_batch() {
            Ok(Some(_)) => {}
            Ok(None) => return Some((trace.counts(), false)),
            Err(TraceError::AfterClock { .. }) => return Some((trace.counts(), true)),
            Err(_) => return None,
        }
    }
}

#[test]
fn every_record_of_every_seed_is_accounted_for_with_a_clock_and_without() {
    for (target, format) in [("text", Format::Text), ("capture", Format::Capture)] {
        for (name, bytes) in seeds(target) {
            for clock in [None, Some(CLOCK), Some(0), Some(i64::MAX), Some(i64::MIN)] {
                let Some((counts, late)) = read(format, &bytes, clock) else {
                    continue;
                };
                assert_eq!(counts.records, counts.accounted_for(), "{name}");
                let latest = clock.map_or(i64::MAX, |clock| clock.saturating_add(AHEAD));
                let (first, last) = counts.joined.period.unwrap_or((0, i64::MIN));
                assert!(first >= 0 && last <= latest, "{name}: {first} to {last}");
                let expected = clock == Some(CLOCK) && name.contains("all-late");
                assert!(late || !expected, "{name}");
            }
        }
    }
}

#[test]
fn one_wrong_time_costs_its_record_and_no_other() {
    for edge in [0_u64, 1, 2_147_483_647, 2_147_483_648, 4_294_967_295] {
        for (format, place) in [
            (Format::Text, format!("text/time-{edge}")),
            (Format::Capture, format!("capture/time-{edge}.pcap")),
        ] {
            let (target, name) = place.split_once('/').unwrap();
            let Some((_, bytes)) = seeds(target).into_iter().find(|(each, _)| each == name) else {
                continue;
            };
            let (counts, _) = read(format, &bytes, Some(CLOCK)).unwrap();
            let wrong = if format == Format::Text { 2 } else { 1 }; // a call and its reply, a call
            assert_eq!(counts.damaged.values().sum::<u64>(), wrong, "{place}");
            assert_eq!(counts.joined.procedures.iter().map(|tally| tally.calls).sum::<u64>(), 24);
        }
    }
}
