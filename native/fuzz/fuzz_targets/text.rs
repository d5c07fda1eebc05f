//! Any bytes, read as nfsdump text: no panic, no endless loop, every record accounted for, and
//! every line that was read is written again as it was, up to the order of its words.
#![no_main]

use birthmark_native::text::write::TextWriter;
use birthmark_native::trace::{Format, Trace};
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::io::Cursor;

type Lines<'a> = BTreeMap<Vec<&'a [u8]>, i64>;

fuzz_target!(|bytes: &[u8]| {
    let once = rewritten(bytes);
    let mut left = lines(bytes);
    for (line, count) in lines(&once) {
        let known = left.get_mut(&line).map_or(0, |left| std::mem::take(left));
        assert!(count <= known, "{}", line.join(&b' ').escape_ascii());
    }
    assert_eq!(lines(&rewritten(&once)), lines(&once));
});

/// What is read of the bytes, as text.
fn rewritten(bytes: &[u8]) -> Vec<u8> {
    let mut trace = Trace::decode(Format::Text, Box::new(Cursor::new(bytes.to_vec())));
    let (mut writer, mut text, mut read) = (TextWriter::default(), Vec::new(), 0);
    loop {
        let batch = trace.next_batch().expect("text is never refused");
        drop(trace.take_damaged());
        let messages = trace.take_messages().expect("messages fit their table");
        text.extend(writer.messages(&messages).expect("what was decoded can be written"));
        read += messages.num_rows();
        match batch {
            Some(batch) => text.extend(writer.write(&batch).expect("likewise")),
            None => break,
        }
    }
    text.extend(writer.finish());
    let counts = trace.counts();
    assert_eq!(counts.records, counts.accounted_for());
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
