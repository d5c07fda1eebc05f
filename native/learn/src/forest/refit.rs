//! Refitting the leaves of a forest to recent rows; the splits stay.

use super::{Forest, ForestError};

/// How leaves move.
#[derive(Clone, Copy, Debug)]
pub struct Refit {
    /// The share of the mean residual by which a pass moves a sum.
    pub rate: f32,
    /// Rows without residual that each leaf counts in addition: few rows move it little.
    pub prior: f32,
    /// The number of passes; the residuals of each are those after the passes before.
    pub passes: usize,
}

/// The answer of a row that is not known.
pub const UNKNOWN: u8 = 2;

impl Forest {
    /// The scores of all leaves, moved towards the `answers` of rows (1 yes, 0 no, or `UNKNOWN`; by
    /// row and output). Each leaf has a row of scores to itself. A score of a row is `base`, by
    /// output, and `unit` times the sum of its leaves' scores.
    ///
    /// Each pass moves all leaves by the mean residual of their rows (Friedman, "Greedy function
    /// approximation: a gradient boosting machine", 2001, section 3), as a damped Jacobi step.
    pub fn refit(
        &self,
        matrix: &[u8],
        answers: &[u8],
        (base, unit): (&[f32], f32),
        how: Refit,
    ) -> Result<Vec<u8>, ForestError> {
        let rows = matrix.len() / self.width;
        if !matrix.len().is_multiple_of(self.width) || answers.len() != rows * self.outputs {
            return Err(ForestError::Matrix);
        }
        if base.len() != self.outputs {
            return Err(ForestError::Outputs);
        }
        let leaves: Vec<usize> = matrix
            .chunks_exact(self.width)
            .flat_map(|row| self.roots.iter().map(|&root| self.leaf(row, root) * self.outputs))
            .collect();
        let mut scores: Vec<f32> = self.scores.iter().map(|&score| f32::from(score)).collect();
        let known = self.added(&leaves, answers.chunks_exact(self.outputs), |answers, sums| {
            for (sum, &answer) in sums.iter_mut().zip(answers) {
                *sum += f32::from(u8::from(answer != UNKNOWN));
            }
        });
        let step = how.rate / self.roots.len().max(1) as f32 / unit;
        for _ in 0..how.passes {
            let residuals = self.residuals(&leaves, answers, &scores, (base, unit));
            let moves =
                self.added(&leaves, residuals.chunks_exact(self.outputs), |residuals, sums| {
                    for (sum, residual) in sums.iter_mut().zip(residuals) {
                        *sum += residual;
                    }
                });
            for ((score, sum), known) in scores.iter_mut().zip(&moves).zip(&known) {
                *score = (*score + step * sum / (known + how.prior)).clamp(0.0, 255.0);
            }
        }
        Ok(scores.iter().map(|score| score.round_ties_even() as u8).collect())
    }

    /// By leaf and output, what `add` adds of each row that ends in the leaf.
    fn added<'a, T: 'a>(
        &self,
        leaves: &[usize],
        rows: impl Iterator<Item = &'a [T]>,
        add: impl Fn(&[T], &mut [f32]),
    ) -> Vec<f32> {
        let mut sums = vec![0.0; self.scores.len()];
        for (row, leaves) in rows.zip(leaves.chunks_exact(self.roots.len().max(1))) {
            for &leaf in leaves {
                add(row, &mut sums[leaf..leaf + self.outputs]);
            }
        }
        sums
    }

    /// By row and output, the answer less the score; 0 where it is not known.
    fn residuals(
        &self,
        leaves: &[usize],
        answers: &[u8],
        scores: &[f32],
        (base, unit): (&[f32], f32),
    ) -> Vec<f32> {
        let mut residuals = vec![0.0; answers.len()];
        let rows = residuals.chunks_exact_mut(self.outputs).zip(answers.chunks_exact(self.outputs));
        for ((row, answers), leaves) in rows.zip(leaves.chunks_exact(self.roots.len().max(1))) {
            for &leaf in leaves {
                for (sum, score) in row.iter_mut().zip(&scores[leaf..leaf + self.outputs]) {
                    *sum += score;
                }
            }
            for ((sum, base), &answer) in row.iter_mut().zip(base).zip(answers) {
                let score = base + unit * *sum;
                *sum = if answer == UNKNOWN { 0.0 } else { f32::from(answer) - score };
            }
        }
        residuals
    }
}
