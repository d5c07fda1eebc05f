//! The entries of READDIR, and the contents of READ_PLUS.

use super::super::codec::end_entry;
use super::super::xdr::{Decoded, Fault, Xdr};
use super::fattr;
use crate::fields::Fields;
use crate::schema::{Column, EntryColumn};

/// The entries of a `dirlist4`.
pub fn entries(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    f.listing();
    while x.boolean()? {
        let (cookie, name) = (x.u64()?, x.string()?);
        f.entry();
        f.entry_text(EntryColumn::Name, name);
        f.entry_number(EntryColumn::Cookie, cookie);
        let read = fattr::entry(x, f);
        end_entry(read, f)?;
    }
    Ok(())
}

/// `read_plus_content<>`: data, and holes that read as zeros. Together they are the bytes read.
pub fn contents(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    let mut read: u64 = 0;
    for _ in 0..x.u32()? {
        let kind = x.choice(1, "data or a hole")?;
        x.u64()?; // where it is
        if kind == 0 {
            let length = x.u32()?;
            read = read.saturating_add(length.into());
            x.pass(length);
        } else {
            read = read.saturating_add(x.u64()?);
        }
    }
    let count = u32::try_from(read).map_err(|_| Fault::Bad("no more than can be asked for"))?;
    f.number(Column::ReplyCount, count.into());
    Ok(())
}
