//! The operations table as input for lines: the heads, resolved once per batch.

use super::line::Head;
use super::print;
use super::values::Values;
use super::WriteError;
use crate::form::{Form, LineColumns, Printed};
use crate::message::Transport;
use crate::rows::{self, Row, Rows, Words};
use crate::schema::{Column, EntryColumn, Kind, Op};
use arrow_array::RecordBatch;
use birthmark_columns::Source;

/// A printed host, or the invalid word.
type Host = Result<Box<[u8]>, String>;

fn host(word: &str) -> Host {
    print::host(word).ok_or_else(|| word.to_owned())
}

/// The heads of the lines of a batch's operations.
pub struct Heads<'a> {
    servers: Words<'a, Host>,
    clients: Words<'a, Host>,
    transports: Words<'a, Transport>,
    ops: Words<'a, Option<Op>>,
}

impl<'a> Heads<'a> {
    /// Reads the words.
    pub fn new(rows: &Rows<'a>) -> Heads<'a> {
        Heads {
            servers: rows.words(Column::Server, host),
            clients: rows.words(Column::Client, host),
            transports: rows.words(Column::Transport, |word| match word {
                "udp" => Transport::Udp,
                _ => Transport::Tcp,
            }),
            ops: rows.words(Column::Op, Op::of),
        }
    }

    /// The head of a row's lines, without the time of the reply; none for an operation of a version
    /// that the format lacks.
    pub fn of(&self, row: Row) -> Result<Option<Head<'_>>, WriteError> {
        let number = |column| row.number(column).unwrap_or_default();
        let Some(op) = self.ops.get(row).copied().flatten() else {
            return Ok(None);
        };
        let version = number(Column::Version) as u8;
        if !matches!(version, 2 | 3) {
            return Ok(None);
        }
        Ok(Some(Head {
            time: number(Column::Time) as i64,
            client: (end(&self.clients, row)?, number(Column::ClientPort) as u16),
            server: (end(&self.servers, row)?, number(Column::ServerPort) as u16),
            transport: *self.transports.get(row).unwrap_or(&Transport::Tcp),
            version,
            op,
            xid: number(Column::Xid) as u32,
        }))
    }
}

fn end<'a>(hosts: &'a Words<Host>, row: Row) -> Result<&'a [u8], WriteError> {
    match hosts.get(row) {
        Some(Ok(host)) => Ok(host),
        Some(Err(word)) => Err(WriteError::Host(word.clone())),
        None => Err(WriteError::Host(String::new())),
    }
}

/// The form of a row's call or reply.
pub fn printed(row: Row, columns: LineColumns) -> Printed {
    Printed {
        form: Form(row.number(columns.form).unwrap_or_default() as u16),
        con: row.number(columns.con).map(|con| con as u32),
        len: row.number(columns.len).map(|len| len as u32),
    }
}

impl Values for Row<'_> {
    #[inline]
    fn number(&self, column: Column) -> Option<u64> {
        Row::number(self, column)
    }

    #[inline]
    fn bytes(&self, column: Column) -> Option<&[u8]> {
        Row::bytes(self, column)
    }

    fn entries(&self) -> usize {
        Row::entries(self)
    }

    fn entry_number(&self, entry: usize, column: EntryColumn) -> Option<u64> {
        self.entry(entry)?.number(column)
    }

    fn entry_bytes(&self, entry: usize, column: EntryColumn) -> Option<&[u8]> {
        self.entry(entry)?.bytes(column)
    }
}

/// The times and lines of messages; those without a line are skipped.
pub fn lines(batch: &RecordBatch) -> Result<impl Iterator<Item = (i64, &[u8])>, WriteError> {
    let source = Source::Batch(batch);
    let times = rows::values(&source, "time", Kind::Time, true)?;
    let lines = rows::values(&source, "line", Kind::Bytes, false)?;
    let number = move |row| times.as_ref()?.number(row).map(|time| time as i64);
    Ok((0..batch.num_rows())
        .filter_map(move |row| Some((number(row)?, lines.as_ref()?.bytes(row)?))))
}
