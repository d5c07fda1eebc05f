//! The elements of arguments and results, and how they are read.

use super::super::xdr::{Decoded, Fault, Xdr};
use crate::fields::Fields;
use crate::schema::Column;

/// The longest file handle (NFS4_FHSIZE).
pub const HANDLE: u32 = 128;

/// The longest plausible opaque value.
const LONGEST: u32 = 1 << 24;

/// The most words of a bit map: there are fewer than 96 attributes.
const MAP_WORDS: u32 = 16;

/// One or several values of the protocol.
pub enum Item {
    /// Bytes of a fixed number, not stored.
    Skip(usize),
    /// Bytes preceded by their number, not stored.
    SkipBytes,
    /// A number of 32 bits.
    Word(Column),
    /// A number of 64 bits.
    Long(Column),
    /// A number from 0 to the one given.
    Choice(Column, u32),
    /// A boolean.
    Flag(Column),
    /// `nfstime4`: a time; one before the year 1 or after 9999 is omitted.
    Instant(Column),
    /// Bytes of a fixed number.
    Fixed(Column, usize),
    /// Bytes preceded by their number: a name, an owner, a session.
    Bytes(Column),
    /// A file handle.
    Handle(Column),
    /// A bit map, stored as its words.
    Map(Column),
    /// File data: only its length is stored; the bytes may be missing.
    Data(Column),
    /// A count, and that many items; or a flag, and one optional item.
    Many(&'static [Item]),
    /// A discriminant, and the items of its case.
    Union(&'static [(u32, &'static [Item])]),
    /// The same, with the discriminant stored.
    StoredUnion(Column, &'static [(u32, &'static [Item])]),
    /// Values with their own reader.
    Other(fn(&mut Xdr, &mut Fields) -> Decoded<()>),
    /// Several values.
    All(&'static [Item]),
}

/// Any other discriminant in an [`Item::Union`].
pub const ELSE: u32 = u32::MAX;

/// Reads values one after the other.
pub fn read(items: &[Item], x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    items.iter().try_for_each(|item| item.read(x, f))
}

impl Item {
    fn read(&self, x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
        match *self {
            Item::Skip(length) => drop(x.fixed(length)?),
            Item::SkipBytes => drop(x.opaque(LONGEST, "bytes of less than 16 MiB")?),
            Item::Word(column) => f.number(column, x.u32()?.into()),
            Item::Long(column) => f.number(column, x.u64()?),
            Item::Choice(column, most) => {
                f.number(column, x.choice(most, "a number that the protocol knows")?.into());
            }
            Item::Flag(column) => f.number(column, x.boolean()?.into()),
            Item::Instant(column) => time(column, x, f)?,
            Item::Fixed(column, length) => f.text(column, x.fixed(length)?),
            Item::Bytes(column) => f.text(column, x.string()?),
            Item::Handle(column) => {
                f.text(column, x.opaque(HANDLE, "a file handle of at most 128 bytes")?);
            }
            Item::Map(column) => f.text(column, map(x)?),
            Item::Data(column) => {
                let length = x.u32()?;
                f.number(column, length.into());
                x.pass(length);
            }
            Item::Many(items) => {
                for _ in 0..x.u32()? {
                    read(items, x, f)?;
                }
            }
            Item::Union(cases) => union(x.u32()?, cases, x, f)?,
            Item::StoredUnion(column, cases) => {
                let number = x.u32()?;
                f.number(column, number.into());
                union(number, cases, x, f)?;
            }
            Item::Other(reads) => reads(x, f)?,
            Item::All(items) => read(items, x, f)?,
        }
        Ok(())
    }
}

fn union(
    number: u32,
    cases: &[(u32, &'static [Item])],
    x: &mut Xdr,
    f: &mut Fields,
) -> Decoded<()> {
    let case = cases.iter().find(|(case, _)| *case == number || *case == ELSE);
    let (_, items) = case.ok_or(Fault::Bad("a case that the protocol knows"))?;
    read(items, x, f)
}

fn time(column: Column, x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    const YEARS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;
    let (seconds, nanoseconds) = (x.u64()? as i64, x.u32()?);
    if YEARS.contains(&seconds) && nanoseconds < 1_000_000_000 {
        f.number(column, (seconds * 1_000_000 + i64::from(nanoseconds / 1000)) as u64);
    }
    Ok(())
}

/// The words of a `bitmap4`, as they stand in the message.
pub fn map<'a>(x: &mut Xdr<'a>) -> Decoded<&'a [u8]> {
    let words = x.choice(MAP_WORDS, "a bit map of at most 16 words")?;
    x.fixed(4 * words as usize)
}
