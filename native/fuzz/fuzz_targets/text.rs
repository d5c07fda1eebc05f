//! Any bytes, read as nfsdump text: no panic, no endless loop, every record accounted for.
#![no_main]

use birthmark_native::trace::{Format, Trace};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let mut trace = Trace::decode(Format::Text, Box::new(Cursor::new(bytes.to_vec())));
    while let Ok(Some(batch)) = trace.next_batch() {
        assert!(batch.num_rows() > 0);
    }
    let counts = trace.counts();
    assert_eq!(counts.records, counts.accounted_for());
});
