//! Where a service listens.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

/// A socket's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A Unix socket in the file system.
    Unix(PathBuf),
    /// A TCP socket, resolved.
    Tcp(SocketAddr),
}

/// A text that is no address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}: expected unix:PATH or http://HOST:PORT")]
pub struct AddressError(String);

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let no = || AddressError(text.to_owned());
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() { Err(no()) } else { Ok(Self::Unix(path.into())) };
        }
        let host = text.strip_prefix("http://").ok_or_else(no)?;
        let host = host.strip_suffix('/').unwrap_or(host);
        let found = host.to_socket_addrs().map_err(|_| no())?.next();
        found.map(Self::Tcp).ok_or_else(no)
    }
}
