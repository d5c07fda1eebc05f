//! Any bytes as a stream of creates in Arrow: no panic, and no values beyond the declared limits.
#![no_main]

use arrow_array::{Array, BinaryArray, UInt32Array};
use arrow_buffer::Buffer;
use birthmark_answer::{check_uncompressed, Table};
use birthmark_contract::create::{at, most, Asked, Kind, FILES, MEMBERS};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let stream = Buffer::from(bytes);
    let is_uncompressed = check_uncompressed(&stream).is_ok();
    let mut table = Table::new(Asked::Files);
    if table.add_arrow(&stream).is_err() {
        return;
    }
    assert!(is_uncompressed);
    let creates = table.finish().unwrap();
    assert!(creates.num_rows() <= FILES);
    let names: &BinaryArray = creates["name"].as_any().downcast_ref().unwrap();
    let Kind::Name { most: longest } = MEMBERS[at("name")].kind else { unreachable!() };
    for name in names {
        let name = name.unwrap();
        assert!((1..=longest).contains(&name.len()) && !name.contains(&b'/'));
    }
    let modes: &UInt32Array = creates["mode"].as_any().downcast_ref().unwrap();
    assert!(modes.iter().flatten().all(|mode| mode <= most(at("mode"))));
});
