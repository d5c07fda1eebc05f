//! Anonymous temporary files.

use std::fs::File;
use std::io;

/// Makes a file in the directory that `TMPDIR` names.
pub fn file() -> io::Result<File> {
    tempfile::tempfile().map_err(named)
}

/// An error of a temporary file, with its directory and the remedy.
pub fn named(error: io::Error) -> io::Error {
    let directory = std::env::temp_dir();
    let what = format!(
        "{}: {error}, for a temporary file; make room there, or set TMPDIR to another directory",
        directory.display()
    );
    io::Error::new(error.kind(), what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_names_the_directory_of_temporary_files() {
        let full = named(io::Error::from_raw_os_error(28)).to_string();
        assert!(full.starts_with(&std::env::temp_dir().display().to_string()), "{full}");
        assert!(full.contains("No space left") && full.contains("TMPDIR"), "{full}");
    }
}
