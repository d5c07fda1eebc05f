//! The messages table: calls and replies that are not the ones that an operation's row is made of.

use crate::arrays::{times, words};
use crate::message::{Envelope, Interner, Procedure, TRANSPORTS};
use crate::schema::{Op, OPS};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, RecordBatch, UInt16Array, UInt32Array, UInt8Array,
};
use arrow_schema::ArrowError;
use std::sync::Arc;

/// How many wait until they are taken.
const WAITING: usize = 16_384;

/// What a message is, being none that a row is made of.
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
    /// What it is.
    pub kind: Kind,
    /// When, between whom, which.
    pub envelope: Envelope,
    /// Whether it is a reply.
    pub reply: bool,
    /// What it calls or answers, where that is known.
    pub procedure: Option<Procedure>,
    /// The operation of NFS, where that is known.
    pub op: Option<Op>,
    /// The NFS status of a reply.
    pub status: Option<u32>,
    /// Its line of text, with its end; empty where it has none.
    pub line: Vec<u8>,
}

/// Those not yet taken.
#[derive(Debug, Default)]
pub struct Messages(Vec<Message>);

impl Messages {
    /// Adds one.
    pub fn push(&mut self, message: Message) {
        self.0.push(message);
    }

    /// Whether it is time to take them.
    pub fn full(&self) -> bool {
        self.0.len() >= WAITING
    }

    /// The rows since the last time.
    pub fn take(&mut self, hosts: &Interner) -> Result<RecordBatch, ArrowError> {
        let rows = std::mem::take(&mut self.0);
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
        let host =
            |end: fn(&Message) -> u32| words(rows.iter().map(|row| Some(end(row))), hosts.names());
        let replies: BooleanArray = rows.iter().map(|row| Some(row.reply)).collect();
        let versions: UInt8Array = rows.iter().map(version).collect();
        let lines: BinaryArray = rows.iter().map(text).collect();
        RecordBatch::try_from_iter_with_nullable([
            ("time", times(rows.iter().map(|row| row.envelope.time)), false),
            ("server", host(|row| row.envelope.key.server.host)?, false),
            ("server_port", port(|row| row.envelope.key.server.port), false),
            ("client", host(|row| row.envelope.key.client.host)?, false),
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
