//! The headers that are checked in are those of the declarations.

#[path = "../examples/headers/blocks.rs"]
mod blocks;

use blocks::{headers, renewed};
use std::fs;
use std::path::Path;

#[test]
fn headers_have_what_is_declared() {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../layout_hint/include");
    for (name, block) in headers() {
        let header = fs::read_to_string(include.join(name)).expect("it is checked in");
        let renewed = renewed(&header, &block);
        assert!(renewed.as_ref() == Some(&header), "{name} is stale: run make generate");
    }
}
