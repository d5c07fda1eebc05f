//! What is wrong with a body.

use std::fmt;

/// How many characters are told of what is at fault.
const TOLD: usize = 200;

/// The one thing that is told to be wrong with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What it is.
    pub kind: Kind,
    /// Which object of a list it is in.
    pub place: Option<usize>,
    /// Which member it is in.
    pub member: Option<String>,
    /// What was expected, or what JSON's reader says.
    pub expected: String,
    /// What is there, as it is written, or its beginning; none where something is missing.
    pub found: Option<String>,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is not JSON.
    Json,
    /// It is JSON, but not what is expected.
    Request,
}

impl Fault {
    /// What is not JSON.
    pub fn json(error: impl fmt::Display) -> Self {
        let expected = format!("Invalid JSON: {error}");
        Fault { kind: Kind::Json, place: None, member: None, expected, found: None }
    }

    /// What is not `expected`.
    pub fn request(expected: impl fmt::Display) -> Self {
        let expected = format!("expected {expected}");
        Fault { kind: Kind::Request, place: None, member: None, expected, found: None }
    }

    /// Where it is, as people write it: `[3].mode`; none if that is the whole body.
    pub fn field(&self) -> Option<String> {
        let place = self.place.map(|place| format!("[{place}]"));
        let steps: Vec<_> = place.into_iter().chain(self.member.clone()).collect();
        (!steps.is_empty()).then(|| steps.join("."))
    }

    /// The same, of a member.
    pub fn of(self, member: &str) -> Self {
        Fault { member: Some(told(member)), ..self }
    }

    /// The same, with what is there.
    pub fn found(self, found: &str) -> Self {
        Fault { found: Some(told(found)), ..self }
    }

    /// The same, in a list.
    pub fn at(self, place: Option<usize>) -> Self {
        Fault { place, ..self }
    }
}

/// The beginning of a text, if it is long.
fn told(text: &str) -> String {
    match text.char_indices().nth(TOLD) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
