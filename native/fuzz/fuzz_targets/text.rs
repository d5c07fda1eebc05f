//! Any bytes, read as nfsdump text: no panic, no endless loop, every record accounted for.
#![no_main]

use birthmark_native::trace::{Format, Trace};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let mut trace = Trace::decode(Format::Text, Box::new(Cursor::new(bytes.to_vec())));
    loop {
        match trace.next_batch() {
            Ok(Some(_)) => drop(trace.take_damaged()),
            Ok(None) => break,
            Err(_) => return, // what was read until then is not joined to its end
        }
    }
    let counts = trace.counts();
    assert_eq!(counts.records, counts.accounted_for());
});
