//! Files as words in memory: the one module of this crate with `unsafe` code.
//!
//! # Safety
//!
//! - **Bounds.** A mapping has the requested length from its creation until it is dropped. Its words
//!   are accessed only through the slice over it, with a checked index.
//! - **Alignment.** A mapping begins at a page, and the file is used from its beginning.
//! - **Races.** All loads and stores are of [`AtomicU64`], `Relaxed`, so that no order of them is
//!   undefined, in this process or between processes that do the same. Another program's changes to
//!   the file are like stores of another thread: callers accept every value.
//! - **Read-only memory.** Atomic loads of memory that is not mapped for writing are defined when
//!   they are `Relaxed` and no longer than a word of a 64-bit machine (documentation of
//!   `std::sync::atomic`, "Atomic accesses to read-only memory"). The loads here are, and fences
//!   order them.
//! - **Shortened files.** Accessing a page beyond the end of its file kills the process (`SIGBUS`).
//!   [`crate::file`] prevents that, not this module: it opens only files that nobody but their
//!   writer can shorten, which it never does; it checks their length before each access; and it
//!   requires that all pages are allocated, so that a full file system kills neither side.

#![allow(unsafe_code)]

use super::words::{Words, WordsMut};
use rustix::fd::AsFd;
use rustix::io::Result;
use rustix::mm::{mmap, munmap, MapFlags, ProtFlags};
use std::ffi::c_void;
use std::ptr::{null_mut, NonNull};
use std::sync::atomic::{fence, AtomicU64, Ordering};

/// Shorter words would make atomic loads of read-only memory undefined.
const _: () = assert!(usize::BITS >= 64, "a shared history needs a machine of 64 bits");

const WORD: usize = size_of::<u64>();

/// A file that is read.
pub struct Mapping {
    start: NonNull<c_void>,
    count: usize,
}

/// A file that is written.
pub struct WritableMapping(Mapping);

// SAFETY: what is shared are atomics, of memory that belongs to no thread.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps `count` words of a file, which must have them.
    pub fn new(file: impl AsFd, count: usize) -> Result<Mapping> {
        Mapping::map(file, count, ProtFlags::READ, MapFlags::SHARED)
    }

    fn map(file: impl AsFd, count: usize, access: ProtFlags, how: MapFlags) -> Result<Mapping> {
        let length = count.checked_mul(WORD).ok_or(rustix::io::Errno::OVERFLOW)?;
        // SAFETY: no address is given, so that nothing that is mapped is replaced.
        let start = unsafe { mmap(null_mut(), length, access, how, file.as_fd(), 0)? };
        let start = NonNull::new(start).ok_or(rustix::io::Errno::NOMEM)?;
        Ok(Mapping { start, count })
    }

    fn words(&self) -> &[AtomicU64] {
        // SAFETY: `start` begins a page, and `count` words from there are mapped until `self` is
        // dropped, which outlives the slice. Every value of eight bytes is an `AtomicU64`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr().cast(), self.count) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this was mapped once, and no slice of it is left. It cannot fail.
        let _ = unsafe { munmap(self.start.as_ptr(), self.count * WORD) };
    }
}

impl Words for Mapping {
    fn count(&self) -> usize {
        self.count
    }

    #[inline]
    fn load(&self, at: usize) -> u64 {
        self.words().get(at).map_or(0, |word| word.load(Ordering::Relaxed))
    }

    #[inline]
    fn fence(&self, order: Ordering) {
        fence(order);
    }
}

impl WritableMapping {
    /// Maps `count` words of a file, which must have them, and be open for writing. It populates all
    /// pages if the system can, so that updates do not wait for page faults.
    pub fn new(file: impl AsFd, count: usize) -> Result<WritableMapping> {
        #[cfg(target_os = "linux")]
        let how = MapFlags::SHARED | MapFlags::POPULATE;
        #[cfg(not(target_os = "linux"))]
        let how = MapFlags::SHARED;
        Mapping::map(file, count, ProtFlags::READ | ProtFlags::WRITE, how).map(WritableMapping)
    }
}

impl Words for WritableMapping {
    fn count(&self) -> usize {
        self.0.count
    }

    #[inline]
    fn load(&self, at: usize) -> u64 {
        self.0.load(at)
    }

    #[inline]
    fn fence(&self, order: Ordering) {
        fence(order);
    }
}

impl WordsMut for WritableMapping {
    #[inline]
    fn store(&self, at: usize, word: u64) {
        if let Some(place) = self.0.words().get(at) {
            place.store(word, Ordering::Relaxed);
        }
    }
}
