//! FreeBSD's allocator (`ffs`), a disk, replays of what a file server's clients did on both
//! (`layout`), and where a benchmark's files are (`benchmark`).

pub mod benchmark;
pub mod disk;
pub mod ffs;
pub mod layout;
