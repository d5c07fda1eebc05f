//! The errors that requests get, all of one JSON shape (`serving/messages/errors.py`).

use super::Shared;
use birthmark_answer::{Fault, Kind};
use hyper::body::Bytes;
use hyper::header::{HeaderName, HeaderValue, ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::Value;
use std::sync::atomic::Ordering::Relaxed;

/// The longest message, in characters: it may quote the request.
const MESSAGE: usize = 500;

/// The value of `Retry-After`, in seconds.
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("1");

/// Both ways to show a token (RFC 9110 section 11.6.1); browsers use the second.
const CHALLENGE: HeaderValue = HeaderValue::from_static(
    "Bearer realm=\"birthmark\", Basic realm=\"birthmark\", charset=\"UTF-8\"",
);

/// The error of a request: a type, and a message for people.
#[derive(Debug)]
pub struct ApiError {
    /// The type, a key of `errors.TYPES` in Python.
    pub kind: &'static str,
    status: u16,
    message: String,
    field: Option<String>,
    value: Option<String>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Whether the connection is closed after it.
    pub closes: bool,
}

impl ApiError {
    /// An error of a type with its HTTP status.
    pub fn new(kind: &'static str, status: u16, message: impl Into<String>) -> ApiError {
        let (message, headers) = (message.into(), Vec::new());
        ApiError { kind, status, message, field: None, value: None, headers, closes: false }
    }

    /// The same error, after which the connection is closed.
    pub fn closing(self) -> ApiError {
        ApiError { closes: true, ..self }
    }

    /// The same error, with the faulty parameter and its value.
    pub fn at(self, field: &str, value: &str) -> ApiError {
        let value = serde_json::to_string(&excerpt(value, 200)).ok();
        ApiError { field: Some(field.to_owned()), value, ..self }
    }

    fn with(mut self, name: HeaderName, value: HeaderValue) -> ApiError {
        self.headers.push((name, value));
        self
    }

    /// A request that exceeds a limit, which is counted.
    pub fn overloaded(shared: &Shared, what: impl Into<String>) -> ApiError {
        shared.metrics.shed.fetch_add(1, Relaxed);
        overloaded(what)
    }

    /// A head or trailer that is too large.
    pub fn too_large(what: impl Into<String>) -> ApiError {
        ApiError::new("head_too_large", 431, what).closing()
    }

    /// A request that is not HTTP.
    pub fn invalid_http(what: impl Into<String>) -> ApiError {
        ApiError::new("invalid_http", 400, what).closing()
    }

    /// A request without a valid token.
    pub fn unauthorized(what: &str) -> ApiError {
        ApiError::new("unauthorized", 401, what).with(WWW_AUTHENTICATE, CHALLENGE)
    }

    /// A request whose token lacks the scope `need`.
    pub fn forbidden(need: &str, what: String) -> ApiError {
        let challenge =
            format!("Bearer realm=\"birthmark\", error=\"insufficient_scope\", scope=\"{need}\"");
        let error = ApiError::new("forbidden", 403, what);
        match HeaderValue::try_from(challenge) {
            Ok(challenge) => error.with(WWW_AUTHENTICATE, challenge),
            Err(_) => error,
        }
    }

    /// A method that a path does not take.
    pub fn method_not_allowed(what: &str, allowed: &'static str) -> ApiError {
        let error = ApiError::new("method_not_allowed", 405, what);
        error.with(ALLOW, HeaderValue::from_static(allowed))
    }

    /// A failure of the service.
    pub fn internal() -> ApiError {
        ApiError::new("internal", 500, "the service failed; its log says how")
    }

    /// The response.
    pub fn response(&self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from(self.json()));
        self.complete(&mut response, HeaderValue::from_static("application/json"));
        response
    }

    /// Sets the status and header fields of this error's response.
    pub fn complete<T>(&self, response: &mut Response<T>, media_type: HeaderValue) {
        let failed = StatusCode::INTERNAL_SERVER_ERROR;
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(failed);
        response.headers_mut().insert(CONTENT_TYPE, media_type);
        response.headers_mut().extend(self.headers.iter().cloned());
    }

    fn json(&self) -> Vec<u8> {
        let text;
        let value = match self.value.as_deref() {
            Some(value) if serde_json::from_str::<Value>(value).is_ok() => {
                serde_json::from_str::<&RawValue>(value).ok()
            }
            // It was shortened, or holds half a surrogate pair, which no text has.
            Some(value) => {
                text = serde_json::to_string(value).unwrap_or_default();
                serde_json::from_str(&text).ok()
            }
            None => None,
        };
        let (message, field) = (excerpt(&self.message, MESSAGE), self.field.as_deref());
        let error = Detail { r#type: self.kind, message: &message, field, value };
        serde_json::to_vec(&Body { error }).unwrap_or_default()
    }

    /// The response in bytes, for use without a request; `close` makes it the last.
    pub fn raw(&self, close: bool) -> Vec<u8> {
        let response = self.response();
        let (status, mut raw) = (response.status(), Vec::with_capacity(512));
        let reason = status.canonical_reason().unwrap_or_default();
        raw.extend(format!("HTTP/1.1 {} {reason}\r\n", status.as_u16()).bytes());
        for (name, value) in response.headers() {
            raw.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
        }
        let length = response.body().len();
        raw.extend(format!("content-length: {length}\r\n").bytes());
        raw.extend(b"x-content-type-options: nosniff\r\n");
        raw.extend(if close { &b"connection: close\r\n\r\n"[..] } else { b"\r\n" });
        raw.extend(response.body());
        raw
    }
}

/// An error of a request that exceeds a limit.
pub fn overloaded(what: impl Into<String>) -> ApiError {
    ApiError::new("overloaded", 503, what).with(RETRY_AFTER, RETRY_SECONDS)
}

impl From<Fault> for ApiError {
    fn from(fault: Fault) -> ApiError {
        let field = fault.field();
        let (kind, status) = match fault.kind {
            Kind::Json => ("invalid_json", 400),
            Kind::Arrow => ("invalid_arrow", 400),
            Kind::Request => ("invalid_request", 422),
        };
        let error = ApiError::new(kind, status, fault.expected);
        ApiError { field, value: fault.found, ..error }
    }
}

#[derive(Serialize)]
struct Body<'a> {
    error: Detail<'a>,
}

#[derive(Serialize)]
struct Detail<'a> {
    r#type: &'a str,
    message: &'a str,
    field: Option<&'a str>,
    value: Option<&'a RawValue>,
}

/// A text, shortened if it is long.
fn excerpt(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
