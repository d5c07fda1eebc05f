//! Writes the declarations into the headers: `cargo run -p birthmark-contract --example headers`.

mod blocks;

use blocks::{headers, renewed};
use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../layout_hint/include");
    for (name, block) in headers() {
        let path = include.join(name);
        let header = renewed(&fs::read_to_string(&path)?, &block);
        let header = header.ok_or_else(|| io::Error::other(format!("{name}: no block in it")))?;
        fs::write(path, header)?;
    }
    Ok(())
}
