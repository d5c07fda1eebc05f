//! The `Host` of a request (RFC 9110 section 7.2).

use super::errors::ApiError;
use hyper::header::{HeaderMap, HOST};
use hyper::Version;
use std::net::IpAddr;

/// Signs of a host name beside letters and digits.
const SIGNS: &[u8] = b"._~%!$&'()*+,;=-";

/// Checks that a request has one valid `Host`; before HTTP/1.1 it may lack it.
pub fn check(version: Version, headers: &HeaderMap) -> Result<(), ApiError> {
    let mut hosts = headers.get_all(HOST).iter();
    let (first, more) = (hosts.next(), hosts.count());
    let count = usize::from(first.is_some()) + more;
    if count > 1 || (count == 0 && version == Version::HTTP_11) {
        return Err(ApiError::invalid_http(format!("expected one Host, found {count}")));
    }
    match first {
        Some(host) if !is_valid(host.as_bytes()) => {
            let what = "expected a host name or address, and a port, as Host";
            Err(ApiError::invalid_http(what))
        }
        _ => Ok(()),
    }
}

fn is_valid(host: &[u8]) -> bool {
    let (name_is_valid, rest) = match host.strip_prefix(b"[") {
        Some(rest) => {
            let Some(end) = rest.iter().position(|byte| *byte == b']') else { return false };
            let valid = |byte: &u8| byte.is_ascii_alphanumeric() || b":.%-".contains(byte);
            (end > 0 && rest[..end].iter().all(valid), &rest[end + 1..])
        }
        None => {
            let end = host.iter().position(|byte| *byte == b':').unwrap_or(host.len());
            let valid = |byte: &u8| byte.is_ascii_alphanumeric() || SIGNS.contains(byte);
            (host[..end].iter().all(valid), &host[end..])
        }
    };
    let port_is_valid = match rest.strip_prefix(b":") {
        Some(port) => port.iter().all(u8::is_ascii_digit),
        None => rest.is_empty(),
    };
    name_is_valid && port_is_valid
}

/// The field's value; empty without one.
pub fn field(headers: &HeaderMap) -> &[u8] {
    headers.get(HOST).map_or(b"", |value| value.as_bytes())
}

/// The name or address in the field, in lower case.
pub fn name(headers: &HeaderMap) -> String {
    let text = String::from_utf8_lossy(field(headers)).to_lowercase();
    match text.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default().to_owned(),
        None => text.split(':').next().unwrap_or_default().trim_end_matches('.').to_owned(),
    }
}

/// Whether a name is an address, of loopback or the `local` one.
pub fn is_at(name: &str, local: IpAddr) -> bool {
    let address = name.parse::<IpAddr>();
    address.is_ok_and(|address| address.is_loopback() || address == local)
}
