//! The fault of a body.

use std::fmt;

/// The most characters quoted from a body.
const EXCERPT: usize = 200;

/// The first fault of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Its kind.
    pub kind: Kind,
    /// The index of its object in a list.
    pub place: Option<usize>,
    /// Its member.
    pub member: Option<String>,
    /// What was expected, or the message of the JSON parser.
    pub expected: String,
    /// An excerpt of the JSON value; None if it is missing.
    pub found: Option<String>,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The body is not JSON.
    Json,
    /// The body is not an Arrow stream.
    Arrow,
    /// The body is well-formed, but not the expected value.
    Request,
}

impl Fault {
    /// The fault of a body that is not JSON.
    pub fn json(error: impl fmt::Display) -> Self {
        let expected = format!("Invalid JSON: {error}");
        Fault { kind: Kind::Json, place: None, member: None, expected, found: None }
    }

    /// The fault of a body that is not an Arrow stream.
    pub fn arrow(error: impl fmt::Display) -> Self {
        let expected = format!("an uncompressed stream in Arrow's IPC format: {error}");
        Fault { kind: Kind::Arrow, ..Fault::request(expected) }
    }

    /// The fault of a value that is not `expected`.
    pub fn request(expected: impl fmt::Display) -> Self {
        let expected = format!("expected {expected}");
        Fault { kind: Kind::Request, place: None, member: None, expected, found: None }
    }

    /// The path of the fault, such as `[3].mode`; None for the whole body.
    pub fn field(&self) -> Option<String> {
        let place = self.place.map(|place| format!("[{place}]"));
        let steps: Vec<_> = place.into_iter().chain(self.member.clone()).collect();
        (!steps.is_empty()).then(|| steps.join("."))
    }

    /// The same fault, in a member.
    pub fn of(self, member: &str) -> Self {
        Fault { member: Some(excerpt(member)), ..self }
    }

    /// The same fault, with the JSON value.
    pub fn found(self, found: &str) -> Self {
        Fault { found: Some(excerpt(found)), ..self }
    }

    /// The same fault, at an index in a list.
    pub fn at(self, place: Option<usize>) -> Self {
        Fault { place, ..self }
    }
}

/// A text, shortened if it is long.
fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
