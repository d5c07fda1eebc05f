//! The training rows of trees, and their labels.

use arrow_buffer::{BooleanBuffer, ScalarBuffer};
use thiserror::Error;

/// Outputs are padded with zeros to a multiple of this, for SIMD additions.
const LANES: usize = 8;

/// With fewer rows in a node, values are looked up row by row.
const FEW: usize = 100;

/// Bytes and answers that do not form a sample.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SampleError {
    /// There must be a row, a column and an output.
    #[error("a sample needs a row, a column and an output")]
    Empty,
    /// The bytes or answers do not divide by the rows.
    #[error("{bytes} bytes and {answers} answers do not divide by {rows} rows")]
    Rows {
        /// The bytes given.
        bytes: usize,
        /// The answers given.
        answers: usize,
        /// The expected rows.
        rows: usize,
    },
}

/// Rows of bytes, column by column and row by row, and the answers of each row.
#[derive(Debug)]
pub struct Sample {
    bytes: ScalarBuffer<u8>,
    by_row: Vec<u8>,
    answers: Vec<f32>,
    outputs: usize,
    lanes: usize,
    rows: usize,
}

impl Sample {
    /// `bytes` are the columns, one after the other, each of `rows` bytes; `answers` those of the
    /// rows, one after the other, each of as many outputs.
    pub fn new(
        bytes: ScalarBuffer<u8>,
        answers: &BooleanBuffer,
        rows: usize,
    ) -> Result<Self, SampleError> {
        if rows == 0 || bytes.is_empty() || answers.is_empty() {
            return Err(SampleError::Empty);
        }
        if !bytes.len().is_multiple_of(rows) || !answers.len().is_multiple_of(rows) {
            let (bytes, answers) = (bytes.len(), answers.len());
            return Err(SampleError::Rows { bytes, answers, rows });
        }
        let outputs = answers.len() / rows;
        let lanes = outputs.next_multiple_of(LANES);
        let mut padded = vec![0.0; rows * lanes];
        for place in answers.set_indices() {
            padded[place / outputs * lanes + place % outputs] = 1.0;
        }
        let by_row = transposed(&bytes, rows);
        Ok(Sample { bytes, by_row, answers: padded, outputs, lanes, rows })
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.bytes.len() / self.rows
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// The answers of each row, padded with zeros to `lanes`.
    pub(super) fn answers(&self) -> &[f32] {
        &self.answers
    }

    pub(super) fn lanes(&self) -> usize {
        self.lanes
    }

    pub(super) fn column(&self, number: usize) -> &[u8] {
        &self.bytes[number * self.rows..][..self.rows]
    }

    /// Puts the bytes that some rows have in a column into `values`.
    ///
    /// A few rows lie far apart in a column, but the bytes of each row lie together.
    pub(super) fn values(&self, number: usize, rows: &[u32], values: &mut Vec<u8>) {
        values.clear();
        if rows.len() < FEW {
            let width = self.width();
            values.extend(rows.iter().map(|&row| self.by_row[row as usize * width + number]));
        } else {
            let column = self.column(number);
            values.extend(rows.iter().map(|&row| column[row as usize]));
        }
    }

    /// The mean of each output, padded with zeros.
    pub(super) fn means(&self) -> Vec<f32> {
        let mut sums = vec![0.0_f64; self.lanes];
        for row in self.answers.chunks_exact(self.lanes) {
            sums.iter_mut().zip(row).for_each(|(sum, answer)| *sum += f64::from(*answer));
        }
        sums.iter().map(|sum| (sum / self.rows as f64) as f32).collect()
    }
}

/// Columns of `rows` bytes as rows, one after the other.
fn transposed(columns: &[u8], rows: usize) -> Vec<u8> {
    let width = columns.len() / rows;
    let mut by_row = vec![0; columns.len()];
    for (number, column) in columns.chunks_exact(rows).enumerate() {
        for (row, &value) in column.iter().enumerate() {
            by_row[row * width + number] = value;
        }
    }
    by_row
}
