//! Rows that were handed on at once, and whose counters may still change.
//!
//! A late retransmission is counted in the row of its call while that is pending in a batch
//! ([`super::Batches::take`]). Rows handed on remain open for the same time, so that following a
//! trace gives the same rows as reading it.

use crate::schema::Column;
use arrow_array::types::UInt32Type;
use arrow_array::{cast::AsArray, Array, ArrayRef, PrimitiveArray, RecordBatch};
use arrow_schema::ArrowError;
use std::collections::VecDeque;
use std::sync::Arc;

/// The bytes of an added count.
const ADDED: usize = 32;

/// Rows that were handed on together.
struct Piece {
    /// The number of their batch.
    number: u64,
    /// The number of the first.
    first: u64,
    /// The trace's time at that moment.
    clock: i64,
    rows: RecordBatch,
    /// Later additions: the counter and the row, counted over all batches.
    added: Vec<(Column, u64)>,
    /// The bytes of the rows.
    memory: usize,
}

/// The pieces that are not settled yet.
#[derive(Default)]
pub struct Handed {
    pieces: VecDeque<Piece>,
    next: u64,
    /// The bytes of all pieces.
    pub memory: usize,
    /// The limit of these bytes.
    most: usize,
    /// Rows that were settled early.
    pub evicted: u64,
}

impl Handed {
    /// Applies a limit in bytes from now on.
    pub fn limit(&mut self, most: usize) {
        self.most = most;
    }

    /// Stores rows of a batch, with their bytes.
    pub fn push(&mut self, number: u64, clock: i64, rows: &RecordBatch, memory: usize) {
        let (first, rows) = (self.next, rows.clone());
        self.next += rows.num_rows() as u64;
        self.memory += memory;
        self.pieces.push_back(Piece { number, first, clock, rows, added: Vec::new(), memory });
    }

    /// Adds one to a counter of a row; returns false if the row is settled. `open` is the number of
    /// the batch being filled.
    pub fn add(&mut self, column: Column, row: u64, open: u64) -> bool {
        let behind = self.pieces.partition_point(|piece| piece.first <= row);
        let piece = behind.checked_sub(1).and_then(|at| self.pieces.get_mut(at));
        let Some(piece) = piece.filter(|piece| piece.number + 1 >= open) else {
            return false;
        };
        piece.added.push((column, row));
        piece.memory += ADDED;
        self.memory += ADDED;
        true
    }

    /// Takes the settled pieces, and the oldest surplus ones.
    pub fn settled(&mut self, open: u64, until: i64) -> Result<Vec<RecordBatch>, ArrowError> {
        let mut settled = Vec::new();
        while let Some(first) = self.pieces.front() {
            let due = first.number + 1 < open || first.clock < until;
            if !due && self.memory <= self.most {
                break;
            }
            self.evicted += if due { 0 } else { first.rows.num_rows() as u64 };
            self.memory -= first.memory;
            settled.extend(self.pieces.pop_front().map(Piece::finish));
        }
        settled.into_iter().collect()
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
