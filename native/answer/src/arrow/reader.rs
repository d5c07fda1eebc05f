//! The creates in a stream, read in place.
//!
//! A stream may hold anything. The metadata may refer to one part many times, and buffers may overlap
//! or be misaligned, so that Arrow copies them: all of that is limited first, and no allocation
//! exceeds a small multiple of the stream. Arrow then validates all arrays.

use crate::value::{MICROSECONDS, SECONDS};
use crate::{Fault, File, Value};
use arrow_array::cast::AsArray;
use arrow_array::{downcast_integer_array, make_array, Array, ArrayRef, NullArray, RecordBatch};
use arrow_buffer::Buffer;
use arrow_data::{layout, ArrayData, BufferSpec};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{root_as_message_with_opts, FieldNode, Message, MetadataVersion};
use arrow_schema::{DataType, Schema, SchemaRef, TimeUnit};
use birthmark_contract::create::{Kind, Member, FILES, MEMBERS};
use flatbuffers::{InvalidFlatbuffer, VectorIter, VerifierOptions};
use std::array::from_fn;
use std::iter::repeat_n;
use std::sync::Arc;

/// The size of a message's metadata if its objects shared no parts, by its size. Writers share
/// little but tables of offsets.
const APPARENT: usize = 8;

/// Marks the length of a message; streams of before Arrow 0.15 have none.
const CONTINUATION: u32 = u32::MAX;

/// A member's values, by row; empty if the stream lacks it.
type Column<'a> = Vec<Option<Value<'a>>>;

/// Calls `each` with each create of a stream.
///
/// # Errors
///
/// If it is no such stream, or a batch is compressed; else its first invalid column or value.
pub fn read(stream: &Buffer, mut each: impl FnMut(&File)) -> Result<(), Fault> {
    let batches = read_batches(stream)?;
    let columns: Result<Vec<Column>, Fault> =
        MEMBERS.iter().map(|member| read_column(member, &batches)).collect();
    let mut columns = columns?;
    for row in 0..batches.iter().map(RecordBatch::num_rows).sum() {
        each(&File::of(from_fn(|place| columns[place].get_mut(row).and_then(Option::take))));
    }
    Ok(())
}

/// Checks that no batch of a stream is compressed: a buffer may grow a thousandfold when read.
///
/// # Errors
///
/// If one is, or the stream is malformed.
pub fn check_uncompressed(stream: &Buffer) -> Result<(), Fault> {
    let mut messages = Messages { stream, at: 0 };
    while let Some((message, _)) = messages.next()? {
        let dictionary = message.header_as_dictionary_batch();
        let batch = message.header_as_record_batch().or_else(|| dictionary?.data());
        if batch.is_some_and(|batch| batch.compression().is_some()) {
            return Err(compressed());
        }
    }
    Ok(())
}

fn compressed() -> Fault {
    Fault::arrow("a batch is compressed")
}

fn cut_off<T>(_: T) -> Fault {
    Fault::arrow("it is cut off")
}

/// The messages of a stream.
struct Messages<'a> {
    stream: &'a Buffer,
    at: usize,
}

impl<'a> Messages<'a> {
    /// The next message and its body; none at the end.
    fn next(&mut self) -> Result<Option<(Message<'a>, Buffer)>, Fault> {
        if self.at == self.stream.len() {
            return Ok(None);
        }
        let mut size = self.size()?;
        if size == CONTINUATION {
            size = self.size()?;
        }
        if size == 0 {
            return Ok(None);
        }
        let metadata = &self.stream[self.take(size.into())?..self.at];
        let max_apparent_size = APPARENT * metadata.len();
        let options = VerifierOptions { max_apparent_size, ..VerifierOptions::default() };
        // The other lines of the error trace the verifier.
        let first_line = |error: InvalidFlatbuffer| {
            Fault::arrow(error.to_string().lines().next().unwrap_or_default())
        };
        let message = root_as_message_with_opts(&options, metadata).map_err(first_line)?;
        let start = self.take(message.bodyLength())?;
        Ok(Some((message, self.stream.slice_with_length(start, self.at - start))))
    }

    fn size(&mut self) -> Result<u32, Fault> {
        let start = self.take(4)?;
        self.stream[start..self.at].try_into().map(u32::from_le_bytes).map_err(cut_off)
    }

