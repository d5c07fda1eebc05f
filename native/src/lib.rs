//! The compiled part of Birthmark: what is hot or reads hostile bytes.

pub mod batch;
pub mod components;
pub mod fields;
pub mod input;
pub mod join;
pub mod message;
#[cfg(feature = "python")]
mod python;
pub mod quarantine;
pub mod schema;
