//! System and C calls that no compiler can check, each wrapped safely.
#![allow(unsafe_code)]

#[cfg(all(feature = "creates", target_os = "linux"))]
pub mod creates;
#[cfg(feature = "device")]
pub mod device;
