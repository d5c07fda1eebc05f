//! The values of members, read from JSON by their declared kind.

use super::Fault;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::Engine;
use birthmark_contract::create::Kind;
use percent_encoding::percent_decode;
use speedate::{
    DateTime, DateTimeConfig, MicrosecondsPrecisionOverflowBehavior, TimeConfigBuilder,
};
use std::borrow::Cow;
use std::sync::LazyLock;

/// RFC 4648 section 4; trailing bits are ignored.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);
/// A number as text, which is not RFC 3339 but was accepted before, is seconds in UTC.
static TIMES: LazyLock<DateTimeConfig> = LazyLock::new(|| DateTimeConfig {
    time_config: TimeConfigBuilder::new()
        .microseconds_precision_overflow_behavior(MicrosecondsPrecisionOverflowBehavior::Truncate)
        .unix_timestamp_offset(Some(0))
        .build(),
    ..DateTimeConfig::default()
});
pub const MICROSECONDS: i64 = 1_000_000;
/// The years 1 to 9999, in seconds since the epoch.
pub const SECONDS: std::ops::Range<i64> = -62_135_596_800..253_402_300_800;

/// A valid value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// A name, and its JSON.
    Name(Cow<'a, [u8]>, &'a str),
    /// A number.
    Number(u32),
    /// Text.
    Text(Cow<'a, str>),
    /// Microseconds since the epoch.
    Time(i64),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
    /// A number of 64 bits.
    Inode(u64),
    /// Yes or no.
    Flag(bool),
}

impl<'a> Value<'a> {
    /// Reads `json` as a value of a kind, in one of its forms.
    ///
    /// # Errors
    ///
    /// If it is not a value of this kind.
    pub fn read(kind: Kind, form: usize, json: &'a str) -> Result<Self, Box<Fault>> {
        match kind {
            Kind::Name { most } => Ok(Value::Name(name(form, text(json)?, most)?, json)),
            Kind::Path { most } => {
                let path = bytes(form, text(json)?, most)?;
                match memchr::memchr(0, &path) {
                    None => Ok(Value::Bytes(path)),
                    Some(_) => fault("a path, without NUL"),
                }
            }
            Kind::Number { most, octal } => number(json, most, octal).map(Value::Number),
            Kind::Text { most } => {
                let text = text(json)?;
                match text.chars().count() {
                    count if (1..=most).contains(&count) => Ok(Value::Text(text)),
                    count => fault(format!("1 to {most} characters, found {count}")),
                }
            }
            Kind::Time => time(&text(json)?).map(Value::Time),
            Kind::Bytes { len } => match BASE64.decode(&*text(json)?) {
                Ok(bytes) if bytes.len() == len => Ok(Value::Bytes(bytes.into())),
                _ => fault(format!("{len} bytes in base64")),
            },
            Kind::Opaque { most } => match BASE64.decode(&*text(json)?) {
                Ok(bytes) if (1..=most).contains(&bytes.len()) => Ok(Value::Bytes(bytes.into())),
                _ => fault(format!("1 to {most} bytes in base64")),
            },
            Kind::Inode => match json.parse().ok().or_else(|| from_float(json)) {
                Some(number) => Ok(Value::Inode(number)),
                None => fault(format!("a whole number from 0 to {}", u64::MAX)),
            },
            Kind::Flag => match json {
                "true" => Ok(Value::Flag(true)),
                "false" => Ok(Value::Flag(false)),
                _ => fault("true or false"),
            },
        }
    }
}

fn fault<T>(expected: impl std::fmt::Display) -> Result<T, Box<Fault>> {
    Err(Box::new(Fault::request(expected)))
}

/// The text of a JSON string; borrowed if it has no escapes.
fn text(json: &str) -> Result<Cow<'_, str>, Box<Fault>> {
    let Some(inner) = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return fault("text");
    };
    match memchr::memchr(b'\\', inner.as_bytes()) {
        None => Ok(Cow::Borrowed(inner)),
        Some(_) => {
            serde_json::from_str(json).map(Cow::Owned).map_err(|error| Box::new(Fault::json(error)))
        }
    }
}

