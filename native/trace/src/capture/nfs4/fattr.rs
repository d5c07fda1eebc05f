//! `fattr4`: a map of the attributes that follow, and their values in its order.

use super::super::xdr::{Decoded, Fault, Xdr};
use super::attribute::{attribute, set};
use super::item::{self, Item};
use crate::attributes::of_entry;
use crate::fields::Fields;
use crate::schema::{Column, EntryColumn};

/// The attributes of an object.
pub fn attributes(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    each(x, f, |number, x, f| item::read(known(number)?, x, f))
}

/// Attributes that a call sets. Those without a column are skipped.
pub fn settable(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    each(x, f, |number, x, f| match set(number) {
        Some(items) => item::read(items, x, f),
        None => {
            let (numbers, bytes) = (f.numbers.len(), f.bytes.len());
            let read = item::read(known(number)?, x, f);
            f.numbers.truncate(numbers);
            f.bytes.truncate(bytes);
            read
        }
    })
}

/// The attributes of a directory's entry.
pub fn entry(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    let (numbers, bytes) = (f.numbers.len(), f.bytes.len());
    let read = attributes(x, f);
    for (column, value) in f.numbers.split_off(numbers) {
        match of_entry(column) {
            Some(column) => f.entry_number(column, value),
            None if column == Column::Short => f.number(column, value),
            None => {}
        }
    }
    for (column, start, len) in f.bytes.split_off(bytes) {
        if column == Column::NewFh {
            let handle = f.slice(start, len).to_vec();
            f.entry_text(EntryColumn::Fh, &handle);
        }
    }
    read
}

/// Reads the attributes in the map. An unknown attribute ends the list, since its length is
/// unknown: if bytes are left, the operation is short.
fn each(
    x: &mut Xdr,
    f: &mut Fields,
    read: impl Fn(u32, &mut Xdr, &mut Fields) -> Decoded<()>,
) -> Decoded<()> {
    let map = item::map(x)?;
    let (mut values, whole) = x.within()?;
    for number in numbers(map) {
        match read(number, &mut values, f) {
            Ok(()) => {}
            Err(UNKNOWN) => break,
            Err(Fault::Short) if whole => {
                return Err(Fault::Bad("as many bytes of attributes as there should be"));
            }
            Err(fault) => return Err(fault),
        }
    }
    if !values.rest().is_empty() {
        f.number(Column::Short, 1);
    }
    whole.then_some(()).ok_or(Fault::Short)
}

/// The fault for an unknown attribute.
const UNKNOWN: Fault = Fault::Bad("an attribute of NFS version 4");

fn known(number: u32) -> Decoded<&'static [Item]> {
    attribute(number).ok_or(UNKNOWN)
}

/// The numbers of the bits that are set in a `bitmap4`.
pub fn numbers(map: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let words = map.chunks_exact(4).map(|word| [0, 1, 2, 3].map(|byte| word[byte]));
    words.zip(0..).flat_map(|(word, place)| {
        let word = u32::from_be_bytes(word);
        (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| place * 32 + bit)
    })
}

/// `nfs_ftype4`.
pub fn ftype(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    let ftype = x.u32()?;
    if !(1..=9).contains(&ftype) {
        return Err(Fault::Bad("a file type from 1 to 9"));
    }
    f.number(Column::Ftype, ftype.into());
    Ok(())
}

/// A user or a group: a number if the server knows no name for it, or was configured to use
/// numbers; else `name@domain` (RFC 7530 section 5.9).
pub fn principal(x: &mut Xdr, number: Column, name: Column, f: &mut Fields) -> Decoded<()> {
    let value = x.string()?;
    let digits = value.iter().all(u8::is_ascii_digit);
    let parsed = std::str::from_utf8(value).ok().and_then(|text| text.parse::<u32>().ok());
    match parsed.filter(|_| digits) {
        Some(id) => f.number(number, id.into()),
        None => f.text(name, value),
    }
    Ok(())
}

/// `settime4`, its two ways numbered as in version 3: 1 the server's time, 2 the client's.
pub fn set_time(x: &mut Xdr, how: Column, time: Column, f: &mut Fields) -> Decoded<()> {
    let client = x.choice(1, "a way to set a time, 0 or 1")? == 1;
    f.number(how, if client { 2 } else { 1 });
    if client {
        item::read(&[Item::Instant(time)], x, f)?;
    }
    Ok(())
}

/// `time_delta`, in nanoseconds.
pub fn time_delta(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    let (seconds, nanoseconds) = (x.u64()?, x.u32()?);
    let delta = seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds.into());
    f.number(Column::FsTimeDelta, delta);
    Ok(())
}

/// The most bytes of a read or a write; beyond 32 bits, as many as fit.
pub fn transfer(x: &mut Xdr, column: Column, f: &mut Fields) -> Decoded<()> {
    f.number(column, x.u64()?.min(u32::MAX.into()));
    Ok(())
}
