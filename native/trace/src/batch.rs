//! Rows gathered into Arrow record batches.
//!
//! A column that no row of a batch sets costs nothing per row: values are padded only when one is
//! set, and an unset column becomes a null array.

use crate::budget::{Budget, Part};
use crate::fields::{Entries, Fields, Section};
use crate::schema::{self, Column, Kind, COLUMNS, ENTRY_COLUMNS, OPS};
use arrow_array::types::{
    Int32Type, TimestampMicrosecondType, UInt16Type, UInt32Type, UInt64Type, UInt8Type,
};
use arrow_array::{
    new_null_array, Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray,
    DictionaryArray, ListArray, PrimitiveArray, RecordBatch, StringArray, StructArray, UInt32Array,
};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, FieldRef};
use birthmark_columns::arrays::occurring;
use hashbrown::HashMap;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::form::{Form, LineColumns};
use crate::message::{Interner, TRANSPORTS};
use handed::Handed;

mod handed;

/// The bytes of an array besides its values.
const ARRAY: usize = 128;

/// Rows in a batch.
pub const BATCH_ROWS: usize = 32_768;

/// One column while it grows.
#[derive(Debug)]
struct Builder {
    values: Values,
    valid: Vec<u64>,
    /// The number of rows to allocate for when a row has a value.
    room: usize,
}

#[derive(Debug)]
enum Values {
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    Bytes { offsets: Vec<i32>, data: Vec<u8> },
}

/// Sets `values[row]`; values that are never set are zero.
#[inline]
fn put<T: Default + Copy>(values: &mut Vec<T>, row: usize, value: T, room: usize) {
    if row >= values.len() {
        grow(values, row, room);
    }
    if let Some(place) = values.get_mut(row) {
        *place = value;
    }
}

/// Marks a row as having a value.
#[inline]
fn mark(valid: &mut Vec<u64>, row: usize, room: usize) {
    let word = row / 64;
    if word >= valid.len() {
        grow(valid, word, room / 64);
    }
    if let Some(place) = valid.get_mut(word) {
        *place |= 1 << (row % 64);
    }
}

/// Allocates for a value, and for `least` at once: the allocator has zeroed memory at hand.
#[cold]
fn grow<T: Default + Copy>(values: &mut Vec<T>, at: usize, least: usize) {
    let len = least.max(at + 1).max(2 * values.len());
    match values.is_empty() {
        true => *values = vec![T::default(); len],
        false => values.resize(len, T::default()),
    }
}

/// Returns `count` values without the allocation for a whole batch, since fewer rows may be handed
/// on and stored. Few are copied: the rest of a shrunk allocation has no room for the next batch.
fn only<T: Default + Copy>(mut values: Vec<T>, count: usize) -> Vec<T> {
    values.resize(count, T::default());
    match values.capacity() > 2 * count {
        true => values.as_slice().into(),
        false => values,
    }
}

/// The rows without a value, if there are any.
fn nulls(valid: Vec<u64>, rows: usize) -> Option<NullBuffer> {
    let valid = Buffer::from_vec(only(valid, rows.div_ceil(64)));
    let nulls = NullBuffer::new(BooleanBuffer::new(valid, 0, rows));
    (nulls.null_count() > 0).then_some(nulls)
}

impl Builder {
    fn new(kind: Kind, room: usize) -> Builder {
        let values = match kind {
            Kind::Bool | Kind::U8 => Values::U8(Vec::new()),
            Kind::U16 => Values::U16(Vec::new()),
            Kind::U32 | Kind::Word => Values::U32(Vec::new()),
            Kind::U64 | Kind::Time => Values::U64(Vec::new()),
            Kind::Bytes => Values::Bytes { offsets: vec![0], data: Vec::new() },
        };
        Builder { values, valid: Vec::new(), room }
    }

