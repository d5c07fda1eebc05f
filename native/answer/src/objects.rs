//! The objects in a body, and the first fault that can be told without the schema.
//!
//! The schema tells every fault of all that it is given, and nobody else is served while it reads.
//! So it is given one object at a time, with members that it knows, each once and not too long.

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::ops::Range;

/// The longest value that a member may have, in bytes as it is written: a name of 1,024 bytes may
/// be written in 18,434.
pub const LONGEST: usize = 32 * 1024;

/// How many characters are told of what is at fault.
const TOLD: usize = 200;

/// What is wrong with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What it is.
    pub kind: Kind,
    /// Which object of a list it is in.
    pub place: Option<usize>,
    /// Which member it is in.
    pub member: Option<String>,
    /// What is there, as it is written; or what the reader says.
    pub found: String,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is not JSON.
    Json,
    /// Something else is where an object is expected.
    NoObject,
    /// A list has too many objects.
    TooMany,
    /// A member is not known.
    Unknown,
    /// A member is there twice, of which each reader takes its own (RFC 8259 section 4).
    Repeated,
    /// A value is longer than `LONGEST`.
    TooLong,
}

impl Kind {
    /// What Python calls it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Json => "json",
            Kind::NoObject => "no_object",
            Kind::TooMany => "too_many",
            Kind::Unknown => "unknown",
            Kind::Repeated => "repeated",
            Kind::TooLong => "too_long",
        }
    }
}

/// Where in `body` its object is, or those of a list of at `most` so many are.
///
/// An object has no members but those `known`. Without `most` there may be no list.
pub fn objects(
    body: &[u8],
    known: &[String],
    most: Option<usize>,
) -> Result<Vec<Range<usize>>, Fault> {
    let mut reader = Reader { body, known, most, fault: None, found: Vec::new() };
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let is_list = most.is_some() && body.trim_ascii_start().first() == Some(&b'[');
    let read = match is_list {
        true => List(&mut reader).deserialize(&mut deserializer),
        false => Object { reader: &mut reader, place: None }.deserialize(&mut deserializer),
    };
    let read = read.and_then(|()| deserializer.end());
    match (reader.fault, read) {
        (Some(fault), _) => Err(fault),
        (None, Err(error)) => {
            Err(Fault { kind: Kind::Json, place: None, member: None, found: error.to_string() })
        }
        (None, Ok(())) => Ok(reader.found),
    }
}

struct Reader<'a> {
    body: &'a [u8],
    known: &'a [String],
    most: Option<usize>,
    fault: Option<Fault>,
    found: Vec<Range<usize>>,
}

impl Reader<'_> {
    /// Ends the reading with a fault.
    fn refuse<T, E: Error>(
        &mut self,
        kind: Kind,
        place: Option<usize>,
        member: Option<&str>,
        found: &str,
    ) -> Result<T, E> {
        let member = member.map(told);
        self.fault = Some(Fault { kind, place, member, found: told(found) });
        Err(E::custom(kind.name()))
    }

    /// Notes where an object is, which is a part of the body.
    fn note(&mut self, object: &RawValue) {
        let begin = object.get().as_ptr() as usize - self.body.as_ptr() as usize;
        self.found.push(begin..begin + object.get().len());
    }

    /// Looks at an object, or at what is in its place.
    fn look<E: Error>(&mut self, object: &RawValue, place: Option<usize>) -> Result<(), E> {
        if !object.get().starts_with('{') {
            return self.refuse(Kind::NoObject, place, None, object.get());
        }
        let mut deserializer = serde_json::Deserializer::from_str(object.get());
        deserializer.deserialize_map(Members { reader: self, place }).map_err(E::custom)?;
        self.note(object);
        Ok(())
    }
}

/// The beginning of a text, if it is long.
fn told(text: &str) -> String {
    match text.char_indices().nth(TOLD) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

struct Object<'r, 'a> {
    reader: &'r mut Reader<'a>,
    place: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Object<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let object = <&RawValue as serde::Deserialize>::deserialize(deserializer)?;
        self.reader.look(object, self.place)
    }
}

struct Members<'r, 'a> {
    reader: &'r mut Reader<'a>,
    place: Option<usize>,
}

impl<'de> Visitor<'de> for Members<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = vec![false; self.reader.known.len()];
        while let Some((member, value)) = map.next_entry::<String, &RawValue>()? {
            let known = self.reader.known.iter().position(|known| *known == member);
            let twice = known.is_some_and(|known| std::mem::replace(&mut seen[known], true));
            let kind = match known {
                None => Kind::Unknown,
                Some(_) if twice => Kind::Repeated,
                Some(_) if value.get().len() > LONGEST => Kind::TooLong,
                Some(_) => continue,
            };
            return self.reader.refuse(kind, self.place, Some(&member), value.get());
        }
        Ok(())
    }
}

struct List<'r, 'a>(&'r mut Reader<'a>);

impl<'de> DeserializeSeed<'de> for List<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let reader = self.0;
        let mut place = 0;
        while let Some(object) = seq.next_element::<&RawValue>()? {
            if reader.most.is_some_and(|most| place >= most) {
                return reader.refuse(Kind::TooMany, None, None, "");
            }
            reader.look(object, Some(place))?;
            place += 1;
        }
        Ok(())
    }
}
