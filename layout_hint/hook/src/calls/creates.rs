//! Linux: creates from fanotify, files by their handles, and write-life hints.

use rustix::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::io;

/// The longest handle of a file, bytes (`MAX_HANDLE_SZ`).
pub const HANDLE_MAX: usize = 128;

/// Reports every create with handles of its directory and of the file, and its name. Reading never
/// blocks a create; events without room are dropped (`FAN_Q_OVERFLOW`).
const REPORTED: u32 = libc::FAN_CLASS_NOTIF
    | libc::FAN_CLOEXEC
    | libc::FAN_NONBLOCK
    | libc::FAN_REPORT_DFID_NAME_TARGET;

/// `F_GET_RW_HINT` and `F_SET_RW_HINT` of `linux/fcntl.h`: of the inode.
const GET_RW_HINT: i32 = 1024 + 11;
const SET_RW_HINT: i32 = 1024 + 12;

/// Watches creates in the file system of `mount`, which is open for reading.
pub fn watch_creates(mount: impl AsFd) -> io::Result<OwnedFd> {
    // SAFETY: numbers alone.
    let watch = unsafe { libc::fanotify_init(REPORTED, (libc::O_RDONLY | libc::O_CLOEXEC) as u32) };
    let watch = descriptor(watch)?;
    let how = libc::FAN_MARK_ADD | libc::FAN_MARK_FILESYSTEM;
    // SAFETY: both descriptors are open; without a path the second one is what is marked.
    let marked = unsafe {
        let (watch, mount) = (watch.as_raw_fd(), mount.as_fd().as_raw_fd());
        libc::fanotify_mark(watch, how, libc::FAN_CREATE, mount, std::ptr::null())
    };
    done(marked).map(|_| watch)
}

/// A `struct file_handle` with as much room as one may take.
#[repr(C)]
struct Handle {
    length: u32,
    kind: i32,
    bytes: [u8; HANDLE_MAX],
}

/// Opens the file with a handle in the file system of `mount`: `InvalidInput` if the handle is too
/// long.
pub fn open_by_handle(
    mount: impl AsFd,
    kind: i32,
    bytes: &[u8],
    flags: rustix::fs::OFlags,
) -> io::Result<OwnedFd> {
    let mut handle = Handle { length: bytes.len() as u32, kind, bytes: [0; HANDLE_MAX] };
    handle.bytes.get_mut(..bytes.len()).ok_or(io::ErrorKind::InvalidInput)?.copy_from_slice(bytes);
    // SAFETY: the structure is laid out as the kernel's, `length` bytes of it are there, and it
    // outlives the call, which reads it; the kernel refuses bytes that are no handle.
    let file = unsafe {
        let handle: *mut Handle = &mut handle;
        libc::open_by_handle_at(mount.as_fd().as_raw_fd(), handle.cast(), flags.bits() as i32)
    };
    descriptor(file)
}

/// The write-life hint of a file (`RWH_WRITE_LIFE_...`).
pub fn rw_hint(file: impl AsFd) -> io::Result<u64> {
    let mut hint = 0_u64;
    // SAFETY: the command writes one number of 64 bits, for which there is room.
    done(unsafe { libc::fcntl(file.as_fd().as_raw_fd(), GET_RW_HINT, &mut hint) })?;
    Ok(hint)
}

/// Sets it.
pub fn set_rw_hint(file: impl AsFd, hint: u64) -> io::Result<()> {
    // SAFETY: the command reads one number of 64 bits, which outlives the call.
    done(unsafe { libc::fcntl(file.as_fd().as_raw_fd(), SET_RW_HINT, &hint) })
}

fn done(status: i32) -> io::Result<()> {
    match status {
        0.. => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn descriptor(opened: i32) -> io::Result<OwnedFd> {
    done(opened)?;
    // SAFETY: it is no error, so that it was opened just now, and is nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(opened) })
}
