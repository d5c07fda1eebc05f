//! Traces: packet captures and nfsdump text, read into the operations table, and written.

pub mod attributes;
pub mod batch;
pub mod capture;
pub mod columns;
pub mod compound;
pub mod fields;
pub mod form;
pub mod input;
pub mod instants;
pub mod join;
pub mod loss;
pub mod message;
pub mod messages;
pub mod quarantine;
pub mod rows;
pub mod schema;
pub mod source;
pub mod text;
pub mod trace;
