//! Rules or trees that answer only at certain history scopes, predicate by predicate.

use super::bytes::Block;
use super::create::{Create, Needs};
use super::steps::step;
use super::{set, Answers, Predicate, Section};
use birthmark_contract::image as format;

/// Bytes of the head.
const HEAD: u32 = 16;

/// A section, and the predicates that it answers at each history scope.
#[derive(Debug)]
pub struct ScopedSection {
    section: Section,
    /// By [`birthmark_contract::history_scope::HistoryScope`].
    masks: [Answers; format::SCOPES],
    /// The predicates about names, whose history scope may differ.
    names: Answers,
}

impl ScopedSection {
    /// Reads the section at `offset`.
    pub fn read(block: &Block, offset: u32, predicates: &[Predicate]) -> Option<Self> {
        let head = block.array(offset, 1, HEAD, 8)?;
        (head.u32(12) == 0).then_some(())?;
        let section = Section::read_plain_section(block, head, predicates.len())?;
        let words = predicates.len().div_ceil(64);
        let masks = block.array(head.u32(8), format::SCOPES as u32, 8 * words as u32, 8)?.u64s();
        let (mut all, mut names) = (Answers::default(), Answers::default());
        for (place, predicate) in predicates.iter().enumerate() {
            set(&mut all, place);
            if predicate.is_about_names() {
                set(&mut names, place);
            }
        }
        let mut own = [Answers::default(); format::SCOPES];
        for (mask, row) in own.iter_mut().zip(masks.chunks_exact(words)) {
            mask[..words].copy_from_slice(row);
        }
        let beyond = |mask: &Answers| mask.iter().zip(all).any(|(word, all)| word & !all != 0);
        (!own.iter().any(beyond)).then_some(ScopedSection { section, masks: own, names })
    }

    /// Greatest number of steps of a lookup: those of the section, and a mask.
    pub fn steps(&self) -> u64 {
        1 + self.section.steps()
    }

    /// Adds the predicates that are a yes at the create's history scope.
    pub fn lookup(&self, create: &Create, answers: &mut Answers) {
        step(1);
        let of_file = self.masks[create.scope() as usize];
        let of_name = self.masks[create.of_name().scope() as usize];
        let mask = |word: usize| {
            let names = self.names[word];
            of_file[word] & !names | of_name[word] & names
        };
        let mask: Answers = std::array::from_fn(mask);
        if mask == Answers::default() {
            return;
        }
        let mut own = Answers::default();
        self.section.lookup(create, &mut own);
        for (answer, (own, mask)) in answers.iter_mut().zip(own.into_iter().zip(mask)) {
            *answer |= own & mask;
        }
    }

    /// Adds the needs of the section, and the history, whose scope selects the mask.
    pub fn add_needs(&self, needs: &mut Needs) {
        self.section.add_needs(needs);
        needs.history = true;
    }
}
