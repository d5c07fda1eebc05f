//! The messages table: calls and replies other than those in an operation's row.

use crate::budget::{Budget, Part};
use crate::message::{Envelope, Interner, Procedure, TRANSPORTS};
use crate::schema::{Op, OPS};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, RecordBatch, UInt16Array, UInt32Array, UInt8Array,
};
use arrow_schema::ArrowError;
use birthmark_columns::arrays::{occurring, times, words};
use std::sync::Arc;

/// The most messages pending.
const WAITING: usize = 16_384;

/// The kind of a message without a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A call sent again.
    Retransmission,
    /// A reply sent again.
    DuplicateReply,
    /// A reply whose call was not seen.
    ReplyWithoutCall,
    /// A call or reply of a program that is not NFS.
    OtherProgram,
}

/// The words of the `kind` column, in the order of [`Kind`].
pub const KINDS: [&str; 4] =
    ["retransmission", "duplicate reply", "reply without call", "other program"];

/// One such message.
#[derive(Clone, Debug)]
pub struct Message {
    /// Its kind.
    pub kind: Kind,
    /// Its envelope.
    pub envelope: Envelope,
    /// Whether it is a reply.
    pub reply: bool,
    /// The procedure that it calls or answers, if known.
    pub procedure: Option<Procedure>,
    /// The operation of NFS, if known.
    pub op: Option<Op>,
    /// The NFS status of a reply.
    pub status: Option<u32>,
    /// Its line of text, with its end; empty where it has none.
    pub line: Vec<u8>,
}

/// The pending messages.
#[derive(Debug)]
pub struct Messages {
    rows: Vec<Message>,
    /// The bytes of their lines.
    bytes: usize,
    most: usize,
}

impl Default for Messages {
    fn default() -> Messages {
        let most = Budget::default().share(Part::Messages);
        Messages { rows: Vec::new(), bytes: 0, most }
    }
}

impl Messages {
    /// Adds one.
    pub fn push(&mut self, message: Message) {
        self.bytes += message.line.len();
        self.rows.push(message);
    }

    /// Whether they should be taken.
    pub fn full(&self) -> bool {
        self.rows.len() >= WAITING || self.bytes > self.most
    }

    /// Sets the bytes of lines at which it is full, from a budget.
    pub fn limit(&mut self, budget: Budget) {
        self.most = budget.share(Part::Messages);
    }

    /// The rows since the last call.
    pub fn take(&mut self, hosts: &Interner) -> Result<RecordBatch, ArrowError> {
        let rows = std::mem::take(&mut self.rows);
        self.bytes = 0;
        let version = |row: &Message| match row.procedure {
            Some(Procedure::Nfs(_, version)) => Some(version),
            _ => None,
        };
        let program = |row: &Message| match row.procedure {
            Some(Procedure::Other(program)) => Some(program).filter(|program| *program > 0),
            _ => None,
        };
        let text = |row: &Message| row.line.strip_suffix(b"\n").map(<[u8]>::to_vec);
        let port = |end: fn(&Message) -> u16| -> ArrayRef {
            Arc::new(rows.iter().map(|row| Some(end(row))).collect::<UInt16Array>())
        };
        let number = |value: &dyn Fn(&Message) -> Option<u32>| -> ArrayRef {
            Arc::new(rows.iter().map(value).collect::<UInt32Array>())
        };
        let word = |place: &dyn Fn(&Message) -> Option<u32>, all: &[&str]| {
            words(rows.iter().map(place), all)
        };
        let name = |id: u32| hosts.names().get(id as usize).map_or("", String::as_str);
        let host =
            |end: fn(&Message) -> u32| occurring(rows.iter().map(|row| Some(end(row))), name);
        let replies: BooleanArray = rows.iter().map(|row| Some(row.reply)).collect();
        let versions: UInt8Array = rows.iter().map(version).collect();
        let lines: BinaryArray = rows.iter().map(text).collect();
        RecordBatch::try_from_iter_with_nullable([
            ("time", times(rows.iter().map(|row| row.envelope.time)), false),
            ("server", host(|row| row.envelope.key.server.host), false),
            ("server_port", port(|row| row.envelope.key.server.port), false),
            ("client", host(|row| row.envelope.key.client.host), false),
            ("client_port", port(|row| row.envelope.key.client.port), false),
            ("transport", word(&|row| Some(row.envelope.transport as u32), &TRANSPORTS)?, false),
            ("kind", word(&|row| Some(row.kind as u32), &KINDS)?, false),
            ("reply", Arc::new(replies), false),
            ("xid", number(&|row| Some(row.envelope.key.xid)), false),
            ("program", number(&program), true),
            ("version", Arc::new(versions), true),
            ("op", word(&|row| row.op.map(|op| op as u32), &OPS)?, true),
            ("status", number(&|row| row.status), true),
            ("line", Arc::new(lines), true),
        ])
    }
}
