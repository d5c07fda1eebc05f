//! The compiled part of Birthmark: what is hot or reads hostile bytes.

pub mod anonymize;
pub mod attributes;
pub mod batch;
pub mod capture;
pub mod certainty;
pub mod components;
pub mod compound;
pub mod disk;
pub mod encode;
pub mod ffs;
pub mod fields;
pub mod forest;
pub mod history;
pub mod hook;
pub mod image;
pub mod input;
pub mod instants;
pub mod join;
pub mod layout;
pub mod lives;
pub mod lobby;
pub mod loss;
pub mod message;
pub mod messages;
#[cfg(feature = "python")]
mod python;
pub mod quarantine;
pub mod rows;
pub mod scan;
pub mod schema;
pub mod serve;
pub mod source;
pub mod text;
pub mod trace;
