//! Answers requests of the service from a compiled image, in JSON or Arrow as they are.
//!
//! Creates are read as `birthmark_contract::create` declares them.

mod answerer;
mod arrow;
mod fault;
mod file;
mod objects;
mod reader;
mod table;
mod tally;
#[cfg(test)]
mod tests;
mod value;
mod warnings;

pub use answerer::{in_json, Answer, Answerer, Model, Tallies, Threshold};
pub use arrow::check_uncompressed;
pub use fault::{Fault, Kind};
pub use file::File;
pub use objects::check_object;
pub use reader::{Reader, Shape};
pub use table::Table;
pub use tally::Tally;
pub use value::Value;
pub use warnings::Warnings;
