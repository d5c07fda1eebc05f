//! One create as `POST /v1/hints` takes it, and its answer.

use crate::{Question, Verdict};
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

/// All that a verdict can be.
const ALL: u8 = 0b111;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Base64 (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let number = (0..3).fold(0_usize, |n, i| n << 8 | three.get(i).map_or(0, |&b| b as usize));
        for place in 0..4 {
            let sign = ALPHABET[number >> (18 - 6 * place) & 63];
            text.push(if place <= three.len() { sign.into() } else { '=' });
        }
    }
    text
}

/// The body of a question. Of the time only the hour is known, of a day that does not matter.
pub fn written(question: &Question) -> Vec<u8> {
    let bytes = question.name();
    let name = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
    let other = if name.is_none() { bytes } else { None };
    let request = Request {
        name,
        name_base64: other.map(base64),
        is_directory: question.is_directory(),
        mode: question.mode().map(|mode| mode & 0o7777),
        uid: question.uid(),
        gid: question.gid(),
        time: question.hour().map(|hour| format!("1970-01-01T{hour:02}:00:00Z")),
    };
    serde_json::to_vec(&request).unwrap_or_default()
}

/// The verdict in an answer's body, a number.
pub fn read(body: &[u8]) -> Option<Verdict> {
    let bits = serde_json::from_slice::<u8>(body).ok()?;
    (bits <= ALL).then_some(Verdict(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_rfc() {
        let texts = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (n, text) in texts.iter().enumerate() {
            assert_eq!(base64(&b"foobar"[..n]), *text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfb]), "//77");
    }

    #[test]
    fn an_answer_is_a_number_of_three_bits() {
        assert_eq!(read(b"0"), Some(Verdict::COLD));
        assert_eq!(read(b" 5\n"), Some(Verdict(5)));
        for body in [&b""[..], b"8", b"-1", b"1.0", b"\"1\"", b"true", b"1 2", b"{}"] {
            assert_eq!(read(body), None);
        }
    }
}