    #[inline]
    fn number(&mut self, row: usize, value: u64) {
        let room = self.room;
        mark(&mut self.valid, row, room);
        match &mut self.values {
            Values::U8(values) => put(values, row, value as u8, room),
            Values::U16(values) => put(values, row, value as u16, room),
            Values::U32(values) => put(values, row, value as u32, room),
            Values::U64(values) => put(values, row, value, room),
            Values::Bytes { .. } => debug_assert!(false, "a number for a column of bytes"),
        }
    }

    #[inline]
    fn text(&mut self, row: usize, value: &[u8]) {
        mark(&mut self.valid, row, self.room);
        let Values::Bytes { offsets, data } = &mut self.values else {
            debug_assert!(false, "bytes for a column of numbers");
            return;
        };
        if offsets.len() > row + 1 {
            // set twice in this row: the later value counts
            offsets.truncate(row + 1);
            data.truncate(offsets[row] as usize);
        }
        offsets.resize(row + 1, data.len() as i32);
        data.extend_from_slice(value);
        offsets.push(data.len() as i32);
    }

    fn add(&mut self, row: usize) {
        if let Values::U32(values) = &mut self.values {
            if let Some(value) = values.get_mut(row) {
                *value += 1;
            }
        }
    }

    /// The bytes of memory.
    fn memory(&self) -> usize {
        let values = match &self.values {
            Values::U8(values) => values.capacity(),
            Values::U16(values) => 2 * values.capacity(),
            Values::U32(values) => 4 * values.capacity(),
            Values::U64(values) => 8 * values.capacity(),
            Values::Bytes { offsets, data } => 4 * offsets.capacity() + data.capacity(),
        };
        values + 8 * self.valid.capacity() + ARRAY
    }

    /// The array of a column of hosts.
    fn finish_occurring<'a>(self, rows: usize, word: impl Fn(u32) -> &'a str) -> ArrayRef {
        let Values::U32(values) = self.values else {
            return new_null_array(&Kind::Word.data_type(), rows);
        };
        occurring(only(values, rows).into_iter().map(Some), word)
    }

    /// The array of a column; `words` are those of a column of words.
    fn finish(self, kind: Kind, rows: usize, words: &ArrayRef) -> ArrayRef {
        let nulls = nulls(self.valid, rows);
        match (kind, self.values) {
            (Kind::Bool, Values::U8(mut values)) => {
                values.resize(rows, 0);
                let bits = BooleanBuffer::collect_bool(rows, |row| values[row] != 0);
                Arc::new(BooleanArray::new(bits, nulls))
            }
            (_, Values::U8(values)) => primitive::<UInt8Type>(values, rows, nulls),
            (_, Values::U16(values)) => primitive::<UInt16Type>(values, rows, nulls),
            (Kind::Word, Values::U32(values)) => {
                let keys: Vec<i32> =
                    only(values, rows).into_iter().map(|code| code as i32).collect();
                let keys = PrimitiveArray::<Int32Type>::new(keys.into(), nulls);
                Arc::new(DictionaryArray::new(keys, words.clone()))
            }
            (_, Values::U32(values)) => primitive::<UInt32Type>(values, rows, nulls),
            (Kind::Time, Values::U64(values)) => {
                let values = ScalarBuffer::<i64>::from(Buffer::from_vec(only(values, rows)));
                let array = PrimitiveArray::<TimestampMicrosecondType>::new(values, nulls);
                Arc::new(array.with_timezone("UTC"))
            }
            (_, Values::U64(values)) => primitive::<UInt64Type>(values, rows, nulls),
            (_, Values::Bytes { mut offsets, data }) => {
                offsets.resize(rows + 1, data.len() as i32);
                let offsets = OffsetBuffer::new(offsets.into());
                Arc::new(BinaryArray::new(offsets, Buffer::from_vec(data), nulls))
            }
        }
    }
}

fn primitive<T: ArrowPrimitiveType>(
    values: Vec<T::Native>,
    rows: usize,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(only(values, rows).into(), nulls))
}

/// A column of lists while it grows.
#[derive(Default)]
struct Lists {
    offsets: Vec<i32>,
    valid: Vec<u64>,
}

