//! The operations table as lines are printed from it: typed columns, resolved once per batch.

use super::form::Form;
use super::line::{Head, Printed};
use super::print;
use super::values::Values;
use super::{LineColumns, WriteError};
use crate::message::Transport;
use crate::schema::{Column, EntryColumn, Kind, Op, COLUMNS, ENTRY_COLUMNS, OPS};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int32Type, TimestampMicrosecondType, UInt16Type, UInt32Type, UInt64Type, UInt8Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, ListArray, PrimitiveArray, RecordBatch, StructArray,
};

/// A column's values; none where it is missing or all null.
enum Source<'a> {
    None,
    Bool(&'a BooleanArray),
    U8(&'a PrimitiveArray<UInt8Type>),
    U16(&'a PrimitiveArray<UInt16Type>),
    U32(&'a PrimitiveArray<UInt32Type>),
    U64(&'a PrimitiveArray<UInt64Type>),
    Time(&'a PrimitiveArray<TimestampMicrosecondType>),
    Bytes(&'a BinaryArray),
}

impl<'a> Source<'a> {
    fn new(name: &str, kind: Kind, array: &'a ArrayRef) -> Result<Source<'a>, WriteError> {
        let expected = kind.data_type();
        if array.data_type() != &expected {
            let (name, found) = (name.to_owned(), array.data_type().to_string());
            return Err(WriteError::Type { name, found, expected: expected.to_string() });
        }
        if array.null_count() == array.len() {
            return Ok(Source::None);
        }
        Ok(match kind {
            Kind::Bool => Source::Bool(array.as_boolean()),
            Kind::U8 => Source::U8(array.as_primitive()),
            Kind::U16 => Source::U16(array.as_primitive()),
            Kind::U32 => Source::U32(array.as_primitive()),
            Kind::U64 => Source::U64(array.as_primitive()),
            Kind::Time => Source::Time(array.as_primitive()),
            Kind::Bytes => Source::Bytes(array.as_binary()),
            Kind::Word => Source::None,
        })
    }

    #[inline]
    fn number(&self, row: usize) -> Option<u64> {
        macro_rules! get {
            ($array:expr) => {
                $array.is_valid(row).then(|| $array.value(row))
            };
        }
        match self {
            Source::Bool(array) => get!(array).map(u64::from),
            Source::U8(array) => get!(array).map(u64::from),
            Source::U16(array) => get!(array).map(u64::from),
            Source::U32(array) => get!(array).map(u64::from),
            Source::U64(array) => get!(array),
            Source::Time(array) => get!(array).map(|time| time as u64),
            Source::Bytes(_) | Source::None => None,
        }
    }

    #[inline]
    fn bytes(&self, row: usize) -> Option<&'a [u8]> {
        match self {
            Source::Bytes(array) => array.is_valid(row).then(|| array.value(row)),
            _ => None,
        }
    }
}

/// A column of words: the meaning of each, by row.
struct Words<'a, T> {
    keys: &'a PrimitiveArray<Int32Type>,
    meanings: Vec<T>,
}

impl<'a, T> Words<'a, T> {
    fn new(
        batch: &'a RecordBatch,
        name: &str,
        meaning: impl Fn(&str) -> T,
    ) -> Result<Words<'a, T>, WriteError> {
        let array = required(batch, name)?;
        let wrong = || WriteError::Type {
            name: name.to_owned(),
            found: array.data_type().to_string(),
            expected: Kind::Word.data_type().to_string(),
        };
        if array.data_type() != &Kind::Word.data_type() {
            return Err(wrong());
        }
        let words = array.as_dictionary::<Int32Type>();
        let values = words.values().as_string_opt::<i32>().ok_or_else(wrong)?;
        Ok(Words { keys: words.keys(), meanings: values.iter().flatten().map(meaning).collect() })
    }

    fn get(&self, row: usize) -> Option<&T> {
        self.keys.is_valid(row).then(|| self.meanings.get(self.keys.value(row) as usize))?
    }
}

fn required<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef, WriteError> {
    let array = batch.column_by_name(name).ok_or_else(|| WriteError::Missing(name.to_owned()))?;
    if array.null_count() > 0 {
        return Err(WriteError::Null(name.to_owned()));
    }
    Ok(array)
}

/// A printed host, or the word that is none.
type Host = Result<Box<[u8]>, String>;

fn host(word: &str) -> Host {
    print::host(word).ok_or_else(|| word.to_owned())
}

/// A batch of operations.
pub struct Rows<'a> {
    columns: Vec<Source<'a>>,
    servers: Words<'a, Host>,
    clients: Words<'a, Host>,
    transports: Words<'a, Transport>,
    ops: Words<'a, Option<Op>>,
    lists: Option<&'a ListArray>,
    entries: Vec<Source<'a>>,
}

impl<'a> Rows<'a> {
    /// Finds the columns; those that may be null may be missing.
    pub fn new(batch: &'a RecordBatch) -> Result<Rows<'a>, WriteError> {
        let mut columns = Vec::with_capacity(COLUMNS.len());
        for (_, name, kind, needed) in COLUMNS {
            let array = match batch.column_by_name(name) {
                None if !needed => None,
                _ if *needed => Some(required(batch, name)?),
                found => found,
            };
            columns.push(match array {
                Some(array) if *kind != Kind::Word => Source::new(name, *kind, array)?,
                _ => Source::None,
            });
        }
        let (lists, entries) = lists(batch)?;
        Ok(Rows {
            columns,
            servers: Words::new(batch, "server", host)?,
            clients: Words::new(batch, "client", host)?,
            transports: Words::new(batch, "transport", |word| match word {
                "udp" => Transport::Udp,
                _ => Transport::Tcp,
            })?,
            ops: Words::new(batch, "op", |word| {
                OPS.iter().position(|op| *op == word).map(|op| Op::ALL[op])
            })?,
            lists,
            entries,
        })
    }

    /// One row.
    pub fn row(&self, row: usize) -> Row<'_> {
        Row { rows: self, row }
    }
}

type Lists<'a> = (Option<&'a ListArray>, Vec<Source<'a>>);

fn lists(batch: &RecordBatch) -> Result<Lists<'_>, WriteError> {
    let name = "entries";
    let Some(array) = batch.column_by_name(name) else {
        return Ok((None, Vec::new()));
    };
    let structs = array.as_list_opt::<i32>().and_then(|lists| {
        let structs: Option<&StructArray> = lists.values().as_struct_opt();
        Some((lists, structs?))
    });
    let Some((lists, structs)) = structs else {
        return Err(WriteError::Type {
            name: name.to_owned(),
            found: array.data_type().to_string(),
            expected: "a list of directory entries".to_owned(),
        });
    };
    if lists.null_count() == lists.len() {
        return Ok((None, Vec::new()));
    }
    let mut entries = Vec::with_capacity(ENTRY_COLUMNS.len());
    for (_, name, kind, _) in ENTRY_COLUMNS {
        entries.push(match structs.column_by_name(name) {
            Some(array) => Source::new(name, *kind, array)?,
            None => Source::None,
        });
    }
    Ok((Some(lists), entries))
}

/// A row of a batch.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    rows: &'a Rows<'a>,
    row: usize,
}

impl<'a> Row<'a> {
    /// What begins its lines, but for the time of the reply; none for an operation of no version
    /// that the format knows.
    pub fn head(&self) -> Result<Option<Head<'a>>, WriteError> {
        let number = |column| self.number(column).unwrap_or_default();
        let Some(op) = self.rows.ops.get(self.row).copied().flatten() else {
            return Ok(None);
        };
        let version = number(Column::Version) as u8;
        if !matches!(version, 2 | 3) {
            return Ok(None);
        }
        Ok(Some(Head {
            time: number(Column::Time) as i64,
            client: (self.end(&self.rows.clients)?, number(Column::ClientPort) as u16),
            server: (self.end(&self.rows.servers)?, number(Column::ServerPort) as u16),
            transport: *self.rows.transports.get(self.row).unwrap_or(&Transport::Tcp),
            version,
            op,
            xid: number(Column::Xid) as u32,
        }))
    }

    fn end(&self, hosts: &'a Words<'a, Host>) -> Result<&'a [u8], WriteError> {
        match hosts.get(self.row) {
            Some(Ok(host)) => Ok(host),
            Some(Err(word)) => Err(WriteError::Host(word.clone())),
            None => Err(WriteError::Host(String::new())),
        }
    }

    /// How a message was printed.
    pub fn printed(&self, columns: LineColumns) -> Printed {
        Printed {
            form: Form(self.number(columns.form).unwrap_or_default() as u16),
            con: self.number(columns.con).map(|con| con as u32),
            len: self.number(columns.len).map(|len| len as u32),
        }
    }
}

