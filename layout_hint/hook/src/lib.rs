//! The layout hook in user space: the C core of the kernel module, asked at every create.
//!
//! `layout_hint/hook/` is the source of both, so that measurements apply to the module. It also has
//! the system calls of the helper that no compiler can check.

mod calls;
#[cfg(feature = "core")]
mod hook;
pub mod wire;

#[cfg(all(feature = "creates", target_os = "linux"))]
pub use calls::creates;
#[cfg(feature = "device")]
pub use calls::device;
#[cfg(feature = "core")]
pub use hook::*;