impl Lists {
    /// The items of all lists so far.
    fn items(&self) -> usize {
        self.offsets.last().copied().unwrap_or_default() as usize
    }

    /// Gives a row a list of `items` more items.
    fn add(&mut self, row: usize, items: usize) {
        let before = self.items();
        mark(&mut self.valid, row, 0);
        self.offsets.resize(row + 1, before as i32);
        self.offsets.push((before + items) as i32);
    }

    /// The array; null for rows without a list.
    fn finish(
        mut self,
        item: FieldRef,
        values: ArrayRef,
        rows: usize,
    ) -> Result<ArrayRef, ArrowError> {
        if self.valid.is_empty() {
            return Ok(new_null_array(&DataType::List(item), rows));
        }
        self.offsets.resize(rows + 1, values.len() as i32);
        let offsets = OffsetBuffer::new(self.offsets.into());
        Ok(Arc::new(ListArray::try_new(item, offsets, values, nulls(self.valid, rows))?))
    }
}

/// The bytes of numbers in a directory entry.
const ENTRY: usize = 100;

/// The size of a batch.
#[derive(Clone, Copy, Default)]
struct Size {
    rows: usize,
    text: usize,
    entries: usize,
}

/// The rows of one batch while it grows.
struct Open {
    /// The number of the batch.
    number: u64,
    /// The size of its rows that were handed on before.
    before: Size,
    rows: usize,
    columns: Vec<Builder>,
    gids: Vec<u32>,
    gid_lists: Lists,
    entries: Vec<Builder>,
    entry_lists: Lists,
    /// Bytes of strings gathered so far, those of entries among them.
    text: usize,
}

impl Default for Open {
    fn default() -> Open {
        Open::of(0, Size::default(), BATCH_ROWS)
    }
}

impl Open {
    /// Returns an empty batch, or its remainder after rows were handed on; it allocates for `room`
    /// rows at once.
    fn of(number: u64, before: Size, room: usize) -> Open {
        let builder = |kind: Kind| Builder::new(kind, room);
        Open {
            number,
            before,
            rows: 0,
            columns: COLUMNS.iter().map(|column| builder(column.kind)).collect(),
            gids: Vec::new(),
            gid_lists: Lists::default(),
            entries: ENTRY_COLUMNS.iter().map(|column| builder(column.kind)).collect(),
            entry_lists: Lists::default(),
            text: 0,
        }
    }

    fn fields(&mut self, fields: &Fields) {
        if let Some(gids) = &fields.gids {
            self.gid_lists.add(self.rows, gids.len());
            self.gids.extend_from_slice(gids);
        }
        self.section(&fields.whole());
    }

    fn section(&mut self, section: &Section) {
        let row = self.rows;
        for &(column, value) in section.numbers {
            self.columns[column as usize].number(row, value);
        }
        for &(column, start, len) in section.bytes {
            self.columns[column as usize].text(row, section.fields.slice(start, len));
            self.text += len as usize;
        }
        if let Some(entries) = section.entries {
            self.listing(row, section.fields, entries);
        }
    }

    fn listing(&mut self, row: usize, fields: &Fields, entries: &Entries) {
        let base = self.entry_lists.items();
        for &(entry, column, value) in &entries.numbers {
            self.entries[column as usize].number(base + entry as usize, value);
        }
        for &(entry, column, start, len) in &entries.bytes {
            self.entries[column as usize].text(base + entry as usize, fields.slice(start, len));
            self.text += len as usize;
        }
        self.entry_lists.add(row, entries.count as usize);
    }

    /// Whether the batch is large enough, in rows, or in `most` bytes of strings and entries:
    /// names, handles and listings may be long.
    fn full(&self, most: usize) -> bool {
        let size = self.size();
        size.rows >= BATCH_ROWS || size.text + ENTRY * size.entries > most
    }

