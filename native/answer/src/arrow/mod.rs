//! Streams in Arrow's IPC format: creates in requests, and the answers to them.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{check_uncompressed, read};
