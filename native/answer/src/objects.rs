//! Checks a body that is one object and not a create.

use super::reader::no_object;
use super::Fault;
use birthmark_contract::create::VALUE_BYTES;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Checks that a body is an object whose members are `known`, not repeated and not too long.
///
/// # Errors
///
/// The first fault.
pub fn check_object(body: &[u8], known: &[String]) -> Result<(), Fault> {
    let value: &RawValue = serde_json::from_slice(body).map_err(Fault::json)?;
    if !value.get().starts_with('{') {
        return Err(no_object(value));
    }
    let mut fault = None;
    let members = Members { known, fault: &mut fault };
    let read = serde_json::Deserializer::from_str(value.get()).deserialize_map(members);
    read.map_err(|error| fault.unwrap_or_else(|| Fault::json(error)))
}

struct Members<'r> {
    known: &'r [String],
    fault: &'r mut Option<Fault>,
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = vec![false; self.known.len()];
        while let Some((member, value)) = map.next_entry::<String, &RawValue>()? {
            let known = self.known.iter().position(|known| *known == member);
            let twice = known.is_some_and(|known| std::mem::replace(&mut seen[known], true));
            let expected = match known {
                None => "no such member",
                Some(_) if twice => "each member once",
                Some(_) if value.get().len() > VALUE_BYTES => "a shorter value",
                Some(_) => continue,
            };
            *self.fault = Some(Fault::request(expected).of(&member).found(value.get()));
            return Err(A::Error::custom(""));
        }
        Ok(())
    }
}
