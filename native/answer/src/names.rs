//! Names, as text or as bytes in one of two forms.

use super::base64;
use super::member::Text;
use std::borrow::Cow;

/// The longest name that is taken.
const LONGEST: usize = 1024;

/// A name as it was sent.
#[derive(Clone, Debug)]
pub struct Name<'a> {
    /// What its member is called in the answer.
    pub form: Form,
    /// The member's text.
    pub text: Text<'a>,
}

/// How a name is written; the number is its place among the suffixes of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As UTF-8.
    Plain,
    /// In base64.
    Base64,
    /// Bytes as `%` and two hexadecimal digits.
    Percent,
}

impl Form {
    /// What is put after a member's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Form::Plain => "",
            Form::Base64 => "_base64",
            Form::Percent => "_percent",
        }
    }
}

impl Name<'_> {
    /// The name's bytes, if it is the name of something in a directory.
    pub fn bytes(&self) -> Option<Cow<'_, [u8]>> {
        let text = self.text.0.as_bytes();
        let name = match self.form {
            Form::Plain => text.into(),
            Form::Base64 => base64::decode(text)?.into(),
            Form::Percent => percent(text)?,
        };
        let fits = (1..=LONGEST).contains(&name.len()) && memchr::memchr2(b'/', 0, &name).is_none();
        fits.then_some(name)
    }
}

fn percent(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    if memchr::memchr(b'%', text).is_none() {
        return Some(text.into());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        (rest, _) = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                (after, bytes.push(digit(*high)? << 4 | digit(*low)?))
            }
            (b'%', _) => return None,
            (byte, after) => (after, bytes.push(*byte)),
        };
    }
    Some(bytes.into())
}

fn digit(sign: u8) -> Option<u8> {
    char::from(sign).to_digit(16).map(|digit| digit as u8)
}
