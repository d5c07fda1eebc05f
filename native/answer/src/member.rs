//! The values of members.

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::borrow::Cow;
use std::fmt;

const MODES: u64 = 0o7777;

/// Text, borrowed from the body where it holds no escapes.
#[derive(Clone, Debug)]
pub struct Text<'a>(pub Cow<'a, str>);

/// Permission bits: octal in a string, decimal in a number.
#[derive(Clone, Copy, Debug)]
pub struct Mode(pub u32);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("text")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Any)
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bits;
        impl Visitor<'_> for Bits {
            type Value = Mode;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("permission bits")
            }
            fn visit_u64<E: Error>(self, bits: u64) -> Result<Mode, E> {
                match bits {
                    0..=MODES => Ok(Mode(bits as u32)),
                    _ => Err(E::custom("beyond permission bits")),
                }
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Mode, E> {
                let octal = text.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
                let bits = u64::from_str_radix(text, 8).map_err(E::custom)?;
                match octal && text.len() <= 5 {
                    true => self.visit_u64(bits),
                    false => Err(E::custom("no octal number")),
                }
            }
        }
        deserializer.deserialize_any(Bits)
    }
}