    /// Passes `length` bytes, and returns where they begin.
    fn take(&mut self, length: i64) -> Result<usize, Fault> {
        let start = self.at;
        let length = usize::try_from(length).map_err(cut_off)?;
        self.at = start.saturating_add(length);
        match self.at <= self.stream.len() {
            true => Ok(start),
            false => Err(cut_off(())),
        }
    }
}

/// The batches of a stream, with at most `FILES` rows and the columns of creates.
fn read_batches(stream: &Buffer) -> Result<Vec<RecordBatch>, Fault> {
    let mut messages = Messages { stream, at: 0 };
    let (first, _) = messages.next()?.ok_or_else(|| Fault::arrow("it has no schema"))?;
    let schema = Arc::new(read_schema(&first)?);
    let (mut batches, mut rows) = (Vec::new(), 0);
    while let Some((message, body)) = messages.next()? {
        let batch = read_batch(&message, &body, &schema)?;
        rows = batch.num_rows().saturating_add(rows);
        if rows > FILES {
            return Err(Fault::request(format!("at most {FILES} rows")));
        }
        batches.push(batch);
    }
    Ok(batches)
}

fn read_schema(message: &Message) -> Result<Schema, Fault> {
    let schema = message.header_as_schema().ok_or_else(|| Fault::arrow("it has no schema"))?;
    if message.version() < MetadataVersion::V4 || schema.endianness().0 != 0 {
        return Err(Fault::arrow("it is not little-endian, or too old"));
    }
    let schema = try_fb_to_schema(schema).map_err(Fault::arrow)?;
    check_columns(&schema)?;
    // As values are checked themselves, whether a column declares that it has no null is immaterial.
    let fields = schema.fields.iter().map(|field| field.as_ref().clone().with_nullable(true));
    Ok(Schema::new(fields.collect::<Vec<_>>()))
}

fn check_columns(schema: &Schema) -> Result<(), Fault> {
    for (place, field) in schema.fields.iter().enumerate() {
        let (name, found) = (field.name().as_str(), field.data_type());
        let refuse = |expected: String| Err(Fault::request(expected).of(name));
        let is_first = schema.index_of(name).is_ok_and(|first| first == place);
        let Some(member) = members().find(|member| is_first && member.name == name) else {
            let names: Vec<_> = members().map(|member| member.name).collect();
            return refuse(format!("the columns {}, each at most once", names.join(", ")));
        };
        let may_lack = *found == DataType::Null && !member.needed;
        if !may_lack && !holds(found, member.kind) {
            let expected = type_of(member.kind);
            return refuse(format!("{expected}, found {}", name_of(found)));
        }
        if let DataType::Timestamp(_, None) = found {
            return refuse(format!("times with a time zone, found {}", name_of(found)));
        }
    }
    match members().find(|member| member.needed && schema.index_of(member.name).is_err()) {
        Some(Member { name, .. }) => Err(Fault::request(format!("a column of {name}s")).of(name)),
        None => Ok(()),
    }
}

fn members() -> impl Iterator<Item = &'static Member> {
    MEMBERS.iter().filter(|member| member.files)
}

/// Whether a type holds values of a kind, and each once: a dictionary could repeat a long text in
/// every row.
fn holds(found: &DataType, kind: Kind) -> bool {
    let is_bytes = matches!(found, DataType::Binary | DataType::LargeBinary);
    let is_text = matches!(found, DataType::Utf8 | DataType::LargeUtf8);
    match kind {
        Kind::Name { .. } | Kind::Path { .. } => is_bytes || is_text,
        Kind::Bytes { .. } | Kind::Opaque { .. } => is_bytes,
        Kind::Text { .. } => is_text,
        Kind::Number { .. } | Kind::Inode => found.is_integer(),
        Kind::Time => matches!(found, DataType::Timestamp(..)),
        Kind::Flag => false,
    }
}

/// The type that values of a kind are read as, as Arrow for Python writes it.
fn type_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Name { .. } | Kind::Path { .. } | Kind::Bytes { .. } | Kind::Opaque { .. } => {
            "binary"
        }
        Kind::Number { .. } => "uint32",
        Kind::Inode => "uint64",
        Kind::Text { .. } => "string",
        Kind::Time => "timestamp[us, tz=UTC]",
        Kind::Flag => "bool",
    }
}

