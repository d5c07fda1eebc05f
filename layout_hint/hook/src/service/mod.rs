//! The service as creates of the query mode ask it: over a socket. Replays do, and what measures; the
//! kernel asks through its device instead.

mod address;
mod http;
mod json;

pub use address::{Address, AddressError};
pub use http::Http;
