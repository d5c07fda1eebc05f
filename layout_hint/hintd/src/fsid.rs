//! Numbers of mounted file systems.

use std::io;
use std::path::Path;

/// The number of the file system that holds `path`.
#[cfg(target_os = "freebsd")]
#[allow(unsafe_code)] // a call of C code
pub fn of(path: &Path) -> io::Result<[i32; 2]> {
    use std::ffi::{c_char, CString};
    use std::os::unix::ffi::OsStrExt;

    extern "C" {
        fn hintd_fsid(path: *const c_char, fsid: *mut i32) -> i32;
    }
    let path = CString::new(path.as_os_str().as_bytes())?;
    let mut fsid = [0; 2];
    // SAFETY: a terminated text, and room for the two numbers that are written.
    match unsafe { hintd_fsid(path.as_ptr(), fsid.as_mut_ptr()) } {
        0 => Ok(fsid),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Elsewhere there is no module, and devices in user space have one file system, 0.
#[cfg(not(target_os = "freebsd"))]
pub fn of(path: &Path) -> io::Result<[i32; 2]> {
    std::fs::metadata(path).map(|_| [0; 2])
}
