//! Rows that were handed on as soon as they were there, and whose counters may still change.
//!
//! A retransmission that comes late is counted in the row of its call as long as that waits in a
//! batch ([`super::Batches::take`]). So that a trace that is followed gives the same rows as one
//! that is read, what was handed on changes for as long.

use crate::schema::Column;
use arrow_array::types::UInt32Type;
use arrow_array::{cast::AsArray, Array, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_schema::ArrowError;
use std::collections::VecDeque;
use std::sync::Arc;

/// Rows that were handed on together.
struct Piece {
    /// The number of their batch.
    number: u64,
    /// The number of the first.
    first: u64,
    /// The trace's time then.
    clock: i64,
    rows: RecordBatch,
    /// What was added since: to which counter of which row, counted over all batches.
    added: Vec<(Column, u64)>,
}

/// What was handed on and is not yet settled.
#[derive(Default)]
pub struct Handed {
    pieces: VecDeque<Piece>,
    next: u64,
}

impl Handed {
    /// Keeps rows of the batch of that number.
    pub fn push(&mut self, number: u64, clock: i64, rows: &RecordBatch) {
        let (first, rows) = (self.next, rows.clone());
        self.next += rows.num_rows() as u64;
        self.pieces.push_back(Piece { number, first, clock, rows, added: Vec::new() });
    }

    /// Adds one to a counter of a row; false if that is settled. `open` is the number of the
    /// batch that is being filled.
    pub fn add(&mut self, column: Column, row: u64, open: u64) -> bool {
        let behind = self.pieces.partition_point(|piece| piece.first <= row);
        let piece = behind.checked_sub(1).and_then(|at| self.pieces.get_mut(at));
        let Some(piece) = piece.filter(|piece| piece.number + 1 >= open) else {
            return false;
        };
        piece.added.push((column, row));
        true
    }

    /// Takes the pieces that are settled.
    pub fn settled(&mut self, open: u64, until: i64) -> Result<Vec<RecordBatch>, ArrowError> {
        let settled = |piece: &&Piece| piece.number + 1 < open || piece.clock < until;
        let count = self.pieces.iter().take_while(settled).count();
        self.pieces.drain(..count).map(Piece::finish).collect()
    }
}

impl Piece {
    fn finish(self) -> Result<RecordBatch, ArrowError> {
        let (schema, mut columns, _) = self.rows.into_parts();
        for column in [Column::Retransmits, Column::DuplicateReplies] {
            let rows = self.added.iter().filter(|(of, _)| *of == column);
            let mut rows = rows.map(|(_, row)| (row - self.first) as usize).peekable();
            if rows.peek().is_some() {
                columns[column as usize] = counted(&columns[column as usize], rows);
            }
        }
        RecordBatch::try_new(schema, columns)
    }
}

/// A column of counters with one added for each of `rows`.
fn counted(column: &ArrayRef, rows: impl Iterator<Item = usize>) -> ArrayRef {
    let Some(old) = column.as_primitive_opt::<UInt32Type>() else {
        return column.clone();
    };
    let mut values = old.values().to_vec();
    for row in rows {
        values[row] += 1;
    }
    Arc::new(PrimitiveArray::<UInt32Type>::new(values.into(), old.nulls().cloned()))
}
