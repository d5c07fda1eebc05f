//! Anonymizes traces (thesis 3.6.1): a random mapping of users, groups, hosts, names and handles,
//! stored in a file, and its application to nfsdump text and to tables. `data/anonymize/` is its
//! Python interface, and explains the rules.

mod file;
mod hosts;
pub mod mapping;
mod names;
pub mod output;
mod pairs;
mod quote;
mod random;
pub mod tables;
pub mod text;

#[cfg(test)]
mod tests;

pub use mapping::{Mapping, Settings};

/// Why something could not be anonymized.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No randomness, or a file that cannot be read or written.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// A mapping file that differs from what was written.
    #[error("line {line}: expected {expected}")]
    Damaged {
        /// The line, from 1.
        line: u64,
        /// What was expected there.
        expected: String,
    },
    /// A column of the wrong type for its treatment.
    #[error("column {column}: {found} cannot be treated as {treatment}")]
    Column {
        /// The column.
        column: String,
        /// Its treatment.
        treatment: &'static str,
        /// Its type.
        found: String,
    },
    /// A value to be exempted that was mapped before.
    #[error("{0} is to stay as it is, but was mapped before")]
    Mapped(String),
    /// Arrow refused an array.
    #[error("{0}")]
    Arrow(#[from] arrow_schema::ArrowError),
}
