//! Any bytes, anonymized as nfsdump text: no panic, no endless loop, every line accounted for, what
//! is written can be read, and a word in capitals, as the mapping makes none, is never written.
#![no_main]

use birthmark_tables::anonymize::text::Rewriter;
use birthmark_tables::anonymize::{Mapping, Settings};
use birthmark_trace::input::Input;
use birthmark_trace::{text, trace::Trace};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let settings = Settings { prefix: true, handles: true, ..Settings::default() };
    let Ok(mut mapping) = Mapping::new(settings, Some(7)) else {
        return;
    };
    let mut input = Input::new(Box::new(Cursor::new(bytes.to_vec())));
    let (mut rewriter, mut out) = (Rewriter::default(), Vec::new());
    while rewriter.step(&mut input, &mut mapping, &mut out).expect("a seed needs no system") {}
    rewriter.end(&mut input);
    let counts = rewriter.counts;
    let damaged: u64 = counts.damaged.values().sum();
    assert_eq!(counts.lines, counts.written + counts.comments + damaged);
    assert!(!out.windows(6).any(|word| word == b"SECRET"));
    let mut trace = Trace::decode(&text::FORMAT, Box::new(Cursor::new(out)));
    while let Ok(Some(_)) = trace.next_chunk() {}
    let counts = trace.counts();
    assert!(counts.damaged.is_empty(), "{:?}", counts.damaged);
});
