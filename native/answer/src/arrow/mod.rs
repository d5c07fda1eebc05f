//! Streams in Arrow's IPC format: creates in requests, and the answers to them.

mod reader;
mod writer;

pub use reader::{check_uncompressed, read};
