//! What the extension modules of Python share: exceptions ([`errors`]) and arrays ([`arrays`]).

pub mod arrays;
pub mod errors;
