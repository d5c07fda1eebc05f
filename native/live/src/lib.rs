//! The live history, shared by one follower with the service and the helper on the same host.
//!
//! A follower updates a [`birthmark_learn::history::History`] and mirrors its records into a file
//! that they map into memory. They look up the history of a create without locks, waits or
//! messages, and go without it if it is missing or stale ([`StaleReason`]).
//!
//! The storage of words ([`words`]) is independent of the algorithms on them ([`reader`],
//! [`writer`]), so that `loom` can run these in every order (`tests/model.rs`).

pub mod alias;
pub mod batch;
pub mod changes;
pub mod file;
pub mod freshness;
pub mod handles;
pub mod header;
pub mod live;
pub mod lookup;
mod mapping;
pub mod reader;
pub mod table;
pub mod words;
pub mod writer;

pub use changes::Changes;
pub use file::{CreateError, OpenError, Publisher, SharedHistory};
pub use freshness::{Limits, StaleReason};
pub use header::{Clocks, Facts, Report, State};
pub use live::Live;
pub use lookup::{Answer, Asked, Lookup, Place, Seen};
pub use reader::{Directory, Reader};
pub use writer::Writer;
