//! A model file: the description of levels, the image, and the images of levels.

use super::FileError;
use birthmark_answer::Levels;
use birthmark_image::{Image, Predicate};
use birthmark_learn::certainty::{Certainty, CertaintyError};
use serde_json::value::RawValue;

/// The first bytes of a file with probabilities; any other is only an image.
const MAGIC: &[u8] = b"BMMODEL\n";
/// The version of the format.
pub const VERSION: u32 = 1;
/// Offsets of the version, of the checksum of all from `AT_COUNT` on, and of the number of parts.
const AT_VERSION: usize = 8;
const AT_CHECKSUM: usize = 12;
const AT_COUNT: usize = 16;
/// Bytes before the directory of parts, and of a row of it: offset, bytes.
const HEADER: usize = 24;
const ENTRY: usize = 8;

/// The parts of a file with probabilities.
pub struct Parts<'a> {
    /// The description of levels, in JSON.
    description: &'a [u8],
    /// The image.
    pub image: &'a [u8],
    levels: Vec<&'a [u8]>,
}

impl<'a> Parts<'a> {
    /// The parts; none of a file that has no probabilities.
    pub fn of(bytes: &'a [u8]) -> Result<Option<Parts<'a>>, FileError> {
        if !bytes.starts_with(MAGIC) {
            return Ok(None);
        }
        match number(bytes, AT_VERSION)? {
            VERSION => {}
            other => return Err(FileError::Version(other)),
        }
        let count = number(bytes, AT_COUNT)? as usize;
        let mut crc = flate2::Crc::new();
        crc.update(&bytes[AT_COUNT..]);
        if crc.sum() != number(bytes, AT_CHECKSUM)? {
            return Err(FileError::Checksum);
        }
        let (mut parts, mut end) = (Vec::new(), HEADER.saturating_add(count.saturating_mul(ENTRY)));
        for row in 0..count {
            let at = HEADER + ENTRY * row;
            let (begin, size) = (number(bytes, at)? as usize, number(bytes, at + 4)? as usize);
            if begin < end {
                return Err(FileError::Parts);
            }
            end = begin.checked_add(size).ok_or(FileError::Parts)?;
            parts.push(bytes.get(begin..end).ok_or(FileError::Parts)?);
        }
        match parts[..] {
            [description, image, ref levels @ ..] if end == bytes.len() => {
                Ok(Some(Parts { description, image, levels: levels.into() }))
            }
            _ => Err(FileError::Parts),
        }
    }

    /// The levels of the answers about `predicates`.
    pub fn levels(&self, predicates: &[Predicate]) -> Result<Levels, FileError> {
        let scopes: Vec<&RawValue> =
            serde_json::from_slice(self.description).map_err(CertaintyError::from)?;
        let certainties = scopes.iter().map(|scope| Certainty::read(scope.get(), &[]));
        let certainties = certainties.collect::<Result<_, _>>()?;
        let images = self.levels.iter().map(|image| Image::read(image));
        let levels = Levels::of(certainties, images.collect::<Result<_, _>>()?);
        let keys = predicates.iter().map(|predicate| &predicate.key);
        let levels = levels.filter(|levels| levels.keys().iter().eq(keys));
        levels.ok_or(FileError::Levels)
    }
}

/// The number of 4 bytes at a place.
fn number(bytes: &[u8], at: usize) -> Result<u32, FileError> {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.map(|four| u32::from_le_bytes(*four)).ok_or(FileError::Parts)
}