/// A type as Arrow for Python writes it, if it is no nested one.
fn name_of(found: &DataType) -> String {
    match found {
        DataType::Utf8 => "string".to_owned(),
        DataType::LargeUtf8 => "large_string".to_owned(),
        DataType::LargeBinary => "large_binary".to_owned(),
        DataType::Boolean => "bool".to_owned(),
        DataType::Float32 => "float".to_owned(),
        DataType::Float64 => "double".to_owned(),
        DataType::Timestamp(unit, None) => format!("timestamp[{}]", unit_of(unit)),
        DataType::Timestamp(unit, Some(zone)) => format!("timestamp[{}, tz={zone}]", unit_of(unit)),
        other => other.to_string().to_lowercase(),
    }
}

fn unit_of(unit: &TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

/// The buffers of a batch: slices of its body, which together are no longer than it.
struct Buffers<'a> {
    body: &'a Buffer,
    free: usize,
    rest: VectorIter<'a, arrow_ipc::Buffer>,
}

impl Buffers<'_> {
    fn next(&mut self) -> Result<Buffer, Fault> {
        let buffer = self.rest.next().ok_or_else(|| cut_off(()))?;
        let length = usize::try_from(buffer.length()).map_err(cut_off)?;
        let start = usize::try_from(buffer.offset()).map_err(cut_off)?;
        let is_within = start.checked_add(length).is_some_and(|end| end <= self.body.len());
        self.free = self.free.checked_sub(length).ok_or_else(|| cut_off(()))?;
        is_within.then(|| self.body.slice_with_length(start, length)).ok_or_else(|| cut_off(()))
    }
}

/// Reads a batch, whose arrays are validated in full.
fn read_batch(message: &Message, body: &Buffer, schema: &SchemaRef) -> Result<RecordBatch, Fault> {
    let batch = message.header_as_record_batch();
    let batch = batch.ok_or_else(|| Fault::arrow("a message is no batch"))?;
    if batch.compression().is_some() {
        return Err(compressed());
    }
    let (Some(nodes), Some(buffers)) = (batch.nodes(), batch.buffers()) else {
        return Err(cut_off(()));
    };
    let mut buffers = Buffers { body, free: body.len(), rest: buffers.iter() };
    let mut nodes = nodes.iter();
    let columns: Result<_, _> = schema
        .fields
        .iter()
        .map(|field| read_array(field.data_type(), nodes.next(), &mut buffers))
        .collect();
    RecordBatch::try_new(schema.clone(), columns?).map_err(Fault::arrow)
}

fn read_array(
    data_type: &DataType,
    node: Option<&FieldNode>,
    buffers: &mut Buffers,
) -> Result<ArrayRef, Fault> {
    let node = node.ok_or_else(|| cut_off(()))?;
    let (rows, nulls) = (node.length(), node.null_count());
    let rows = usize::try_from(rows).ok().filter(|_| (0..=rows).contains(&nulls));
    let rows = rows.ok_or_else(|| Fault::arrow("lengths that cannot be"))?;
    if *data_type == DataType::Null {
        return Ok(Arc::new(NullArray::new(rows)));
    }
    let validity = Some(buffers.next()?).filter(|_| nulls > 0);
    let mut array = ArrayData::builder(data_type.clone()).len(rows).null_bit_buffer(validity);
    for spec in layout(data_type).buffers {
        let buffer = buffers.next()?;
        // arrow-data panics on a part of a value.
        let width =
            if let BufferSpec::FixedWidth { byte_width, .. } = spec { byte_width } else { 1 };
        array = array.add_buffer(buffer.slice_with_length(0, buffer.len() / width * width));
    }
    let array = array.null_count(nulls as usize).align_buffers(true).build();
    Ok(make_array(array.map_err(Fault::arrow)?))
}

/// The checked values of a member.
fn read_column<'a>(member: &Member, batches: &'a [RecordBatch]) -> Result<Column<'a>, Fault> {
    let mut column = Vec::new();
    for array in batches.iter().filter_map(|batch| batch.column_by_name(member.name)) {
        read_values(member.kind, array, &mut column).map_err(|why| {
            Fault::request(format!("{}: {why}", type_of(member.kind))).of(member.name)
        })?;
    }
    for (row, value) in column.iter().enumerate() {
        let invalid = |expected: String| Fault::request(expected).of(member.name);
        match value {
            Some(value) => {
                check(member.kind, value).map_err(|expected| invalid(expected).at(Some(row)))?
            }
            None if member.needed => {
                return Err(invalid(format!("a {} in every row", member.name)))
            }
            None => {}
        }
    }
    Ok(column)
}

