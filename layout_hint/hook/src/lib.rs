//! The layout hook in user space: the C core that a kernel module holds, asked at every create.
//!
//! `layout_hint/hook/` is the one source of both, so that what is measured is what would be loaded.
//! With it are the calls of the system that no compiler can check: no other crate has `unsafe`.

mod calls;
#[cfg(feature = "core")]
mod hook;
pub mod wire;

#[cfg(all(feature = "creates", target_os = "linux"))]
pub use calls::creates;
#[cfg(feature = "device")]
pub use calls::device;
pub use calls::take_descriptor;
#[cfg(feature = "core")]
pub use hook::*;