    /// The bytes of memory.
    fn memory(&self) -> usize {
        let columns = self.columns.iter().chain(&self.entries);
        let lists = [&self.gid_lists, &self.entry_lists].map(|lists| lists.offsets.capacity());
        let columns: usize = columns.map(Builder::memory).sum();
        columns + 4 * (self.gids.capacity() + lists[0] + lists[1])
    }

    /// Its size, including rows handed on before.
    fn size(&self) -> Size {
        Size {
            rows: self.before.rows + self.rows,
            text: self.before.text + self.text,
            entries: self.before.entries + self.entry_lists.items(),
        }
    }

    fn finish(self, hosts: &Interner) -> Result<RecordBatch, ArrowError> {
        let rows = self.rows;
        let host = |id: u32| hosts.names().get(id as usize).map_or("", String::as_str);
        let ops: ArrayRef = Arc::new(StringArray::from_iter_values(OPS));
        let transports: ArrayRef = Arc::new(StringArray::from_iter_values(TRANSPORTS));
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(COLUMNS.len() + 2);
        // columns that no row set share an array by kind
        let mut unset = HashMap::new();
        for (&column, builder) in Column::ALL.iter().zip(self.columns) {
            let kind = column.kind();
            let words = if column == Column::Op { &ops } else { &transports };
            let null = || new_null_array(&kind.data_type(), rows);
            arrays.push(match builder.valid.is_empty() {
                true => unset.entry(kind).or_insert_with(null).clone(),
                false if matches!(column, Column::Server | Column::Client) => {
                    builder.finish_occurring(rows, host)
                }
                false => builder.finish(kind, rows, words),
            });
        }
        let gids: ArrayRef = Arc::new(UInt32Array::from(self.gids));
        arrays.push(self.gid_lists.finish(schema::gid_item(), gids, rows)?);
        let count = self.entry_lists.items();
        let entries = ENTRY_COLUMNS.iter().zip(self.entries);
        let children = entries.map(|(column, builder)| match builder.valid.is_empty() {
            true => new_null_array(&column.kind.data_type(), count),
            false => builder.finish(column.kind, count, &ops),
        });
        let (fields, children) = (schema::entry_fields(), children.collect());
        let entries = StructArray::try_new_with_length(fields, children, None, count)?;
        arrays.push(self.entry_lists.finish(schema::entry_item(), Arc::new(entries), rows)?);
        RecordBatch::try_new(schema::operations(), arrays)
    }
}

/// The rows of the operations table, in the order in which they were finished.
pub struct Batches {
    open: Open,
    before: u64,
    ready: VecDeque<Open>,
    handed: Handed,
    /// The most bytes of a batch.
    most: usize,
}

impl Default for Batches {
    fn default() -> Batches {
        let mut batches = Batches {
            open: Open::default(),
            before: 0,
            ready: VecDeque::new(),
            handed: Handed::default(),
            most: 0,
        };
        batches.limit(Budget::default());
        batches
    }
}

impl Batches {
    /// Applies a memory budget from now on.
    pub fn limit(&mut self, budget: Budget) {
        self.most = budget.share(Part::Batch);
        self.handed.limit(budget.share(Part::Rows));
    }

    /// Rows that were settled early, for lack of memory.
    pub fn evicted(&self) -> u64 {
        self.handed.evicted
    }

    /// Whether no rows are pending, so that hosts may be dropped.
    pub fn is_empty(&self) -> bool {
        self.open.rows == 0 && self.ready.is_empty()
    }

    /// Sets a number of the row being written.
    #[inline]
    pub fn number(&mut self, column: Column, value: u64) {
        let row = self.open.rows;
        self.open.columns[column as usize].number(row, value);
    }

    /// Sets a byte string of the row being written.
    pub fn text(&mut self, column: Column, value: &[u8]) {
        let row = self.open.rows;
        self.open.columns[column as usize].text(row, value);
        self.open.text += value.len();
    }

    /// Sets all values of a message, except those of a compound's operations, in the row being
    /// written.
    #[inline]
    pub fn fields(&mut self, fields: &Fields) {
        self.open.fields(fields);
    }

