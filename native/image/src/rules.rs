//! Rules: components of names, each with the least and the greatest score of predicates.

use super::bytes::Block;
use super::create::Create;
use super::dictionary::{Dictionary, Hash};
use super::scores::Counted;
use super::steps::step;
use arrow_buffer::Buffer;
use birthmark_contract::image as format;

const PREFIX: usize = format::PREFIX_LEN as usize;
const PLACES: usize = format::PLACES;
const PREDICATES: usize = format::PREDICATES_MAX as usize;

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
    /// For each predicate the least score, then for each the greatest.
    rows: Buffer,
    predicates: usize,
    order: [usize; PLACES],
}

/// The rows of the components of a name.
struct Found {
    /// The row of the places that occur once.
    rows: [Option<usize>; PLACES],
    /// The middle pieces together.
    middle: Row,
    has_middle: bool,
}

type Row = [u8; 2 * PREDICATES];

impl Rules {
    /// Reads the section at `offset`.
    pub fn read(block: &Block, offset: u32, predicates: usize) -> Option<Self> {
        let head = block.array(offset, 1, 48, 8)?;
        let count = head.u32(32);
        let rows = block.array(head.u32(36), count, 2 * predicates as u32, 1)?.keep();
        let order: [usize; PLACES] = std::array::from_fn(|i| usize::from(head.u8(40 + i)));
        let mut sorted = order;
        sorted.sort_unstable();
        if sorted != [0, 1, 2, 3, 4, 5] || (46..48).any(|at| head.u8(at) != 0) {
            return None;
        }
        Some(Rules { dictionary: Dictionary::read(block, head, count)?, rows, predicates, order })
    }

    /// Greatest number of steps of a lookup: text and row of each component.
    pub fn steps(&self) -> u64 {
        u64::from(format::COMPONENTS_MAX) * (self.dictionary.steps() + 1)
    }

    /// Gives the scores of a create.
    pub fn score(&self, create: &Create, scores: &mut Counted) {
        let mut found = Found::default();
        if let Some(name) = create.name {
            self.find_all(name, &mut found);
        }
        self.find(Place::Any, self.dictionary.start(), &[], &mut found);
        let (mut score, mut ceiling) = ([0; PREDICATES], [u8::MAX; PREDICATES]);
        for place in self.order {
            let row = match found.rows[place] {
                Some(row) => self.row(row),
                None if place == Place::Middle as usize && found.has_middle => {
                    &found.middle[..2 * self.predicates]
                }
                None => continue,
            };
            let (least, most) = row.split_at(self.predicates);
            let own = score.iter_mut().zip(&mut ceiling);
            for ((score, ceiling), (least, most)) in own.zip(least.iter().zip(most)) {
                *ceiling = (*ceiling).min(*most);
                *score = (*score).max((*least).min(*ceiling));
            }
        }
        (0..self.predicates).for_each(|place| scores.give(place, score[place].into()));
    }

    fn row(&self, row: usize) -> &[u8] {
        &self.rows[2 * self.predicates * row..][..2 * self.predicates]
    }

    /// Hashes all components in one pass over the name, and looks each up.
    fn find_all(&self, name: &[u8], found: &mut Found) {
        let (mut whole, mut piece) = (self.dictionary.start(), self.dictionary.start());
        let (mut start, mut place) = (0, Place::First);
        for (i, &byte) in name.iter().enumerate() {
            if i == PREFIX && (start > 0 || byte != b'.') {
                self.find(Place::Prefix, whole, &name[..i], found);
            }
            if byte == b'.' {
                self.find(place, piece, &name[start..i], found);
                (start, place) = (i + 1, Place::Middle);
                piece = self.dictionary.start();
            } else {
                piece = piece.step(byte);
            }
            whole = whole.step(byte);
        }
        if start > 0 {
            self.find(Place::Last, piece, &name[start..], found);
        }
        self.find(Place::Whole, whole, name, found);
    }

    fn find(&self, place: Place, hash: Hash, text: &[u8], found: &mut Found) {
        let Some(row) = self.dictionary.find_hashed(place as usize, hash, text) else { return };
        step(1);
        match place {
            Place::Middle => found.add_middle(self.row(row as usize)),
            _ => found.rows[place as usize] = Some(row as usize),
        }
    }
}

impl Default for Found {
    fn default() -> Found {
        Found { rows: [None; PLACES], middle: [0; 2 * PREDICATES], has_middle: false }
    }
}

impl Found {
    fn add_middle(&mut self, row: &[u8]) {
        let (least, most) = row.split_at(row.len() / 2);
        let (own_least, own_most) = self.middle[..row.len()].split_at_mut(least.len());
        if !self.has_middle {
            own_most.fill(u8::MAX);
        }
        self.has_middle = true;
        own_least.iter_mut().zip(least).for_each(|(own, score)| *own = (*own).max(*score));
        own_most.iter_mut().zip(most).for_each(|(own, score)| *own = (*own).min(*score));
    }
}
