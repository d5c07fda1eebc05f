//! The operations table as input for writers of other forms: values by column and row, with columns
//! resolved once per batch.

use crate::schema::{Column, EntryColumn, Kind, Op, COLUMNS, ENTRY_COLUMNS};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int32Type, TimestampMicrosecondType, UInt16Type, UInt32Type, UInt64Type, UInt8Type,
};
use arrow_array::{
    Array, BinaryArray, BooleanArray, ListArray, PrimitiveArray, RecordBatch, StringArray,
    UInt32Array,
};
use birthmark_columns::{bytes, get, places, ColumnError, Source};

/// A column's values.
#[allow(missing_docs)]
pub enum Values<'a> {
    Bool(&'a BooleanArray),
    U8(&'a PrimitiveArray<UInt8Type>),
    U16(&'a PrimitiveArray<UInt16Type>),
    U32(&'a PrimitiveArray<UInt32Type>),
    U64(&'a PrimitiveArray<UInt64Type>),
    Time(&'a PrimitiveArray<TimestampMicrosecondType>),
    Bytes(&'a BinaryArray),
    Word(&'a PrimitiveArray<Int32Type>, &'a StringArray),
}

impl<'a> Values<'a> {
    fn new(array: &'a dyn Array, kind: Kind) -> Option<Values<'a>> {
        Some(match kind {
            Kind::Bool => Values::Bool(array.as_boolean_opt()?),
            Kind::U8 => Values::U8(array.as_primitive_opt()?),
            Kind::U16 => Values::U16(array.as_primitive_opt()?),
            Kind::U32 => Values::U32(array.as_primitive_opt()?),
            Kind::U64 => Values::U64(array.as_primitive_opt()?),
            Kind::Time => Values::Time(array.as_primitive_opt()?),
            Kind::Bytes => Values::Bytes(array.as_binary_opt()?),
            Kind::Word => {
                let words = array.as_dictionary_opt::<Int32Type>()?;
                Values::Word(words.keys(), words.values().as_string_opt::<i32>()?)
            }
        })
    }

    /// A number, a time (`i64` carried as `u64`) or a boolean.
    #[inline]
    pub fn number(&self, row: usize) -> Option<u64> {
        match self {
            Values::Bool(array) => array.is_valid(row).then(|| array.value(row).into()),
            Values::U8(array) => get(array, row).map(u64::from),
            Values::U16(array) => get(array, row).map(u64::from),
            Values::U32(array) => get(array, row).map(u64::from),
            Values::U64(array) => get(array, row),
            Values::Time(array) => get(array, row).map(|time| time as u64),
            Values::Bytes(_) | Values::Word(..) => None,
        }
    }

    /// Bytes.
    #[inline]
    pub fn bytes(&self, row: usize) -> Option<&'a [u8]> {
        match self {
            Values::Bytes(array) => bytes(array, row),
            _ => None,
        }
    }

    fn word(&self, row: usize) -> Option<&'a str> {
        match self {
            Values::Word(keys, words) if keys.is_valid(row) => {
                let word = keys.value(row) as usize;
                (word < words.len() && words.is_valid(word)).then(|| words.value(word))
            }
            _ => None,
        }
    }
}

/// A batch of operations.
pub struct Rows<'a> {
    /// By [`Column`]; none without values. Nullable columns may be missing.
    columns: Vec<Option<Values<'a>>>,
    entries: Option<Entries<'a>>,
    gids: Option<(&'a ListArray, &'a UInt32Array)>,
    count: usize,
}

impl<'a> Rows<'a> {
    /// Finds the columns.
    ///
    /// # Errors
    ///
    /// If one is of another type, or null or missing where it must not be.
    pub fn new(batch: &'a RecordBatch) -> Result<Rows<'a>, ColumnError> {
        let mut columns = Vec::with_capacity(COLUMNS.len());
        let source = Source::Batch(batch);
        for column in COLUMNS {
            columns.push(values(&source, column.name, column.kind, column.required)?);
        }
        let (gids, entries) = (gids(&source)?, entries(&source)?);
        Ok(Rows { columns, entries, gids, count: batch.num_rows() })
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.count).map(|row| Row { rows: self, row })
    }

    /// A column of words with the meaning of each, resolved once.
    pub fn words<T>(&self, column: Column, meaning: impl Fn(&'a str) -> T) -> Words<'a, T> {
        let Some(Some(Values::Word(keys, words))) = self.columns.get(column as usize) else {
            return Words { keys: None, meanings: Vec::new() };
        };
        let word = |at| if words.is_valid(at) { words.value(at) } else { "" };
        Words { keys: Some(keys), meanings: (0..words.len()).map(|at| meaning(word(at))).collect() }
    }
}

/// A column of words, by their meanings.
pub struct Words<'a, T> {
    keys: Option<&'a PrimitiveArray<Int32Type>>,
    meanings: Vec<T>,
}

impl<T> Words<'_, T> {
    /// What the word of a row means.
    pub fn get(&self, row: Row) -> Option<&T> {
        let keys = self.keys.filter(|keys| keys.is_valid(row.row))?;
        self.meanings.get(usize::try_from(keys.value(row.row)).ok()?)
    }
}

/// A column's values, if it has any.
///
/// # Errors
///
/// As [`Rows::new`].
pub fn values<'a>(
    source: &Source<'a>,
    name: &str,
    kind: Kind,
    required: bool,
) -> Result<Option<Values<'a>>, ColumnError> {
    let array = match source.column(name) {
        Err(_) if !required => return Ok(None),
        found => found?,
    };
    let wrong = || source.wrong(name, array, &kind.data_type().to_string());
    let values = Values::new(array, kind).ok_or_else(wrong)?;
    if required {
        source.known(name, array)?;
    }
    Ok((array.null_count() < array.len()).then_some(values))
}

/// A column of lists, if any row has one.
fn lists<'a>(source: &Source<'a>, name: &str) -> Result<Option<&'a ListArray>, ColumnError> {
    let Ok(array) = source.column(name) else {
        return Ok(None);
    };
    let lists = array.as_list_opt::<i32>().ok_or_else(|| source.wrong(name, array, "List"))?;
    Ok((lists.null_count() < lists.len()).then_some(lists))
}

