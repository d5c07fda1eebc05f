//! The C core, called safely. The only `unsafe` of the crate is in this folder.
//!
//! Soundness: the core keeps all its state in memory that [`Hook`] owns, and writes it only through
//! `&mut self`. It keeps one pointer between calls, to the image, which `Hook` owns, too, and frees
//! only after another has replaced it.
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
