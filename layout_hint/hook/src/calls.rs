//! Calls of the system and of C that no compiler can check, each made safe here.
#![allow(unsafe_code)]

#[cfg(all(feature = "creates", target_os = "linux"))]
pub mod creates;
#[cfg(feature = "device")]
pub mod device;

use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Takes over a descriptor that another language gives away. `None`: its number is negative.
///
/// It must be open, and nobody else's from now on: a number of Python does not say so.
pub fn take_descriptor(given: RawFd) -> Option<OwnedFd> {
    // SAFETY: no descriptor is -1, and this one is the caller's to give away.
    (given >= 0).then(|| unsafe { OwnedFd::from_raw_fd(given) })
}
