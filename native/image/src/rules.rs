//! Rules: components of names, each with the predicates for which it is a yes, and a no.

use super::bytes::Block;
use super::create::Create;
use super::dictionary::{Dictionary, Hash};
use super::steps::step;
use super::Answers;
use arrow_buffer::ScalarBuffer;
use birthmark_contract::image as format;

const PREFIX: usize = format::PREFIX_LEN as usize;
const PLACES: usize = format::PLACES;

/// The position of a component in a name; the number is its kind in the dictionary.
#[derive(Clone, Copy)]
enum Place {
    Whole = format::WHOLE as isize,
    First = format::FIRST as isize,
    Last = format::LAST as isize,
    Middle = format::MIDDLE as isize,
    Prefix = format::PREFIX as isize,
    /// In no place: every create has it.
    Any = format::ANY as isize,
}

/// A section of rules.
#[derive(Debug)]
pub struct Rules {
    dictionary: Dictionary,
    masks: ScalarBuffer<u64>,
    words: usize,
    order: [usize; PLACES],
}

#[derive(Default)]
struct Votes {
    yes: [Answers; PLACES],
    no: [Answers; PLACES],
}

impl Rules {
    /// Reads the section at `offset`.
    pub fn read(block: &Block, offset: u32, predicates: usize) -> Option<Self> {
        let head = block.array(offset, 1, 48, 8)?;
        let words = predicates.div_ceil(64);
        let count = head.u32(32);
        let masks = block.array(head.u32(36), count, 16 * words as u32, 8)?.u64s();
        let beyond = if predicates.is_multiple_of(64) { 0 } else { u64::MAX << (predicates % 64) };
        if masks.chunks_exact(words).any(|mask| mask[words - 1] & beyond != 0) {
            return None;
        }
        let order: [usize; PLACES] = std::array::from_fn(|i| usize::from(head.u8(40 + i)));
        let mut sorted = order;
        sorted.sort_unstable();
        if sorted != [0, 1, 2, 3, 4, 5] || (46..48).any(|at| head.u8(at) != 0) {
            return None;
        }
        Some(Rules { dictionary: Dictionary::read(block, head, count)?, masks, words, order })
    }

    /// Greatest number of steps of a lookup: text and mask of each component.
    pub fn steps(&self) -> u64 {
        u64::from(format::COMPONENTS_MAX) * (self.dictionary.steps() + 1)
    }

    /// Adds the predicates for which the rules decide yes.
    pub fn lookup(&self, create: &Create, answers: &mut Answers) {
        let mut votes = Votes::default();
        if let Some(name) = create.name {
            self.vote_all(name, &mut votes);
        }
        self.vote(Place::Any, self.dictionary.start(), &[], &mut votes);
        for (word, answer) in answers.iter_mut().enumerate().take(self.words) {
            let mut decided = 0;
            for place in self.order {
                let (yes, no) = (votes.yes[place][word], votes.no[place][word]);
                *answer |= yes & !no & !decided;
                decided |= yes | no;
            }
        }
    }

    /// Hashes all components in one pass over the name, and looks each up.
    fn vote_all(&self, name: &[u8], votes: &mut Votes) {
        let (mut whole, mut piece) = (self.dictionary.start(), self.dictionary.start());
        let (mut start, mut place) = (0, Place::First);
        for (i, &byte) in name.iter().enumerate() {
            if i == PREFIX && (start > 0 || byte != b'.') {
                self.vote(Place::Prefix, whole, &name[..i], votes);
            }
            if byte == b'.' {
                self.vote(place, piece, &name[start..i], votes);
                (start, place) = (i + 1, Place::Middle);
                piece = self.dictionary.start();
            } else {
                piece = piece.step(byte);
            }
            whole = whole.step(byte);
        }
        if start > 0 {
            self.vote(Place::Last, piece, &name[start..], votes);
        }
        self.vote(Place::Whole, whole, name, votes);
    }

    fn vote(&self, place: Place, hash: Hash, text: &[u8], votes: &mut Votes) {
        let place = place as usize;
        if let Some(found) = self.dictionary.find_hashed(place, hash, text) {
            step(1);
            let masks = &self.masks[2 * self.words * found as usize..][..2 * self.words];
            let (yes, no) = masks.split_at(self.words);
            votes.yes[place].iter_mut().zip(yes).for_each(|(word, mask)| *word |= mask);
            votes.no[place].iter_mut().zip(no).for_each(|(word, mask)| *word |= mask);
        }
    }
}
