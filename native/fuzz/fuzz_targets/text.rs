//! Any bytes, read as nfsdump text: no panic, no endless loop, every record accounted for, whatever
//! times they tell, and every line that was read is written again as it was, up to the order of its
//! words.
#![no_main]

use birthmark_trace::instants::AHEAD;
use birthmark_trace::text::{self, write::TextWriter};
use birthmark_trace::trace::{Trace, TraceError};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::io::Cursor;

/// What the clock shows that times are judged by: 2027-01-15, in microseconds since the epoch.
const CLOCK: i64 = 1_800_000_000_000_000;

type Lines<'a> = BTreeMap<Vec<&'a [u8]>, i64>;

fuzz_target!(|bytes: &[u8]| {
    judged(bytes);
    let once = rewritten(bytes);
    let mut left = lines(bytes);
    for (line, count) in lines(&once) {
        let known = left.get_mut(&line).map_or(0, std::mem::take);
        assert!(count <= known, "{}", line.join(&b' ').escape_ascii());
    }
    assert_eq!(lines(&rewritten(&once)), lines(&once));
});

/// Reads the bytes as a trace whose times are judged.
fn judged(bytes: &[u8]) {
    let mut trace = Trace::decode(&text::FORMAT, Box::new(Cursor::new(bytes.to_vec())));
    trace.judge_by(CLOCK);
    loop {
        match trace.next_chunk() {
            Ok(Some(_)) => {}
            Ok(None) | Err(TraceError::AfterClock { .. }) => break,
            Err(error) => panic!("text is never refused: {error}"),
        }
    }
    let counts = trace.counts();
    assert_eq!(counts.read.records, counts.accounted_for());
    let (first, last) = counts.joined.period.unwrap_or_default();
    assert!(first >= 0 && last <= CLOCK + AHEAD);
}

/// What is read of the bytes, as text.
fn rewritten(bytes: &[u8]) -> Vec<u8> {
    let mut trace = Trace::decode(&text::FORMAT, Box::new(Cursor::new(bytes.to_vec())));
    let (mut writer, mut text, mut read) = (TextWriter::default(), Vec::new(), 0);
    while let Some(chunk) = trace.next_chunk().expect("text is never refused") {
        for messages in &chunk.messages {
            text.extend(writer.messages(messages).expect("what was decoded can be written"));
            read += messages.num_rows();
        }
        for batch in &chunk.operations {
            text.extend(writer.write(batch).expect("likewise"));
        }
    }
    text.extend(writer.finish());
    let counts = trace.counts();
    assert_eq!(counts.read.records, counts.accounted_for());
    let rows = counts.joined.procedures.iter();
    read += rows.map(|tally| (2 * tally.operations - tally.unanswered) as usize).sum::<usize>();
    assert_eq!(text.iter().filter(|byte| **byte == b'\n').count(), read);
    text
}

fn lines(bytes: &[u8]) -> Lines<'_> {
    let mut lines = Lines::new();
    for line in bytes.split(|byte| matches!(byte, b'\n' | 0)).filter(|line| !line.is_empty()) {
        let mut words: Vec<_> = line.split(|byte| *byte == b' ').collect();
        words.sort();
        *lines.entry(words).or_default() += 1;
    }
    lines
}
