//! The training rows of trees, and their labels.

use super::split::add;
use arrow_buffer::{BooleanBuffer, NullBuffer, ScalarBuffer};
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
    /// The answers less their means, 0 where unknown.
    targets: Vec<f32>,
    /// 1 where an answer is known; None if all are.
    known: Option<Vec<f32>>,
    means: Vec<f32>,
    outputs: usize,
    lanes: usize,
    rows: usize,
}

impl Sample {
    /// `bytes` are the columns, one after the other, each of `rows` bytes; `answers` those of the
    /// rows, one after the other, each of as many outputs; unknown where not `valid`.
    pub fn new(
        bytes: ScalarBuffer<u8>,
        answers: &BooleanBuffer,
        valid: Option<&NullBuffer>,
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
        let mut targets = vec![0.0; rows * lanes];
        for place in answers.set_indices() {
            targets[place / outputs * lanes + place % outputs] = 1.0;
        }
        let known = valid.filter(|valid| valid.null_count() > 0).map(|valid| {
            let mut known = vec![1.0; rows * lanes];
            for place in (0..answers.len()).filter(|place| valid.is_null(*place)) {
                let place = place / outputs * lanes + place % outputs;
                (known[place], targets[place]) = (0.0, 0.0);
            }
            known
        });
        let means = means(&targets, known.as_deref(), lanes);
        for row in targets.chunks_exact_mut(lanes) {
            row.iter_mut().zip(&means).for_each(|(target, mean)| *target -= mean);
        }
        if let Some(known) = &known {
            targets.iter_mut().zip(known).for_each(|(target, known)| *target *= known);
        }
        let by_row = transposed(&bytes, rows);
        Ok(Sample { bytes, by_row, targets, known, means, outputs, lanes, rows })
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

    /// The answers of each row less their means, 0 where unknown, padded with zeros to `lanes`.
    pub(super) fn targets(&self) -> &[f32] {
        &self.targets
    }

    /// 1 for each answer of a row that is known, else 0; None if all are known.
    pub(super) fn known(&self, row: usize) -> Option<&[f32]> {
        self.known.as_ref().map(|known| &known[row * self.lanes..][..self.lanes])
    }

    /// The number of known answers of `rows`, by output.
    pub(super) fn counts(&self, rows: &[u32]) -> Vec<f32> {
        let mut counts = vec![0.0; self.lanes];
        match self.known {
            Some(_) => rows
                .iter()
                .filter_map(|row| self.known(*row as usize))
                .for_each(|known| add(&mut counts, known)),
            None => counts.fill(rows.len() as f32),
        }
        counts
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

    /// The mean of each output's known answers, padded with zeros.
    pub(super) fn means(&self) -> &[f32] {
        &self.means
    }
}

/// The mean of each lane's known answers; unknown ones are 0.
fn means(answers: &[f32], known: Option<&[f32]>, lanes: usize) -> Vec<f32> {
    let sums = |values: &[f32]| {
        let mut sums = vec![0.0_f64; lanes];
        for row in values.chunks_exact(lanes) {
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
        }
        sums
    };
    let rows = (answers.len() / lanes) as f64;
    let counts = known.map_or_else(|| vec![rows; lanes], sums);
    sums(answers)
        .into_iter()
        .zip(counts)
        .map(|(sum, count)| (sum / count.max(1.0)) as f32)
        .collect()
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
