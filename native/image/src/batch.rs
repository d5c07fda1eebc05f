//! All predicates' answers for the rows of a table of creates (`features.CREATES`).

use super::create::Needs;
use super::{hour, Answers, Create, Image};
use arrow_array::{
    BinaryArray, BooleanArray, RecordBatch, StringArray, TimestampMicrosecondArray, UInt32Array,
};
use arrow_buffer::{BooleanBuffer, Buffer};
use birthmark_columns::columns;
use birthmark_columns::{bytes, get, ColumnError, Source};
use birthmark_learn::encode::fnv1a;
use birthmark_learn::forest::processors;
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

/// Rows whose answers make one word per predicate.
const BLOCK: usize = 64;
/// The least number of rows that is worth a thread.
const ROWS_PER_THREAD: usize = 16 * 1024;

/// The answers of each predicate, in the image's order, a row for each of `creates`.
///
/// Only the columns that the image uses are required.
pub fn predict(image: &Image, creates: &RecordBatch) -> Result<Vec<BooleanArray>, ColumnError> {
    let columns = Creates::of(creates, image.needs())?;
    let rows = creates.num_rows();
    let share = rows.div_ceil(processors()).max(ROWS_PER_THREAD);
    let answers = |rows: Range<usize>| rows.map(|row| image.lookup(&columns.create(row))).collect();
    // For a few creates, starting a thread would take longer than the lookups.
    let answers: Vec<Answers> = match rows <= share {
        true => answers(0..rows),
        false => thread::scope(|scope| {
            let part = |begin| scope.spawn(move || answers(begin..rows.min(begin + share)));
            let running: Vec<_> = (0..rows).step_by(share).map(part).collect();
            let parts = running
                .into_iter()
                .map(|part| part.join().unwrap_or_else(|panic| resume_unwind(panic)));
            parts.collect::<Vec<Vec<Answers>>>().concat()
        }),
    };
    Ok(in_columns(&answers, image.predicates().len()))
}

/// The answers about each of `predicates`, a row for each create.
pub fn in_columns(answers: &[Answers], predicates: usize) -> Vec<BooleanArray> {
    let mut words = vec![Vec::with_capacity(answers.len().div_ceil(BLOCK)); predicates];
    for block in answers.chunks(BLOCK) {
        for (place, group) in words.chunks_mut(BLOCK).enumerate() {
            let mut square = [0; BLOCK];
            square.iter_mut().zip(block).for_each(|(row, answer)| *row = answer[place]);
            transpose(&mut square);
            group.iter_mut().zip(square).for_each(|(words, word)| words.push(word));
        }
    }
    let column = |words| BooleanBuffer::new(Buffer::from_vec(words), 0, answers.len());
    words.into_iter().map(|words| BooleanArray::new(column(words), None)).collect()
}

/// Turns rows of bits into columns, by swapping ever smaller squares.
fn transpose(square: &mut [u64; BLOCK]) {
    let (mut size, mut mask) = (32, 0x0000_0000_ffff_ffff_u64);
    while size > 0 {
        for i in (0..BLOCK).filter(|i| i & size == 0) {
            let swapped = (square[i] >> size ^ square[i + size]) & mask;
            square[i] ^= swapped << size;
            square[i + size] ^= swapped;
        }
        size /= 2;
        mask ^= mask << size;
    }
}

/// The columns of a table of creates that are used.
pub struct Creates<'a> {
    name: &'a BinaryArray,
    owner: Option<[&'a UInt32Array; 3]>,
    client: Option<&'a StringArray>,
    history: Option<&'a BinaryArray>,
    name_history: Option<&'a BinaryArray>,
    time: Option<&'a TimestampMicrosecondArray>,
}

impl<'a> Creates<'a> {
    /// The columns that are needed.
    ///
    /// # Errors
    ///
    /// If one is missing or of another type.
    pub fn of(creates: &'a RecordBatch, needs: Needs) -> Result<Self, ColumnError> {
        let source = Source::Table(creates);
        let of_names = needs.history && creates.column_by_name("name_history").is_some();
        let owner = || Ok([source.array("mode")?, source.array("uid")?, source.array("gid")?]);
        Ok(columns!(source, "", Creates {
            name;
            owner: needs.owner.then(owner).transpose()?,
            client: source.needed(needs.client, "client")?,
            history: source.needed(needs.history, "history")?,
            name_history: source.needed(of_names, "name_history")?,
            time: source.needed(needs.hour, "time")?,
        }))
    }

    /// The create of a row.
    pub fn create(&self, row: usize) -> Create<'a> {
        let [mode, uid, gid] = self.owner.map_or([None; 3], |own| own.map(|own| get(own, row)));
        let client = self.client.and_then(|client| bytes(client, row));
        Create {
            name: bytes(self.name, row),
            history: self.history.and_then(|history| bytes(history, row)),
            name_history: self.name_history.and_then(|history| bytes(history, row)),
            values: [mode, uid, gid, client.map(|client| fnv1a(client.as_bytes()))],
            hour: self.time.and_then(|time| get(time, row)).map(hour),
        }
    }
}
