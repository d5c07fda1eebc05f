//! The files in a body.

use super::File;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The most files in one request.
pub const MANY: usize = 10_000;

/// Gives each file of a body to a function, which says whether it can be answered.
pub struct Files<F>(F);

impl<F: FnMut(&File) -> Option<()>> Files<F> {
    /// Whether all of `body`, a file or a list of files, could be read and answered.
    pub fn read(body: &[u8], each: F) -> Option<Shape> {
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        let shape = Files(each).deserialize(&mut deserializer).ok()?;
        deserializer.end().ok()?;
        Some(shape)
    }
}

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A file.
    One,
    /// A list of files.
    List,
}

impl<'de, F: FnMut(&File) -> Option<()>> DeserializeSeed<'de> for Files<F> {
    type Value = Shape;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Shape, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(&File) -> Option<()>> Visitor<'de> for Files<F> {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a file or a list of files")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<Shape, A::Error> {
        let file = File::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        match file.is_file().then(|| (self.0)(&file)).flatten() {
            Some(()) => Ok(Shape::One),
            None => Err(A::Error::custom("not answered")),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Shape, A::Error> {
        let mut left = MANY;
        while let Some(file) = seq.next_element::<File>()? {
            let fits = left > 0 && file.is_file() && (self.0)(&file).is_some();
            if !fits {
                return Err(A::Error::custom("not answered"));
            }
            left -= 1;
        }
        Ok(Shape::List)
    }
}
