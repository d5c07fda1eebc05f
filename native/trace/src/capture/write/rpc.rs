//! Calls and replies with their RPC headers (RFC 5531).

use super::super::codec::Codec;
use super::super::nfs3;
use super::super::rpc::{AUTH_UNIX, CALL, DENIAL, NFS, REFUSED, REPLY, RPC_VERSION};
use super::encoder::Encoder;
use super::words::Words;
use crate::rows::Row;
use crate::schema::{Column, Op};

/// The longest machine name of AUTH_UNIX, and the most groups (RFC 5531 appendix A).
const MACHINE: usize = 255;
const GROUPS: usize = 16;
/// `accept_stat`: the server lacks the version, and states which it has.
const MISMATCH: u32 = 2;

/// A message, and how much of it is captured.
#[derive(Debug, PartialEq, Eq)]
pub struct Message {
    /// The bytes before a file's data.
    pub bytes: Vec<u8>,
    /// Zeros after them: a file's data, and padding.
    pub zeros: usize,
    /// How many of all these are captured.
    pub captured: usize,
}

impl Message {
    /// Its length on the wire.
    pub fn length(&self) -> usize {
        self.bytes.len() + self.zeros
    }
}

/// Makes the call of a row, and the reply if there was one.
pub fn messages(row: Row, op: Op, most_data: usize) -> (Message, Option<Message>) {
    let call = call(row, op, most_data);
    let reply = row.number(Column::ReplyTime).map(|_| reply(row, op, most_data));
    let short = row.number(Column::Short) == Some(1);
    // a call was cut if a required value is missing; a reply may end anywhere
    let call_cut = short && (call.lacking || reply.is_none());
    let reply = reply.map(|reply| {
        let cut = short && (reply.lacking || !call_cut);
        message(reply, cut)
    });
    (message(call, call_cut), reply)
}

fn message(e: Encoder, cut: bool) -> Message {
    let whole = e.words.0.len() + e.zeros;
    let captured = if cut { e.known } else { whole };
    Message { zeros: e.zeros, captured, bytes: e.words.0 }
}

fn call<'a>(row: Row<'a>, op: Op, most_data: usize) -> Encoder<'a> {
    let [xid, version] = [Column::Xid, Column::Version].map(|c| word(row, c));
    let head = Words::of(&[xid, CALL, RPC_VERSION, NFS, version, op as u32]);
    let mut e = Encoder::new(row, head, most_data);
    credentials(&mut e, op);
    let Ok(()) = nfs3::arguments(op, &mut e);
    e
}

/// Credentials, of AUTH_UNIX if the caller is known, and no verifier.
fn credentials(e: &mut Encoder, op: Op) {
    let known = [Column::Uid, Column::Gid].iter().any(|&column| e.row.number(column).is_some());
    if known {
        let machine = e.row.bytes(Column::Machine).unwrap_or_default();
        let mut gids = e.row.gids();
        gids.truncate(GROUPS);
        let [uid, gid] = [Column::Uid, Column::Gid].map(|column| word(e.row, column));
        let unix = Words::of(&[0])
            .opaque(&machine[..machine.len().min(MACHINE)])
            .words(&[uid, gid, gids.len() as u32])
            .words(&gids);
        e.words.put(&[AUTH_UNIX]);
        e.words.put_opaque(&unix.0);
    } else {
        e.words.put(&[0, 0]);
    }
    e.words.put(&[0, 0]);
    // calls of the null procedure need no caller
    e.account(known || op == Op::Null);
}

fn reply<'a>(row: Row<'a>, op: Op, most_data: usize) -> Encoder<'a> {
    let status = row.number(Column::Status);
    let refusal = status.and_then(|status| (status as u32).checked_sub(REFUSED));
    let mut head = Words::of(&[word(row, Column::Xid), REPLY]);
    if let Some(refusal) = refusal {
        refused(refusal, &mut head);
        return Encoder::new(row, head, most_data);
    }
    head.put(&[0, 0, 0, 0]);
    let mut e = Encoder::new(row, head, most_data);
    if op != Op::Null {
        let Ok(()) = e.words(&[Column::Status]);
        let Ok(()) = nfs3::results(op, status == Some(0), &mut e);
    }
    e
}

/// A refusal as [`super::super::rpc::refusal`] reads it. Versions are those of RPC and of NFS.
fn refused(refusal: u32, to: &mut Words) {
    match refusal.checked_sub(DENIAL) {
        Some(0) => to.put(&[1, 0, RPC_VERSION, RPC_VERSION]),
        Some(why) => to.put(&[1, 1, why]),
        None => to.put(&[0, 0, 0, refusal]),
    }
    if refusal == MISMATCH {
        to.put(&[2, 4]);
    }
}

fn word(row: Row, column: Column) -> u32 {
    row.number(column).unwrap_or_default() as u32
}
