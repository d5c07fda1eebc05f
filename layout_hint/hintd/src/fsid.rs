//! Numbers of mounted file systems.

/// The number of the file system that holds `path`.
#[cfg(target_os = "freebsd")]
pub use birthmark_hook::device::fsid as of;

/// There is no module here, and devices in user space have one file system, 0.
#[cfg(not(target_os = "freebsd"))]
pub fn of(path: &std::path::Path) -> std::io::Result<[i32; 2]> {
    std::fs::metadata(path).map(|_| [0; 2])
}
