//! The C core, called safely. The only `unsafe` of the crate is in this folder.
//!
//! What makes it sound: the core keeps all that it has in memory that [`Hook`] owns, is called with
//! `&mut self` wherever it writes, and keeps one pointer between calls, to the image, which `Hook`
//! owns, too, and which it frees only after another took its place.
#![allow(unsafe_code)]

mod hook;
mod raw;
mod sync;

pub use hook::Hook;
pub use sync::{SyncCounters, SyncSettings};

use sync::Sync;

#[cfg(test)]
#[test]
fn the_mirrored_breaker_is_as_large_as_that_in_c() {
    // SAFETY: takes nothing and returns a number.
    assert_eq!(unsafe { raw::bm_home_sync_size() }, size_of::<raw::RawSync>());
}
