//! Traces: packet captures and nfsdump text, read into the operations table, and written.

pub mod attributes;
pub mod batch;
pub mod budget;
pub mod compound;
pub mod decoder;
pub mod fields;
pub mod follow;
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
pub mod trace;

/// Declares the folders of decoders, and the table of their formats. (rustfmt does not look into
/// macros: the `Makefile` names these folders to it.)
macro_rules! formats {
    ($($folder:ident,)*) => {
        $(pub mod $folder;)*

        /// All readable formats, in the order in which errors name them.
        pub static FORMATS: &[&decoder::Format] = &[$(&$folder::FORMAT),*];
    };
}

formats! {
    text,
    capture,
}