fn read_values<'a>(kind: Kind, array: &'a dyn Array, to: &mut Column<'a>) -> Result<(), String> {
    let of_bytes = |bytes: &'a [u8]| match kind {
        Kind::Name { .. } => Value::Name(bytes.into(), ""),
        _ => Value::Bytes(bytes.into()),
    };
    let of_text = |text: &'a str| match kind {
        Kind::Text { .. } => Value::Text(text.into()),
        _ => of_bytes(text.as_bytes()),
    };
    match array.data_type() {
        DataType::Binary => to.extend(array.as_binary::<i32>().iter().map(|own| own.map(of_bytes))),
        DataType::LargeBinary => {
            to.extend(array.as_binary::<i64>().iter().map(|own| own.map(of_bytes)));
        }
        DataType::Utf8 => to.extend(array.as_string::<i32>().iter().map(|own| own.map(of_text))),
        DataType::LargeUtf8 => {
            to.extend(array.as_string::<i64>().iter().map(|own| own.map(of_text)));
        }
        DataType::Timestamp(unit, _) => {
            let data = array.to_data();
            for (row, time) in data.buffer::<i64>(0).iter().take(array.len()).enumerate() {
                let micros = array.is_valid(row).then(|| in_micros(*time, unit)).transpose();
                to.push(micros.map_err(|why| casting(array, why, *time))?.map(Value::Time));
            }
        }
        _ => downcast_integer_array!(
            array => {
                for number in array.iter() {
                    to.push(number.map(|number| whole(kind, number.into())).transpose()?);
                }
            }
            _ => to.extend(repeat_n(None, array.len()))
        ),
    }
    Ok(())
}

fn whole(kind: Kind, number: i128) -> Result<Value<'static>, String> {
    let (value, most) = match kind {
        Kind::Inode => (u64::try_from(number).ok().map(Value::Inode), u64::MAX),
        _ => (u32::try_from(number).ok().map(Value::Number), u32::MAX.into()),
    };
    value.ok_or_else(|| format!("Integer value {number} not in range: 0 to {most}"))
}

/// A time in microseconds, or why it cannot be.
fn in_micros(time: i64, unit: &TimeUnit) -> Result<i64, &'static str> {
    let multiple = |factor| time.checked_mul(factor).ok_or("result in out of bounds timestamp");
    match unit {
        TimeUnit::Second => multiple(MICROSECONDS),
        TimeUnit::Millisecond => multiple(1000),
        TimeUnit::Microsecond => Ok(time),
        TimeUnit::Nanosecond if time % 1000 == 0 => Ok(time / 1000),
        TimeUnit::Nanosecond => Err("lose data"),
    }
}

fn casting(array: &dyn Array, why: &str, value: i64) -> String {
    let (from, to) = (name_of(array.data_type()), type_of(Kind::Time));
    format!("Casting from {from} to {to} would {why}: {value}")
}

/// Refuses a value that is invalid in JSON, too; says what was expected.
fn check(kind: Kind, value: &Value) -> Result<(), String> {
    let (bytes, number) = match value {
        Value::Name(bytes, _) | Value::Bytes(bytes) => (&**bytes, 0),
        Value::Number(number) => (&[][..], *number),
        _ => (&[][..], 0),
    };
    let is_short = |most: usize| (1..=most).contains(&bytes.len());
    let expected = match (kind, value) {
        (Kind::Name { most } | Kind::Path { most } | Kind::Opaque { most }, _)
            if !is_short(most) =>
        {
            format!("1 to {most} bytes")
        }
        (Kind::Name { .. }, _) if memchr::memchr2(b'/', 0, bytes).is_some() => {
            "a name in its directory, without / and NUL".to_owned()
        }
        (Kind::Path { .. }, _) if memchr::memchr(0, bytes).is_some() => {
            "a path, without NUL".to_owned()
        }
        (Kind::Bytes { len }, _) if bytes.len() != len => format!("{len} bytes"),
        (Kind::Number { most, .. }, _) if number > most => format!("at most {most}"),
        (Kind::Text { most }, Value::Text(text)) if !(1..=most).contains(&text.chars().count()) => {
            format!("1 to {most} characters")
        }
        (Kind::Time, Value::Time(time)) if !SECONDS.contains(&time.div_euclid(MICROSECONDS)) => {
            "a time of the years 1 to 9999 UTC".to_owned()
        }
        _ => return Ok(()),
    };
    Err(expected)
}