    /// Sets all values of an operation in the row being written.
    pub fn section(&mut self, section: &Section) {
        self.open.section(section);
    }

    /// The number of the row being written, counted over all batches.
    #[inline]
    pub fn next_row(&self) -> u64 {
        self.before + self.open.rows as u64
    }

    /// Sets the form of a message's line in the row being written, and whether it was cut.
    #[inline]
    pub fn printed(&mut self, columns: LineColumns, short: bool, fields: &Fields) {
        let printed = &fields.printed;
        let form = printed.form.with(Form::SHORT, short);
        if form == Form::default() {
            return;
        }
        self.number(columns.form, form.0.into());
        for (column, length) in [(columns.con, printed.con), (columns.len, printed.len)] {
            if let Some(length) = length {
                self.number(column, length.into());
            }
        }
        if !fields.line.is_empty() {
            self.text(columns.text, &fields.line);
        }
    }

    /// Ends the row being written and returns its number.
    pub fn end_row(&mut self) -> u64 {
        let row = self.next_row();
        self.open.rows += 1;
        if self.open.full(self.most) {
            self.close();
        }
        row
    }

    /// Adds one to a counter of an ended row; returns false if its batch has been taken, or could
    /// have been by now.
    pub fn add(&mut self, column: Column, row: u64) -> bool {
        let number = self.open.number;
        let closed = self.ready.back_mut().map(|last| (self.before - last.rows as u64, last));
        let mut batches = [Some((self.before, &mut self.open)), closed].into_iter().flatten();
        match batches.find(|(first, _)| *first <= row) {
            Some((first, batch)) => batch.columns[column as usize].add((row - first) as usize),
            None => return self.handed.add(column, row, number),
        }
        true
    }

    /// Closes the batch being filled, full or not.
    pub fn close(&mut self) {
        if self.open.rows > 0 {
            self.before += self.open.rows as u64;
            let next = Open { number: self.open.number + 1, ..Open::default() };
            self.ready.push_back(std::mem::replace(&mut self.open, next));
        }
    }

    /// The rows ended since the last call, in their current state; none if there are none. They are
    /// pending until [`Batches::settled`]; `clock` is the trace's time.
    pub fn take_partial(
        &mut self,
        hosts: &Interner,
        clock: i64,
    ) -> Result<Option<RecordBatch>, ArrowError> {
        let piece = match self.ready.pop_front() {
            Some(ready) => ready,
            None if self.open.rows == 0 => return Ok(None),
            None => {
                // about as many will follow, so do not clear memory for a whole batch
                let room = (self.open.rows + self.open.rows / 4).clamp(64, BATCH_ROWS);
                let next = Open::of(self.open.number, self.open.size(), room);
                self.before += self.open.rows as u64;
                std::mem::replace(&mut self.open, next)
            }
        };
        let (number, memory) = (piece.number, piece.memory());
        let rows = piece.finish(hosts)?;
        self.handed.push(number, clock, &rows, memory);
        Ok(Some(rows))
    }

    /// The rows handed on that are final, with all counts added since, in the pieces in which they
    /// were handed on. Rows are final once [`Batches::take`] would not hold their batch back any
    /// more, or if they were handed on when the trace's time was before `until`.
    pub fn settled(&mut self, until: i64) -> Result<Vec<RecordBatch>, ArrowError> {
        self.handed.settled(self.open.number, until)
    }

    /// Whether a closed batch is pending.
    pub fn is_full(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Drops the closed batches.
    pub fn discard(&mut self) {
        self.ready.clear();
    }

    /// A closed batch. Without `all`, the last one is held back, so that late retransmissions can
    /// still be counted in its rows.
    pub fn take(&mut self, hosts: &Interner, all: bool) -> Option<Result<RecordBatch, ArrowError>> {
        if self.ready.len() <= usize::from(!all) {
            return None;
        }
        Some(self.ready.pop_front()?.finish(hosts))
    }
}

#[cfg(test)]
mod tests;
