//! Who may send a request: tokens with scopes, known hosts, and pages of other hosts.

use super::errors::ApiError;
use super::hosts;
use base64::prelude::{Engine, BASE64_STANDARD};
use hyper::header::{HeaderMap, AUTHORIZATION, CONTENT_TYPE, ORIGIN};
use hyper::Method;
use ring::digest::{digest, SHA256};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock};

/// A stored token: the name of its holder, and its scopes.
#[derive(Clone, Debug)]
pub struct Token {
    /// The name.
    pub name: String,
    /// The scopes.
    pub scopes: Vec<String>,
}

/// The tokens by the SHA-256 of their texts. None while their file cannot be read.
///
/// A text cannot be found from how long a lookup by its hash takes.
pub type Tokens = Option<HashMap<Vec<u8>, Token>>;

/// What a path needs (`serving/access/paths.py`).
#[derive(Clone, Debug, Default)]
pub struct PathAccess {
    /// The scope; None: by the method.
    pub scope: Option<String>,
    /// Whether it needs no token.
    pub is_open: bool,
    /// The method that changes the service's state, if one does.
    pub changed_by: Option<String>,
}

/// The rules for all requests.
pub struct Access {
    paths: HashMap<String, PathAccess>,
    /// Names of this service besides those of loopback, in lower case.
    known: HashSet<String>,
    tokens: Option<RwLock<Arc<Tokens>>>,
    other: PathAccess,
}

impl Access {
    /// Rules by path; `with_tokens` is whether requests need one.
    pub fn new(
        paths: HashMap<String, PathAccess>,
        known: impl IntoIterator<Item = String>,
        with_tokens: bool,
    ) -> Access {
        let normal = |name: String| name.to_lowercase().trim_end_matches('.').to_owned();
        let known = known.into_iter().map(normal).chain(["localhost".to_owned()]).collect();
        let tokens = with_tokens.then(|| RwLock::new(Arc::new(Some(HashMap::new()))));
        Access { paths, known, tokens, other: PathAccess::default() }
    }

    /// Replaces the tokens.
    pub fn set_tokens(&self, tokens: Tokens) {
        if let Some(current) = &self.tokens {
            *current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tokens);
        }
    }

    /// Checks a request's head; returns the token's name, if requests need one.
    ///
    /// `local` is the address that the client connected to; None is a Unix socket, which no web page
    /// reaches.
    pub fn check(
        &self,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
        local: Option<IpAddr>,
    ) -> Result<Option<String>, ApiError> {
        let rule = self.paths.get(path).unwrap_or(&self.other);
        let is_safe = [Method::GET, Method::HEAD, Method::OPTIONS].contains(method);
        let name = match &self.tokens {
            Some(tokens) if !rule.is_open => {
                let tokens = tokens.read().unwrap_or_else(PoisonError::into_inner).clone();
                let by_method = if is_safe { "read" } else { "publish" };
                Some(authorize(&tokens, rule.scope.as_deref().unwrap_or(by_method), headers)?)
            }
            _ => None,
        };
        if rule.changed_by.as_deref() == Some(method.as_str()) {
            self.check_host(headers, local)?;
            refuse_foreign(headers)?;
            refuse_other_content(headers)?;
        } else if !is_safe {
            refuse_foreign(headers)?;
        }
        Ok(name)
    }

    fn check_host(&self, headers: &HeaderMap, local: Option<IpAddr>) -> Result<(), ApiError> {
        let name = hosts::name(headers);
        match local {
            Some(local) if !self.known.contains(&name) && !hosts::is_at(&name, local) => {
                let name: String = name.chars().take(200).collect();
                let what =
                    format!("expected a Host that is a name of this service, found '{name}'");
                Err(ApiError::new("unknown_host", 421, format!("{what} (see --known-hosts)")))
            }
            _ => Ok(()),
        }
    }
}

fn authorize(tokens: &Tokens, need: &str, headers: &HeaderMap) -> Result<String, ApiError> {
    let Some(tokens) = tokens else {
        let what = "the file of tokens cannot be read; the log says why";
        return Err(ApiError::new("no_tokens", 503, what));
    };
    let shown = headers.get_all(AUTHORIZATION).iter().next_back().map(|value| value.as_bytes());
    let text = presented(shown.unwrap_or_default()).filter(|text| !text.is_empty());
    let found = text.and_then(|text| tokens.get(digest(&SHA256, &text).as_ref()));
    let Some(token) = found else {
        let nothing = shown.unwrap_or_default().is_empty();
        return Err(ApiError::unauthorized(match nothing {
            true => "expected a token",
            false => "expected a valid token",
        }));
    };
    if !token.scopes.iter().any(|scope| scope == need) {
        let scopes = token.scopes.join(", ");
        let what = format!("expected a token for {need}, found one for {scopes}");
        return Err(ApiError::forbidden(need, what));
    }
    Ok(token.name.clone())
}

/// The token in the field: a Bearer (RFC 6750) or a Basic password (RFC 7617).
fn presented(authorization: &[u8]) -> Option<Vec<u8>> {
    let space = authorization.iter().position(|byte| *byte == b' ')?;
    let (scheme, rest) = (&authorization[..space], &authorization[space + 1..]);
    if scheme.eq_ignore_ascii_case(b"bearer") {
        return Some(rest.trim_ascii().to_vec());
    }
    if !scheme.eq_ignore_ascii_case(b"basic") {
        return None;
    }
    let decoded = BASE64_STANDARD.decode(rest).ok()?;
    let colon = decoded.iter().position(|byte| *byte == b':')?;
    Some(decoded[colon + 1..].to_vec())
}

/// Refuses a request from another host's page (RFC 6454 section 7).
fn refuse_foreign(headers: &HeaderMap) -> Result<(), ApiError> {
    let host = hosts::field(headers).to_ascii_lowercase();
    let is_own = |origin: &[u8]| {
        let origin = origin.to_ascii_lowercase();
        let at = origin.windows(3).position(|each| each == b"://");
        !host.is_empty() && at.is_some_and(|at| origin[at + 3..] == host)
    };
    match headers.get_all(ORIGIN).iter().all(|origin| is_own(origin.as_bytes())) {
        true => Ok(()),
        false => {
            let what = "expected no Origin but this service's own";
            Err(ApiError::new("foreign_origin", 403, what))
        }
    }
}

/// Refuses a change that is not sent as JSON or Arrow, as a page cannot send these unasked.
fn refuse_other_content(headers: &HeaderMap) -> Result<(), ApiError> {
    match ["application/json", ARROW].contains(&media_type(headers).as_str()) {
        true => Ok(()),
        false => {
            let what = "expected Content-Type: application/json, or Arrow's";
            Err(ApiError::new("not_json", 415, what))
        }
    }
}

/// The media type of a stream in Arrow's IPC format.
pub const ARROW: &str = "application/vnd.apache.arrow.stream";

/// The media type of a request's content, in lower case and without parameters.
pub fn media_type(headers: &HeaderMap) -> String {
    let sent = headers.get_all(CONTENT_TYPE).iter().next_back();
    let sent = sent.and_then(|value| value.to_str().ok()).unwrap_or_default();
    sent.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
