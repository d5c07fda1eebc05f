//! What a create is, what a hint is and how an image is laid out: each is declared here, and
//! everywhere else bound to it or generated from it.

pub mod create;
mod group;
pub mod hints;
pub mod image;
pub mod told;

pub use group::{Constant, Group};
