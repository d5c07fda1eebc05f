//! The live history, shared by one follower with all workers of the service.
//!
//! A follower learns at each instant what a [`birthmark_learn::history::History`] would know, and
//! mirrors its records into a file that workers have mapped into their memory. They look up what was
//! seen before a create without a lock, without a wait, and without asking anybody; and fall back
//! when there is nothing to tell from, or nothing that is fresh enough ([`WhyNot`]).
//!
//! Where the words are ([`words`]) and what is done with them ([`reader`], [`writer`]) know nothing
//! of each other, so that `loom` can try them in every order (`tests/model.rs`).

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
pub use freshness::{Limits, WhyNot};
pub use header::{Clocks, Facts, Report, State};
pub use live::Live;
pub use lookup::{Answer, Asked, Lookup, Place, Seen};
pub use reader::{Directory, Reader};
pub use writer::Writer;
