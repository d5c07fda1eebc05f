//! Taking over a descriptor, which no compiler can check.
#![allow(unsafe_code)]

use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Takes over a descriptor from another language. `None`: its number is negative.
///
/// It must be open and have no other owner from now on.
pub fn take_descriptor(given: RawFd) -> Option<OwnedFd> {
    // SAFETY: no descriptor is -1, and this one is the caller's to give away.
    (given >= 0).then(|| unsafe { OwnedFd::from_raw_fd(given) })
}