fn name(form: usize, text: Cow<str>, most: usize) -> Result<Cow<[u8]>, Box<Fault>> {
    let name = bytes(form, text, most)?;
    match memchr::memchr2(b'/', 0, &name) {
        None => Ok(name),
        Some(_) => fault("a name in its directory, without / and NUL"),
    }
}

/// The bytes of a name or path, by its form.
fn bytes(form: usize, text: Cow<str>, most: usize) -> Result<Cow<[u8]>, Box<Fault>> {
    let bytes = match form {
        0 => in_bytes(text),
        1 => match BASE64.decode(&*text) {
            Ok(bytes) => bytes.into(),
            Err(error) => return fault(format!("base64: {error}")),
        },
        _ => from_percent(text)?,
    };
    match bytes.len() {
        len if (1..=most).contains(&len) => Ok(bytes),
        len => fault(format!("1 to {most} bytes, found {len}")),
    }
}

fn in_bytes(text: Cow<str>) -> Cow<[u8]> {
    match text {
        Cow::Borrowed(text) => text.as_bytes().into(),
        Cow::Owned(text) => text.into_bytes().into(),
    }
}

fn from_percent(text: Cow<str>) -> Result<Cow<[u8]>, Box<Fault>> {
    let bytes = text.as_bytes();
    let is_escape = |at: usize| {
        bytes.get(at + 1..at + 3).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
    };
    let mut places = memchr::memchr_iter(b'%', bytes).peekable();
    if places.peek().is_none() {
        return Ok(in_bytes(text));
    }
    match places.all(is_escape) {
        true => Ok(percent_decode(bytes).collect::<Vec<_>>().into()),
        false => fault("two hexadecimal digits after every %"),
    }
}

/// A whole number, also one written as 1.0 or 1e2.
fn number(json: &str, most: u32, octal: bool) -> Result<u32, Box<Fault>> {
    let number = match json.as_bytes() {
        [b'"', ..] if octal => Some(from_octal(&text(json)?, most)?),
        [b'0'..=b'9' | b'-', ..] => {
            json.parse().ok().or_else(|| u32::try_from(from_float(json)?).ok())
        }
        _ => None,
    };
    match number.filter(|number| *number <= most) {
        Some(number) => Ok(number),
        None => fault(format!("a whole number from 0 to {most}")),
    }
}

/// At most as many octal digits as the largest number has, with or without a leading zero.
fn from_octal(text: &str, most: u32) -> Result<u32, Box<Fault>> {
    let digits = most.ilog(8) as usize + 1;
    let is_octal = text.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
    let fits =
        (1..=digits).contains(&text.len()) || text.len() == digits + 1 && text.starts_with('0');
    match u32::from_str_radix(text, 8) {
        Ok(number) if is_octal && fits => Ok(number),
        _ => fault("a string of octal digits, as \"0644\", or a decimal number"),
    }
}

fn from_float(json: &str) -> Option<u64> {
    const BEYOND: f64 = 18_446_744_073_709_551_616.0;
    let number: f64 = json.parse().ok()?;
    let is_whole = number.fract() == 0.0 && (0.0..BEYOND).contains(&number);
    is_whole.then_some(number as u64)
}

/// Microseconds since the epoch.
fn time(text: &str) -> Result<i64, Box<Fault>> {
    let time = match DateTime::parse_bytes_with_config(text.as_bytes(), &TIMES) {
        Ok(time) => time,
        Err(error) => return fault(format!("a time as of RFC 3339: {error}")),
    };
    let seconds = time.timestamp_tz();
    match time.time.tz_offset {
        None => fault("a time with its zone"),
        Some(_) if time.date.year == 0 || !SECONDS.contains(&seconds) => {
            fault("a time of the years 1 to 9999 UTC")
        }
        Some(_) => Ok(seconds * MICROSECONDS + i64::from(time.time.microsecond)),
    }
}
