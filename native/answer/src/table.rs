//! The creates in bodies, as a table (`features.CREATES`).

use super::reader::{Reader, Shape};
use super::{arrow, Fault, File, Value};
use arrow_array::builder::{
    BinaryBuilder, BooleanBuilder, StringBuilder, TimestampMicrosecondBuilder, UInt32Builder,
    UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_schema::ArrowError;
use birthmark_contract::create::{Asked, Kind, MEMBERS};
use std::sync::Arc;

/// The columns of requests.
pub struct Table {
    asked: Asked,
    /// By member.
    columns: Vec<(usize, Column)>,
}

enum Column {
    Bytes(BinaryBuilder),
    Number(UInt32Builder),
    Inode(UInt64Builder),
    Text(StringBuilder),
    Time(TimestampMicrosecondBuilder),
    Flag(BooleanBuilder),
}

impl Table {
    /// A table without creates.
    pub fn new(asked: Asked) -> Self {
        let places = (0..MEMBERS.len()).filter(|place| MEMBERS[*place].belongs_to(asked));
        let columns = places.map(|place| (place, Column::of(MEMBERS[place].kind)));
        Table { asked, columns: columns.collect() }
    }

    /// Adds the creates of a body, and calls `each` with each.
    ///
    /// # Errors
    ///
    /// If the body is invalid; then the table must not be used.
    pub fn add(&mut self, body: &[u8], mut each: impl FnMut(&File)) -> Result<Shape, Fault> {
        Reader::read(self.asked, body, |file| {
            push(&mut self.columns, file);
            each(file);
        })
    }

    /// Adds the creates of a stream in Arrow.
    ///
    /// # Errors
    ///
    /// If the stream is invalid; then the table must not be used.
    pub fn add_arrow(&mut self, stream: &Buffer) -> Result<(), Fault> {
        arrow::read(stream, |file| push(&mut self.columns, file))
    }

    /// The whole table: columns of creates by their names there, other members by theirs.
    ///
    /// # Errors
    ///
    /// None is known.
    pub fn finish(self) -> Result<RecordBatch, ArrowError> {
        let columns = self.columns.into_iter().map(|(place, column)| {
            let member = &MEMBERS[place];
            (member.column.unwrap_or(member.name), column.finish(), true)
        });
        RecordBatch::try_from_iter_with_nullable(columns)
    }
}

fn push(columns: &mut [(usize, Column)], file: &File) {
    columns.iter_mut().for_each(|(place, column)| column.push(file.value(*place)));
}

impl Column {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Name { .. } | Kind::Path { .. } | Kind::Bytes { .. } | Kind::Opaque { .. } => {
                Column::Bytes(<_>::default())
            }
            Kind::Inode => Column::Inode(<_>::default()),
            Kind::Number { .. } => Column::Number(<_>::default()),
            Kind::Text { .. } => Column::Text(<_>::default()),
            Kind::Time => Column::Time(<_>::default()),
            Kind::Flag => Column::Flag(<_>::default()),
        }
    }

    /// Adds a value; without one, false for a flag, else null.
    fn push(&mut self, value: Option<&Value>) {
        match (self, value) {
            (Column::Bytes(column), Some(Value::Name(bytes, _))) => column.append_value(bytes),
            (Column::Bytes(column), Some(Value::Bytes(bytes))) => column.append_value(bytes),
            (Column::Bytes(column), _) => column.append_null(),
            (Column::Number(column), Some(Value::Number(number))) => column.append_value(*number),
            (Column::Number(column), _) => column.append_null(),
            (Column::Inode(column), Some(Value::Inode(number))) => column.append_value(*number),
            (Column::Inode(column), _) => column.append_null(),
            (Column::Text(column), Some(Value::Text(text))) => column.append_value(text),
            (Column::Text(column), _) => column.append_null(),
            (Column::Time(column), Some(Value::Time(time))) => column.append_value(*time),
            (Column::Time(column), _) => column.append_null(),
            (Column::Flag(column), value) => column.append_value(value == Some(&Value::Flag(true))),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Column::Bytes(mut column) => Arc::new(column.finish()),
            Column::Number(mut column) => Arc::new(column.finish()),
            Column::Inode(mut column) => Arc::new(column.finish()),
            Column::Text(mut column) => Arc::new(column.finish()),
            Column::Time(mut column) => Arc::new(column.finish().with_timezone("UTC")),
            Column::Flag(mut column) => Arc::new(column.finish()),
        }
    }
}
