//! NFS version 4: compounds, split into their operations (RFC 7530 and 7531 for 4.0, RFC 8881 and
//! 5662 for 4.1, RFC 7862 and 7863 for 4.2, RFC 8276 for extended attributes).
//!
//! Tables in the order of the RFCs' XDR describe each operation's arguments and results: [`calls`]
//! and [`replies`], made of [`item::Item`]s. Attributes, which begin with a bit map, are read by
//! [`fattr`] according to the table in [`attribute`]; layouts by [`layout`].

mod attribute;
mod calls;
mod fattr;
mod item;
mod layout;
mod listing;
mod replies;
mod shapes;

use super::xdr::{Decoded, Fault, Xdr};
use crate::fields::Fields;
use crate::schema::{Column, Op};

/// The most plausible operations of a compound: servers allow far fewer.
const OPERATIONS: u32 = 1024;

/// The newest minor version.
const NEWEST: u32 = 2;

/// CREATE, whose word depends on the object's type.
const CREATE: u32 = 6;

/// The arguments of a COMPOUND; true if some of its operations are unknown.
pub fn arguments(x: &mut Xdr, f: &mut Fields) -> Decoded<bool> {
    let tag = x.string()?;
    if !tag.is_empty() {
        f.text(Column::Tag, tag);
    }
    let minor = x.u32()?;
    f.number(Column::MinorVersion, minor.into());
    let count = x.choice(OPERATIONS, "at most 1024 operations")?;
    f.declared = Some(count);
    if minor > NEWEST {
        return Ok(true);
    }
    for _ in 0..count {
        let opcode = x.u32()?;
        let Some(items) = calls::arguments(opcode) else {
            unknown(opcode, None, f);
            return Ok(true);
        };
        f.part((operation(opcode, x), opcode, None), |f| item::read(items, x, f))?;
    }
    Ok(false)
}

/// The results of a COMPOUND, from after its status; true as in [`arguments`].
pub fn results(x: &mut Xdr, f: &mut Fields) -> Decoded<bool> {
    x.string()?; // the tag again
    let count = x.choice(OPERATIONS, "the results of at most 1024 operations")?;
    f.declared = Some(count);
    for _ in 0..count {
        let (opcode, status) = (x.u32()?, x.u32()?);
        let Some(items) = replies::results(opcode, status) else {
            unknown(opcode, Some(status), f);
            return Ok(true);
        };
        let op = Op::from_v4(opcode).unwrap_or(Op::Illegal);
        f.part((op, opcode, Some(status)), |f| item::read(items, x, f))?;
    }
    Ok(false)
}

/// The operation of a call. For a CREATE the object's type follows its number.
fn operation(opcode: u32, x: &Xdr) -> Op {
    // `nfs_ftype4`: NF4DIR and NF4LNK (RFC 8881 section 3.2)
    const DIRECTORY: u32 = 2;
    const LINK: u32 = 5;
    match (opcode, x.clone().u32()) {
        (CREATE, Ok(DIRECTORY)) => Op::Mkdir,
        (CREATE, Ok(LINK)) => Op::Symlink,
        _ => Op::from_v4(opcode).unwrap_or(Op::Illegal),
    }
}

/// An unknown operation: its end, and everything after it, are unknown.
fn unknown(opcode: u32, status: Option<u32>, f: &mut Fields) {
    let unread = Err(Fault::Bad("an operation of NFS version 4"));
    let _ = f.part((Op::Illegal, opcode, status), |_| unread); // recorded in the part
}
