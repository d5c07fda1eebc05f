//! The compiled part of Birthmark: what is hot or reads hostile bytes.

pub mod batch;
pub mod fields;
pub mod input;
pub mod join;
pub mod lives;
pub mod message;
pub mod quarantine;
pub mod schema;
#[cfg(feature = "python")]
mod python;