impl Values for Row<'_> {
    #[inline]
    fn number(&self, column: Column) -> Option<u64> {
        self.rows.columns[column as usize].number(self.row)
    }

    #[inline]
    fn bytes(&self, column: Column) -> Option<&[u8]> {
        self.rows.columns[column as usize].bytes(self.row)
    }

    fn entries(&self) -> usize {
        self.rows
            .lists
            .filter(|lists| lists.is_valid(self.row))
            .map_or(0, |lists| lists.value_length(self.row) as usize)
    }

    fn entry_number(&self, entry: usize, column: EntryColumn) -> Option<u64> {
        let at = *self.rows.lists?.value_offsets().get(self.row)? as usize;
        self.rows.entries.get(column as usize)?.number(at + entry)
    }

    fn entry_bytes(&self, entry: usize, column: EntryColumn) -> Option<&[u8]> {
        let at = *self.rows.lists?.value_offsets().get(self.row)? as usize;
        self.rows.entries.get(column as usize)?.bytes(at + entry)
    }
}

/// The times and lines of messages; those without a line are passed over.
pub fn lines(batch: &RecordBatch) -> Result<impl Iterator<Item = (i64, &[u8])>, WriteError> {
    let times = Source::new("time", Kind::Time, required(batch, "time")?)?;
    let line = batch.column_by_name("line");
    let line = line.ok_or_else(|| WriteError::Missing("line".to_owned()))?;
    let lines = Source::new("line", Kind::Bytes, line)?;
    Ok((0..batch.num_rows())
        .filter_map(move |row| Some((times.number(row)? as i64, lines.bytes(row)?))))
}
