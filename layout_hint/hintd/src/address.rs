//! Addresses of the service.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use hyper::Uri;

/// An address of the service: `http://HOST:PORT`, or `unix:PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host's name or number, and a port.
    Tcp(String, u16),
    /// A socket in the file system.
    Unix(PathBuf),
}

impl Address {
    /// The Host field of requests to it (RFC 9112 section 3.2).
    pub fn host(&self) -> String {
        match self {
            Address::Tcp(host, port) if host.contains(':') => format!("[{host}]:{port}"),
            Address::Tcp(host, port) => format!("{host}:{port}"),
            Address::Unix(_) => "localhost".into(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Address::Tcp(..) => write!(f, "http://{}", self.host()),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected http://HOST:PORT or unix:PATH, found {text:?}");
        if let Some(path) = text.strip_prefix("unix:") {
            return if path.is_empty() { Err(expected()) } else { Ok(Address::Unix(path.into())) };
        }
        let uri: Uri = text.parse().map_err(|_| expected())?;
        let (Some("http"), Some(host), "/", None) =
            (uri.scheme_str(), uri.host(), uri.path(), uri.query())
        else {
            return Err(expected());
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        Ok(Address::Tcp(host.into(), uri.port_u16().unwrap_or(80)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written_alike() {
        for text in ["http://127.0.0.1:8325", "http://[::1]:8325", "unix:/run/birthmark.sock"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        assert_eq!("http://a/".parse(), Ok(Address::Tcp("a".into(), 80)));
    }

    #[test]
    fn what_is_no_address_is_refused_with_what_was_expected() {
        for text in ["", "unix:", "127.0.0.1:8325", "https://a", "http://a/v1", "http://a/?b"] {
            assert!(text.parse::<Address>().unwrap_err().contains("http://HOST:PORT"), "{text}");
        }
    }
}
