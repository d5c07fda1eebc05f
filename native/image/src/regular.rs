//! Reading files of models: only regular ones of limited size.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Greatest size of a file, bytes: 1 GiB, some hundred times a model of a large site.
pub const LONGEST: u64 = 1 << 30;

/// Reads a whole file.
///
/// # Errors
///
/// If it is not a regular file (a device or a FIFO may have no end), is longer than `longest`, or
/// cannot be read.
pub fn read(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    // before opening it, because opening a FIFO waits for its writer
    check(&fs::metadata(path)?, longest)?;
    let file = File::open(path)?;
    check(&file.metadata()?, longest)?;
    let mut bytes = Vec::new();
    file.take(longest + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > longest {
        true => Err(too_long(longest)),
        false => Ok(bytes),
    }
}

fn check(found: &fs::Metadata, longest: u64) -> io::Result<()> {
    if !found.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "expected a regular file"));
    }
    match found.len() > longest {
        true => Err(too_long(longest)),
        false => Ok(()),
    }
}

fn too_long(longest: u64) -> io::Error {
    let expected = format!("expected at most {longest} bytes");
    io::Error::new(io::ErrorKind::InvalidData, expected)
}
