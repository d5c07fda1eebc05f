//! One create as `POST /v1/hints` takes it, and its answer.

use crate::{Question, Verdict};
use base64::prelude::{Engine, BASE64_STANDARD};
use birthmark_contract::create;
use serde::Serialize;

#[derive(Serialize)]
struct Request<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_base64: Option<String>,
    is_directory: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
}

const MEMBERS: [&str; 6] = ["name", "is_directory", "mode", "uid", "gid", "time"];
const _: () = create::assert_told(&MEMBERS, create::Asked::Hints);

/// The body of a question. Of the time only the hour is known, of a day that does not matter.
pub fn written(question: &Question) -> Vec<u8> {
    let bytes = question.name();
    let name = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    let other = if name.is_none() { bytes } else { None };
    let request = Request {
        name,
        name_base64: other.map(|name| BASE64_STANDARD.encode(name)),
        is_directory: question.is_directory(),
        mode: question.mode().map(|mode| mode & create::most(create::at("mode"))),
        uid: question.uid(),
        gid: question.gid(),
        time: question.hour().map(|hour| format!("1970-01-01T{hour:02}:00:00Z")),
    };
    serde_json::to_vec(&request).unwrap_or_default()
}

/// The verdict in an answer's body, a number.
pub fn read(body: &[u8]) -> Option<Verdict> {
    let bits = serde_json::from_slice::<u8>(body).ok()?;
    (bits <= Verdict::ALL.0).then_some(Verdict(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_number_of_three_bits() {
        assert_eq!(read(b"0"), Some(Verdict::COLD));
        assert_eq!(read(b" 5\n"), Some(Verdict(5)));
        for body in [&b""[..], b"8", b"-1", b"1.0", b"\"1\"", b"true", b"1 2", b"{}"] {
            assert_eq!(read(body), None);
        }
    }
}
