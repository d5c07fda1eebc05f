//! Interned names.

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Names in the order of first occurrence.
#[derive(Debug)]
pub struct Names {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Default for Names {
    fn default() -> Names {
        Names {
            bytes: Vec::new(),
            ends: vec![0],
            table: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }
}

impl Names {
    /// A name's number; none if there are 4 GB of names.
    pub fn intern(&mut self, name: &[u8]) -> Option<u32> {
        let Names { bytes, ends, table, hasher } = self;
        let hash = |number: &u32| hasher.hash_one(slice(bytes, ends, *number));
        let found =
            table.entry(hasher.hash_one(name), |number| slice(bytes, ends, *number) == name, hash);
        let vacant = match found {
            Entry::Occupied(found) => return Some(*found.get()),
            Entry::Vacant(vacant) => vacant,
        };
        let end = u32::try_from(bytes.len() + name.len()).ok()?;
        let number = (ends.len() - 1) as u32;
        vacant.insert(number);
        bytes.extend_from_slice(name);
        ends.push(end);
        Some(number)
    }

    /// The name of a number.
    #[inline]
    pub fn get(&self, number: u32) -> &[u8] {
        slice(&self.bytes, &self.ends, number)
    }
}

fn slice<'a>(bytes: &'a [u8], ends: &[u32], number: u32) -> &'a [u8] {
    let number = number as usize;
    &bytes[ends[number] as usize..ends[number + 1] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number_and_numbers_have_their_names() {
        let mut names = Names::default();
        let numbers: Vec<_> =
            [b"a".as_slice(), b"", b"bc", b"a", b""].iter().map(|n| names.intern(n)).collect();
        assert_eq!(numbers, [Some(0), Some(1), Some(2), Some(0), Some(1)]);
        assert_eq!((names.get(0), names.get(1), names.get(2)), (&b"a"[..], &b""[..], &b"bc"[..]));
    }
}
