//! The messages table: calls and replies that are not the ones that an operation's row is made of.

use crate::message::{Envelope, Interner, Procedure, TRANSPORTS};
use crate::schema::{Kind as ColumnKind, Op, OPS};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, DictionaryArray, PrimitiveArray, RecordBatch, StringArray,
    TimestampMicrosecondArray, UInt16Array, UInt32Array, UInt8Array,
};
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
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
        let key = |row: &Message| row.envelope.key;
        let hosts: Vec<&str> = hosts.names().iter().map(String::as_str).collect();
        let version = |row: &Message| match row.procedure {
            Some(Procedure::Nfs(_, version)) => Some(version),
            _ => None,
        };
        let program = |row: &Message| match row.procedure {
            Some(Procedure::Other(program)) => Some(program).filter(|program| *program > 0),
            _ => None,
        };
        let times: TimestampMicrosecondArray =
            rows.iter().map(|row| Some(row.envelope.time)).collect();
        let text = |row: &Message| row.line.strip_suffix(b"\n").map(<[u8]>::to_vec);
        let port = |end: fn(&Message) -> u16| -> ArrayRef {
            Arc::new(rows.iter().map(|row| Some(end(row))).collect::<UInt16Array>())
        };
        let number = |value: &dyn Fn(&Message) -> Option<u32>| -> ArrayRef {
            Arc::new(rows.iter().map(value).collect::<UInt32Array>())
        };
        let columns: Vec<ArrayRef> = vec![
            Arc::new(times.with_timezone("UTC")),
            words(&rows, &hosts, |row| Some(key(row).server.host as usize))?,
            port(|row| row.envelope.key.server.port),
            words(&rows, &hosts, |row| Some(key(row).client.host as usize))?,
            port(|row| row.envelope.key.client.port),
            words(&rows, &TRANSPORTS, |row| Some(row.envelope.transport as usize))?,
            words(&rows, &KINDS, |row| Some(row.kind as usize))?,
            Arc::new(rows.iter().map(|row| Some(row.reply)).collect::<BooleanArray>()),
            number(&|row| Some(key(row).xid)),
            number(&program),
            Arc::new(rows.iter().map(version).collect::<UInt8Array>()),
            words(&rows, &OPS, |row| row.op.map(|op| op as usize))?,
            number(&|row| row.status),
            Arc::new(rows.iter().map(text).collect::<BinaryArray>()),
        ];
        RecordBatch::try_new(schema(), columns)
    }
}

/// A column of words, by their places among `all`.
fn words(
    rows: &[Message],
    all: &[&str],
    word: impl Fn(&Message) -> Option<usize>,
) -> Result<ArrayRef, ArrowError> {
    let keys: PrimitiveArray<Int32Type> =
        rows.iter().map(|row| word(row).map(|word| word as i32)).collect();
    let words = Arc::new(StringArray::from_iter_values(all));
    Ok(Arc::new(DictionaryArray::try_new(keys, words)?))
}

/// The Arrow schema of the messages table; `data/schema.py` says what each column means.
pub fn schema() -> SchemaRef {
    let columns = [
        ("time", ColumnKind::Time, false),
        ("server", ColumnKind::Word, false),
        ("server_port", ColumnKind::U16, false),
        ("client", ColumnKind::Word, false),
        ("client_port", ColumnKind::U16, false),
        ("transport", ColumnKind::Word, false),
        ("kind", ColumnKind::Word, false),
        ("reply", ColumnKind::Bool, false),
        ("xid", ColumnKind::U32, false),
        ("program", ColumnKind::U32, true),
        ("version", ColumnKind::U8, true),
        ("op", ColumnKind::Word, true),
        ("status", ColumnKind::U32, true),
        ("line", ColumnKind::Bytes, true),
    ];
    let field = |(name, kind, nullable): (&str, ColumnKind, bool)| {
        Field::new(name, kind.data_type(), nullable)
    };
    Arc::new(Schema::new(columns.map(field).to_vec()))
}
