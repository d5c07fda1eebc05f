//! Requests of the service, answered from a compiled image: JSON in, JSON out.
//!
//! What is read here is what the service's schema takes, in its usual forms. Whatever else there is
//! in a body, the schema is to judge, and to say what is wrong with it.

mod answerer;
mod base64;
mod file;
mod instant;
mod levels;
mod member;
mod names;
mod objects;
mod reader;
mod table;
mod tally;
#[cfg(test)]
mod tests;

pub use answerer::{Answerer, Model};
pub use file::File;
pub use levels::Levels;
pub use objects::{objects, Fault, Kind};
pub use reader::{Files, MANY};
pub use table::Table;
pub use tally::Tally;
