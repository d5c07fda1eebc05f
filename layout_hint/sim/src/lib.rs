//! FreeBSD's allocator (`ffs`), a disk, replays of file server traces on both (`layout`), and
//! positions of a benchmark's files (`benchmark`).

pub mod benchmark;
pub mod disk;
pub mod ffs;
pub mod layout;

// So that an allocator is the same text among `ffs::ALLOCATORS` as in a crate of its own.
extern crate self as birthmark_sim;
