//! FreeBSD's allocator (`ffs`), a disk, replays of what a file server's clients did on both
//! (`layout`), and where a benchmark's files are (`benchmark`).

pub mod benchmark;
pub mod disk;
pub mod ffs;
pub mod layout;

// So that an allocator is the same text among `ffs::ALLOCATORS` as in a crate of its own.
extern crate self as birthmark_sim;
