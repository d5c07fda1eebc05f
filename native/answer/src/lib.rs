//! Answers requests of the service from a compiled image: JSON in, JSON out.
//!
//! Creates are read as `birthmark_contract::create` declares them.

mod answerer;
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

pub use answerer::{in_json, Answerer, JsonAnswer, Model, Tallies, Threshold};
pub use fault::{Fault, Kind};
pub use file::File;
pub use objects::check_object;
pub use reader::{Reader, Shape};
pub use table::Table;
pub use tally::Tally;
pub use value::Value;
pub use warnings::Warnings;
