//! The creates in a body.

use super::{Fault, File};
use birthmark_contract::create::{Asked, FILES};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The shape of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One create.
    One,
    /// A list.
    List,
}

/// Calls a function with each create of a body.
pub struct Reader<'r, F> {
    asked: Asked,
    each: F,
    place: Option<usize>,
    fault: &'r mut Option<Fault>,
}

impl<F: FnMut(&File)> Reader<'_, F> {
    /// Reads a body of one create or, for files, a list.
    ///
    /// # Errors
    ///
    /// If it is not JSON; else its first fault.
    pub fn read(asked: Asked, body: &[u8], each: F) -> Result<Shape, Fault> {
        let list = body.trim_ascii_start().first() == Some(&b'[') && asked == Asked::Files;
        let mut fault = None;
        let Ok(text) = str::from_utf8(body) else {
            return Err(explain(body, list, None, serde_json::Error::custom("no UTF-8")));
        };
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let place = list.then_some(0);
        let mut reader = Reader { asked, each, place, fault: &mut fault };
        let read = match list {
            true => deserializer.deserialize_seq(List(&mut reader)),
            false => deserializer.deserialize_map(Object(&mut reader)),
        };
        match read.and_then(|()| deserializer.end()) {
            Ok(()) if list => Ok(Shape::List),
            Ok(()) => Ok(Shape::One),
            Err(error) => Err(explain(body, list, fault, error)),
        }
    }
}

/// The fault to report for a body with a `fault` or an `error`: that it is not JSON comes first.
#[cold]
fn explain(body: &[u8], list: bool, fault: Option<Fault>, error: serde_json::Error) -> Fault {
    let values: Result<Vec<&RawValue>, _> = match list {
        true => serde_json::from_slice(body),
        false => serde_json::from_slice(body).map(|value| vec![value]),
    };
    match (values, fault) {
        (Err(error), _) => Fault::json(error),
        (Ok(_), Some(fault)) => fault,
        (Ok(values), None) => {
            let other = values.iter().position(|value| !value.get().starts_with('{'));
            other.map_or_else(
                || Fault::json(error),
                |place| no_object(values[place]).at(list.then_some(place)),
            )
        }
    }
}

/// The fault of a value that is not an object.
pub fn no_object(value: &RawValue) -> Fault {
    Fault::request("an object").found(value.get())
}

struct Object<'a, 'r, F>(&'a mut Reader<'r, F>);

impl<'de, F: FnMut(&File)> DeserializeSeed<'de> for Object<'_, '_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(&File)> Visitor<'de> for Object<'_, '_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Reader { asked, each, place, fault } = self.0;
        let file = File::read(*asked, &mut map, fault).inspect_err(|_| {
            if let Some(fault) = fault {
                fault.place = *place;
            }
        })?;
        each(&file);
        Ok(())
    }
}

struct List<'a, 'r, F>(&'a mut Reader<'r, F>);

impl<'de, F: FnMut(&File)> Visitor<'de> for List<'_, '_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let reader = self.0;
        let mut place = 0;
        while let Some(()) = {
            reader.place = Some(place);
            seq.next_element_seed(Object(reader))?
        } {
            place += 1;
            if place > FILES {
                *reader.fault = Some(Fault::request(format!("at most {FILES} files")));
                return Err(A::Error::custom(""));
            }
        }
        Ok(())
    }
}
