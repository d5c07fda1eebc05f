//! Declarations of creates, hints and the format of images. Other code uses them or is generated
//! from them.

pub mod create;
mod group;
pub mod hints;
pub mod history_scope;
pub mod image;

pub use group::{Constant, Group};
