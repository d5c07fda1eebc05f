//! Three-way answers as columns.

use super::{ThreeWayAnswer, STEPS};
use arrow_array::{Float64Array, UInt8Array};

/// Answers as two columns per predicate: the answers by number, and the probabilities.
pub struct Columns {
    words: Vec<Vec<u8>>,
    likely: Vec<Vec<Option<f64>>>,
}

impl Columns {
    /// Empty columns for answers about `predicates`.
    pub fn new(predicates: usize) -> Columns {
        Columns { words: vec![Vec::new(); predicates], likely: vec![Vec::new(); predicates] }
    }

    /// Adds a row.
    pub fn push(&mut self, answers: &[ThreeWayAnswer]) {
        for ((words, likely), each) in self.words.iter_mut().zip(&mut self.likely).zip(answers) {
            words.push(each.word as u8);
            let known = each.probability != 0;
            likely.push(known.then(|| f64::from(each.probability) / f64::from(STEPS)));
        }
    }

    /// The answers, and the probabilities, null where unknown.
    pub fn finish(self) -> (Vec<UInt8Array>, Vec<Float64Array>) {
        let words = self.words.into_iter().map(UInt8Array::from);
        (words.collect(), self.likely.into_iter().map(Float64Array::from).collect())
    }
}
