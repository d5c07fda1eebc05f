//! FreeBSD's allocator (`ffs`), a disk, and replays of what a file server's clients did on both
//! (`layout`).

pub mod disk;
pub mod ffs;
pub mod layout;
