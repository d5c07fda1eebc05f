//! The operations of a compound (RFC 8881 section 2.3), call and reply side by side, with the
//! file handles that they work on.
//!
//! An operation takes its file from the *current* file handle, and some a second one from the
//! *saved*. Calls set them by PUTFH; LOOKUP, OPEN and CREATE set them to handles that only a
//! GETFH behind them shows; so the objects are followed first, and have their handles at the end.

use crate::fields::{Fields, Section};
use crate::schema::{Column, Op};

mod objects;

use objects::Objects;

/// Statuses from here on are refusals by RPC: nothing was run.
const REFUSED: u32 = 65_536;

/// An operation with what was asked and answered.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Its place in the compound, from 0.
    pub index: u32,
    /// What it is called.
    pub op: Op,
    /// Its number in the protocol.
    pub opcode: u32,
    /// Its status, where that is known.
    pub status: Option<u32>,
    /// Whether its call or its reply was cut.
    pub short: bool,
    /// What the call holds for it.
    pub asked: Option<Section<'a>>,
    /// What the reply holds for it.
    pub answered: Option<Section<'a>>,
    /// Attributes of the object that it found or made, which a GETATTR behind it got.
    pub shown: Option<Section<'a>>,
    /// The handle it worked on.
    pub fh: Option<&'a [u8]>,
    /// The second one.
    pub fh2: Option<&'a [u8]>,
    /// The handle of what it found or made.
    pub new_fh: Option<&'a [u8]>,
}

/// The operations that were run, or may have been, and those that were not. `reply` is the
/// compound's status and what its reply holds, if one was seen.
pub fn rows<'a>(
    call: &'a Fields,
    reply: Option<(Option<u32>, &'a Fields)>,
) -> (Vec<Row<'a>>, Vec<Op>) {
    let answers = reply.map_or(0, |(_, fields)| fields.parts.len());
    let most = call.parts.len().max(answers);
    let ran = reply.map_or(most, |(status, fields)| ran(status, fields, most));
    let minor = call.get(Column::MinorVersion).unwrap_or(0);
    let mut objects = Objects::new(minor);
    let mut rows: Vec<_> = (0..ran.min(most)).map(|index| row(call, reply, index)).collect();
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

/// How many operations the server ran, as far as the reply tells; else all.
fn ran(status: Option<u32>, reply: &Fields, most: usize) -> usize {
    match reply.promised {
        Some(promised) => promised as usize,
        None if status.is_some_and(|status| status >= REFUSED) => 0,
        None => most,
    }
}

fn row<'a>(call: &'a Fields, reply: Option<(Option<u32>, &'a Fields)>, index: usize) -> Row<'a> {
    let (asked, answered) =
        (call.parts.get(index), reply.and_then(|(_, fields)| fields.parts.get(index)));
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
        answered: reply.and_then(|(_, fields)| fields.section(index)),
        shown: None,
        fh: None,
        fh2: None,
        new_fh: None,
    }
}

/// The status of an operation whose results were cut off: all before the last succeeded, and the
/// last has the status of the compound (RFC 8881 section 16.2.3).
fn implied(status: Option<u32>, reply: &Fields, index: usize) -> Option<u32> {
    match (reply.promised, index + 1) {
        (Some(promised), place) if place < promised as usize => Some(0),
        (Some(promised), place) if place == promised as usize => status,
        _ => status.filter(|status| *status == 0),
    }
}
