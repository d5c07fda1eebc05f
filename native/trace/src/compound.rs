//! The operations of a compound (RFC 8881 section 2.3), call and reply side by side, with the
//! file handles that they work on.
//!
//! An operation takes its file from the *current* file handle, and some a second one from the
//! *saved*. Calls set them by PUTFH; LOOKUP, OPEN and CREATE set them to handles that only a later
//! GETFH shows. So objects are followed first, and get their handles at the end.

use crate::fields::{Fields, Part, Section};
use crate::schema::{Column, Op};

mod objects;

use objects::Objects;

/// Statuses from here on are refusals by RPC: nothing was run.
const REFUSED: u32 = 65_536;

/// `OP_ILLEGAL`, a server's answer to an unknown operation.
const ILLEGAL: u32 = 10_044;

/// An operation with its arguments and results.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Its place in the compound, from 0.
    pub index: u32,
    /// Its procedure.
    pub op: Op,
    /// Its number in the protocol.
    pub opcode: u32,
    /// Its status, if known.
    pub status: Option<u32>,
    /// Whether its call or its reply was cut.
    pub short: bool,
    /// Its part of the call.
    pub asked: Option<Section<'a>>,
    /// Its part of the reply.
    pub answered: Option<Section<'a>>,
    /// Attributes of the object that it found or made, from a later GETATTR.
    pub shown: Option<Section<'a>>,
    /// The handle it worked on.
    pub fh: Option<&'a [u8]>,
    /// The second handle it worked on.
    pub fh2: Option<&'a [u8]>,
    /// The handle of the object that it found or made.
    pub new_fh: Option<&'a [u8]>,
}

/// The operations that were run, or may have been. `reply` has the compound's status and the fields
/// of its reply, if one was seen.
pub fn rows<'a>(
    call: &'a Fields,
    reply: Option<(Option<u32>, &'a Fields)>,
) -> (Vec<Row<'a>>, Vec<Op>) {
    let answers = reply.map_or(0, |(_, fields)| fields.parts.len());
    let most = call.parts.len().max(answers);
    let ran = reply.map_or(most, |(status, fields)| ran(status, fields, most));
    let minor = call.get(Column::MinorVersion).unwrap_or(0);
    let mut objects = Objects::new(minor);
    let sound = reply.map_or(0, |(_, fields)| sound(call, fields));
    let mut rows: Vec<_> = (0..ran.min(most)).map(|index| row(call, reply, index, sound)).collect();
    let touched: Vec<_> = rows.iter().map(|row| objects.follow(row)).collect();
    for (row, touched) in rows.iter_mut().zip(touched) {
        row.fh = objects.handle(touched.fh);
        row.fh2 = objects.handle(touched.fh2);
        row.new_fh = objects.handle(touched.new);
        row.shown = objects.shown(touched.new);
    }
    let not_run = call.parts.iter().skip(ran).map(|part| part.op).collect();
    (rows, not_run)
}

/// The number of operations that the server ran, according to the reply; else all.
fn ran(status: Option<u32>, reply: &Fields, most: usize) -> usize {
    match reply.declared {
        Some(declared) => declared as usize,
        None if status.is_some_and(|status| status >= REFUSED) => 0,
        None => most,
    }
}

/// The number of plausible results in a reply: a server answers the operations of the call in their
/// order, so a result of another one, and everything after it, is damage.
fn sound(call: &Fields, reply: &Fields) -> usize {
    let differs = |(asked, answered): (&Part, &Part)| {
        asked.opcode != answered.opcode && answered.opcode != ILLEGAL
    };
    let other = call.parts.iter().zip(&reply.parts).position(differs);
    other.unwrap_or(reply.parts.len())
}

fn row<'a>(
    call: &'a Fields,
    reply: Option<(Option<u32>, &'a Fields)>,
    index: usize,
    sound: usize,
) -> Row<'a> {
    let reply_of = |(_, fields): (Option<u32>, &'a Fields)| (index < sound).then_some(fields);
    let answers = reply.and_then(reply_of);
    let (asked, answered) =
        (call.parts.get(index), answers.and_then(|fields| fields.parts.get(index)));
    let part = asked.or(answered);
    let status = match answered {
        Some(part) => part.status,
        None => reply.and_then(|(status, fields)| implied(status, fields, index)),
    };
    let missing = asked.is_none() || (reply.is_some() && answered.is_none());
    Row {
        index: index as u32,
        op: part.map_or(Op::Illegal, |part| part.op),
        opcode: part.map_or(0, |part| part.opcode),
        status,
        short: missing || [asked, answered].iter().flatten().any(|part| part.short),
        asked: call.section(index),
        answered: answers.and_then(|fields| fields.section(index)),
        shown: None,
        fh: None,
        fh2: None,
        new_fh: None,
    }
}

/// The status of an operation whose results were cut off: all before the last succeeded, and the
/// last has the status of the compound (RFC 8881 section 16.2.3).
fn implied(status: Option<u32>, reply: &Fields, index: usize) -> Option<u32> {
    match (reply.declared, index + 1) {
        (Some(declared), place) if place < declared as usize => Some(0),
        (Some(declared), place) if place == declared as usize => status,
        _ => status.filter(|status| *status == 0),
    }
}
