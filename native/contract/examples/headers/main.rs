//! Writes the declarations into the headers: `make generate`.

mod blocks;

use blocks::{headers, renewed};
use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../layout_hint/include");
    for (name, block) in headers() {
        let path = include.join(name);
        let old = fs::read_to_string(&path)?;
        let header = renewed(&old, &block);
        let header = header.ok_or_else(|| io::Error::other(format!("{name}: no block in it")))?;
        // An untouched header needs no new build.
        if header != old {
            fs::write(path, header)?;
        }
    }
    Ok(())
}
