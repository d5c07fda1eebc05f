//! One create as `POST /v1/hints` takes it, and its answer.

use super::{Question, Verdict};
use serde::{Deserialize, Serialize};

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

#[derive(Deserialize)]
struct Hints {
    hot_name: bool,
    hot_dir: bool,
    hot_write: bool,
}

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

/// The verdict in an answer's body.
pub fn read(body: &[u8]) -> Option<Verdict> {
    let hints: Hints = serde_json::from_slice(body).ok()?;
    let bits = [hints.hot_name, hints.hot_dir, hints.hot_write];
    Some(Verdict((0..3).map(|i| u8::from(bits[i]) << i).sum()))
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
    fn an_answer_needs_all_three_hints_and_may_have_more() {
        let body = br#"{"hot_name": true, "hot_dir": false, "hot_write": true, "model": "7"}"#;
        assert_eq!(read(body), Some(Verdict(5)));
        assert_eq!(read(br#"{"hot_name": true, "hot_dir": false}"#), None);
        assert_eq!(read(br#"{"hot_name": 1, "hot_dir": 0, "hot_write": 0}"#), None);
        assert_eq!(read(b""), None);
    }
}
