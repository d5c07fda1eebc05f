//! One create that is asked about.

use super::base64;
use super::instant;
use super::member::{Mode, Text};
use super::names::{Form, Name};
use birthmark_image::Create;
use birthmark_learn::encode::fnv1a;
use birthmark_learn::history::BYTES;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::fmt;

/// The members there are; what was sent of them is a bit each.
const MEMBERS: [&str; 13] = [
    "name",
    "name_base64",
    "name_percent",
    "mode",
    "uid",
    "gid",
    "client",
    "time",
    "directory",
    "directory_base64",
    "directory_percent",
    "history",
    "is_directory",
];
const OF_FILES: u16 = 0b0_1111 << 8;
const OF_HINTS: u16 = 1 << 12;
/// The longest name of a client, in characters.
const CLIENT: usize = 255;
const HOUR: i64 = 3_600_000_000;

/// A create, and what is known of it; what was not sent is `None`.
#[derive(Debug, Default)]
pub struct File<'a> {
    /// Its name: always there once it is read.
    pub name: Option<Name<'a>>,
    /// The directory that it is created in.
    pub directory: Option<Name<'a>>,
    /// Permission bits.
    pub mode: Option<u32>,
    /// Who creates it.
    pub uid: Option<u32>,
    /// That user's group.
    pub gid: Option<u32>,
    /// The machine that asks for it.
    pub client: Option<Text<'a>>,
    /// Microseconds since the epoch.
    pub time: Option<i64>,
    /// What was seen before it.
    pub history: Option<Vec<u8>>,
    /// Whether it is a directory itself, which only hints are asked about.
    pub is_directory: bool,
    sent: u16,
}

impl<'de: 'a, 'a> Deserialize<'de> for File<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = File<'de>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a file")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<File<'de>, A::Error> {
                let mut file = File::default();
                while let Some(member) = map.next_key::<Text>()? {
                    file.note(&member.0).ok_or_else(|| A::Error::custom("not once"))?;
                    file.take(&member.0, &mut map)?;
                }
                match file.name {
                    Some(_) => Ok(file),
                    None => Err(A::Error::missing_field("name")),
                }
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'de> File<'de> {
    fn take<A: MapAccess<'de>>(&mut self, member: &str, map: &mut A) -> Result<(), A::Error> {
        match member {
            "name" => name(&mut self.name, Form::Plain, map),
            "name_base64" => name(&mut self.name, Form::Base64, map),
            "name_percent" => name(&mut self.name, Form::Percent, map),
            "directory" => name(&mut self.directory, Form::Plain, map),
            "directory_base64" => name(&mut self.directory, Form::Base64, map),
            "directory_percent" => name(&mut self.directory, Form::Percent, map),
            "mode" => once(&mut self.mode, map, |mode: Mode| Some(mode.0)),
            "uid" => once(&mut self.uid, map, Some),
            "gid" => once(&mut self.gid, map, Some),
            "client" => once(&mut self.client, map, client),
            "time" => once(&mut self.time, map, |text: Text| instant::read(&text.0)),
            "history" => once(&mut self.history, map, |text: Text| history(&text)),
            _ => map.next_value().map(|value| self.is_directory = value),
        }
    }

    /// Notes that a member is there, if it is one and was not there before.
    fn note(&mut self, member: &str) -> Option<()> {
        let bit = 1 << MEMBERS.iter().position(|known| *known == member)?;
        let first = self.sent & bit == 0;
        self.sent |= bit;
        first.then_some(())
    }

    /// Whether predictions can be asked about it.
    pub fn is_file(&self) -> bool {
        self.sent & OF_HINTS == 0
    }

    /// Whether hints can be asked about it.
    pub fn is_hinted(&self) -> bool {
        self.sent & OF_FILES == 0
    }

    /// The same as the image is asked.
    pub fn create<'b>(&'b self, name: &'b [u8]) -> Create<'b> {
        let client = self.client.as_ref().map(|client| fnv1a(client.0.as_bytes()));
        Create {
            name: Some(name),
            history: self.history.as_deref(),
            values: [self.mode, self.uid, self.gid, client],
            hour: self.time.map(|time| time.div_euclid(HOUR).rem_euclid(24) as u8),
        }
    }
}

/// Takes a value, of which there is one at most; null is none.
fn once<'de, A: MapAccess<'de>, V: Deserialize<'de>, T>(
    into: &mut Option<T>,
    map: &mut A,
    read: impl FnOnce(V) -> Option<T>,
) -> Result<(), A::Error> {
    let Some(value) = map.next_value::<Option<V>>()? else { return Ok(()) };
    match (&into, read(value)) {
        (None, read @ Some(_)) => *into = read,
        _ => return Err(A::Error::custom("more than one, or not as it should be")),
    }
    Ok(())
}

fn name<'de, A: MapAccess<'de>>(
    into: &mut Option<Name<'de>>,
    form: Form,
    map: &mut A,
) -> Result<(), A::Error> {
    once(into, map, |text| Some(Name { form, text }))
}

fn client(text: Text) -> Option<Text> {
    (1..=CLIENT).contains(&text.0.chars().count()).then_some(text)
}

fn history(text: &Text) -> Option<Vec<u8>> {
    base64::decode(text.0.as_bytes()).filter(|bytes| bytes.len() == BYTES)
}
