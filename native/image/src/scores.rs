//! Scores of predicates, and the masks of those that count.

use super::bytes::Block;
use super::{Answers, WORDS};
use birthmark_contract::image as format;

/// The scores of all predicates of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scores([u16; 64 * WORDS]);

impl Default for Scores {
    fn default() -> Scores {
        Scores([0; 64 * WORDS])
    }
}

impl Scores {
    /// The score of a predicate, by its place.
    pub fn of(&self, place: usize) -> u16 {
        self.0[place]
    }
}

/// The predicates for which a section's scores count, by history scope and operating point.
#[derive(Debug)]
pub struct Masks {
    by_scope: [[Answers; format::POINTS]; format::SCOPES],
    /// The predicates about names, whose history scope may differ.
    names: Answers,
}

/// Scores, and the predicates for which a section's count at a create's history scopes.
pub struct Counted<'a> {
    mask: Answers,
    scores: &'a mut Scores,
}

impl Masks {
    /// Reads the masks at `offset` of predicates that are or are not about names.
    pub fn read(
        block: &Block,
        offset: u32,
        about_names: impl Iterator<Item = bool>,
    ) -> Option<Masks> {
        let (mut names, mut count) = (Answers::default(), 0);
        for (place, is_about_names) in about_names.enumerate() {
            names[place / 64] |= u64::from(is_about_names) << (place % 64);
            count = place + 1;
        }
        let words = count.div_ceil(64);
        let masks = (format::SCOPES * format::POINTS) as u32;
        let rows = block.array(offset, masks, 8 * words as u32, 8)?.u64s();
        let mut by_scope = [[Answers::default(); format::POINTS]; format::SCOPES];
        for (mask, row) in by_scope.as_flattened_mut().iter_mut().zip(rows.chunks_exact(words)) {
            mask[..words].copy_from_slice(row);
        }
        let beyond = if count.is_multiple_of(64) { 0 } else { u64::MAX << (count % 64) };
        let fits = by_scope.as_flattened().iter().all(|mask| mask[words - 1] & beyond == 0);
        fits.then_some(Masks { by_scope, names })
    }

    /// The scores that count at the history scopes of files and of names; none if no predicate's do.
    pub fn at<'a>(
        &self,
        point: usize,
        scopes: [usize; 2],
        scores: &'a mut Scores,
    ) -> Option<Counted<'a>> {
        let [of_file, of_name] = scopes.map(|scope| &self.by_scope[scope][point]);
        let word = |at: usize| of_file[at] & !self.names[at] | of_name[at] & self.names[at];
        let mask: Answers = std::array::from_fn(word);
        (mask != Answers::default()).then_some(Counted { mask, scores })
    }

    /// Whether the predicates depend on the history scope.
    pub fn depend_on_scope(&self, point: usize) -> bool {
        self.by_scope.iter().any(|masks| masks[point] != self.by_scope[0][point])
    }
}

impl Counted<'_> {
    /// Gives a predicate a score, if it counts and no other section gives it more.
    #[inline]
    pub fn give(&mut self, place: usize, score: u16) {
        if self.mask[place / 64] >> (place % 64) & 1 == 1 {
            self.scores.0[place] = self.scores.0[place].max(score);
        }
    }
}