fn gids<'a>(source: &Source<'a>) -> Result<Option<(&'a ListArray, &'a UInt32Array)>, ColumnError> {
    let Some(lists) = lists(source, "gids")? else {
        return Ok(None);
    };
    let wrong = || source.wrong("gids", lists.values(), "UInt32");
    Ok(Some((lists, lists.values().as_primitive_opt().ok_or_else(wrong)?)))
}

type Entries<'a> = (&'a ListArray, Vec<Option<Values<'a>>>);

fn entries<'a>(source: &Source<'a>) -> Result<Option<Entries<'a>>, ColumnError> {
    let Some(lists) = lists(source, "entries")? else {
        return Ok(None);
    };
    let wrong = || source.wrong("entries", lists.values(), "Struct");
    let items = Source::Entries(lists.values().as_struct_opt().ok_or_else(wrong)?);
    let columns =
        ENTRY_COLUMNS.iter().map(|column| values(&items, column.name, column.kind, false));
    Ok(Some((lists, columns.collect::<Result<_, _>>()?)))
}

/// One operation.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    rows: &'a Rows<'a>,
    row: usize,
}

impl<'a> Row<'a> {
    /// A number, a time or a boolean, if it is not null.
    pub fn number(&self, column: Column) -> Option<u64> {
        self.rows.columns[column as usize].as_ref()?.number(self.row)
    }

    /// Bytes, if they are not null.
    pub fn bytes(&self, column: Column) -> Option<&'a [u8]> {
        self.rows.columns[column as usize].as_ref()?.bytes(self.row)
    }

    /// A word; empty if it is null.
    pub fn word(&self, column: Column) -> &'a str {
        self.rows.columns[column as usize]
            .as_ref()
            .and_then(|values| values.word(self.row))
            .unwrap_or_default()
    }

    /// The procedure; none for a word that is not NFS's.
    pub fn op(&self) -> Option<Op> {
        Op::of(self.word(Column::Op))
    }

    /// The caller's further groups.
    pub fn gids(&self) -> Vec<u32> {
        let Some((lists, gids)) = self.rows.gids else {
            return Vec::new();
        };
        places(lists, self.row).filter_map(|at| gids.values().get(at)).copied().collect()
    }

    /// One entry of a listing, by its number.
    pub fn entry(&self, number: usize) -> Option<Entry<'a>> {
        let (lists, values) = self.rows.entries.as_ref()?;
        places(lists, self.row).nth(number).map(|at| Entry { values, at })
    }

    /// How many entries a listing has.
    pub fn entries(&self) -> usize {
        self.rows.entries.as_ref().map_or(0, |(lists, _)| places(lists, self.row).len())
    }
}

/// One entry of a listing.
pub struct Entry<'a> {
    values: &'a [Option<Values<'a>>],
    at: usize,
}

impl<'a> Entry<'a> {
    /// A number, if it is not null.
    pub fn number(&self, column: EntryColumn) -> Option<u64> {
        self.values[column as usize].as_ref()?.number(self.at)
    }

    /// Bytes, if they are not null.
    pub fn bytes(&self, column: EntryColumn) -> Option<&'a [u8]> {
        self.values[column as usize].as_ref()?.bytes(self.at)
    }
}
