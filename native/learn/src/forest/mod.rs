//! Forests of binary trees over rows of bytes, evaluated for many rows at once.

use std::num::NonZero;
use std::thread;
use thiserror::Error;

mod refit;
#[cfg(test)]
mod tests;

pub use refit::{Refit, UNKNOWN};

/// The column of a leaf.
pub const LEAF: u16 = u16::MAX;

/// Rows evaluated in one tree before the next, so that the tree stays in cache.
const BLOCK: usize = 64;

/// A node: rows whose `column` is at most `threshold` go on to the next node, others to `target`.
/// In a leaf, whose `column` is `LEAF`, `target` is the place of its scores.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// The column that the node splits on.
    pub column: u16,
    /// The largest value that goes on to the next node.
    pub threshold: u8,
    /// The node of larger values, or the place of the scores.
    pub target: u32,
}

/// Nodes that do not form a forest.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ForestError {
    /// A tree begins after the last node.
    #[error("tree {0} begins after the last node")]
    Root(usize),
    /// A node splits on a column that rows do not have.
    #[error("node {0} splits on column {1}, which rows do not have")]
    Column(usize, u16),
    /// A node's children do not come after it.
    #[error("node {0} has a child that does not come after it")]
    Child(usize),
    /// A leaf without scores.
    #[error("node {0} is a leaf without scores")]
    Scores(usize),
    /// The scores do not divide by the outputs.
    #[error("the scores do not divide by the number of outputs")]
    Outputs,
    /// The matrix does not divide by the columns.
    #[error("the matrix does not divide by the number of columns")]
    Matrix,
}

/// Trees whose leaves have a score (0 to 255) for each of several outputs.
#[derive(Debug)]
pub struct Forest {
    nodes: Vec<Node>,
    roots: Vec<u32>,
    scores: Vec<u8>,
    outputs: usize,
    width: usize,
}

impl Forest {
    /// A forest over rows of `width` columns. Each node comes before its children, the smaller one
    /// right after it, so that every walk ends; anything else is an error.
    pub fn new(
        nodes: Vec<Node>,
        roots: Vec<u32>,
        scores: Vec<u8>,
        outputs: usize,
        width: usize,
    ) -> Result<Self, ForestError> {
        if outputs == 0 || width == 0 || !scores.len().is_multiple_of(outputs) {
            return Err(ForestError::Outputs);
        }
        if let Some(tree) = roots.iter().position(|root| *root as usize >= nodes.len()) {
            return Err(ForestError::Root(tree));
        }
        for (place, node) in nodes.iter().enumerate() {
            let target = node.target as usize;
            if node.column == LEAF {
                if target >= scores.len() / outputs {
                    return Err(ForestError::Scores(place));
                }
            } else if usize::from(node.column) >= width {
                return Err(ForestError::Column(place, node.column));
            } else if target <= place + 1 || target >= nodes.len() {
                return Err(ForestError::Child(place));
            }
        }
        Ok(Forest { nodes, roots, scores, outputs, width })
    }

    /// The sum of the scores of the leaves that each row of `matrix` ends in, by row and output.
    pub fn sums(&self, matrix: &[u8], threads: usize) -> Result<Vec<u32>, ForestError> {
        if !matrix.len().is_multiple_of(self.width) {
            return Err(ForestError::Matrix);
        }
        let rows = matrix.len() / self.width;
        let mut sums = vec![0; rows * self.outputs];
        let share = rows.div_ceil(threads.max(1)).max(1).next_multiple_of(BLOCK);
        thread::scope(|scope| {
            let parts =
                matrix.chunks(share * self.width).zip(sums.chunks_mut(share * self.outputs));
            for (rows, sums) in parts {
                scope.spawn(move || self.add_all(rows, sums));
            }
        });
        Ok(sums)
    }

    fn add_all(&self, matrix: &[u8], sums: &mut [u32]) {
        let blocks = matrix.chunks(BLOCK * self.width);
        for (block, sums) in blocks.zip(sums.chunks_mut(BLOCK * self.outputs)) {
            for &root in &self.roots {
                let rows = block.chunks_exact(self.width);
                for (row, sums) in rows.zip(sums.chunks_exact_mut(self.outputs)) {
                    let start = self.leaf(row, root) * self.outputs;
                    let scores = &self.scores[start..start + self.outputs];
                    for (sum, score) in sums.iter_mut().zip(scores) {
                        *sum += u32::from(*score);
                    }
                }
            }
        }
    }

    fn leaf(&self, row: &[u8], root: u32) -> usize {
        let mut place = root as usize;
        loop {
            let node = self.nodes[place];
            if node.column == LEAF {
                return node.target as usize;
            }
            let smaller = row[usize::from(node.column)] <= node.threshold;
            place = if smaller { place + 1 } else { node.target as usize };
        }
    }
}

/// The number of threads that the machine runs at once.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}
