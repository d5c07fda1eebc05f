//! Any bytes, read as a trace of each format: no panic, no endless loop, every record accounted for,
//! whatever times they tell, judged by a clock or not.
#![no_main]

use birthmark_trace::decoder::Format;
use birthmark_trace::instants::AHEAD;
use birthmark_trace::trace::{Trace, TraceError};
use birthmark_trace::FORMATS;
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

/// What the clock shows: 2027-01-15, in microseconds since the epoch.
const CLOCK: i64 = 1_800_000_000_000_000;

fuzz_target!(|bytes: &[u8]| {
    for format in FORMATS {
        read(format, bytes, None);
        read(format, bytes, Some(CLOCK));
    }
});

fn read(format: &'static Format, bytes: &[u8], clock: Option<i64>) {
    let mut trace = Trace::decode(format, Box::new(Cursor::new(bytes.to_vec())));
    if let Some(clock) = clock {
        trace.judge_by(clock);
    }
    loop {
        match trace.next_chunk() {
            Ok(Some(_)) => {}
            Ok(None) | Err(TraceError::AfterClock { .. }) => break,
            Err(_) => return, // what was read until then is not joined to its end
        }
    }
    let counts = trace.counts();
    assert_eq!(counts.read.records, counts.accounted_for());
    if let (Some(clock), Some((first, last))) = (clock, counts.joined.period) {
        assert!(first >= 0 && last <= clock + AHEAD);
    }
}
