//! Predicates that are never a yes for now, by what is told of a create.

use super::{Answers, Create, Predicate, WORDS};
use birthmark_contract::image::TOLD;
use std::array::from_fn;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bits of the predicates that are closed; others may open and close them during lookups.
#[derive(Debug)]
pub struct Closed {
    /// By [`birthmark_contract::told::Told`].
    bits: [[AtomicU64; WORDS]; TOLD],
    /// The predicates about names, of which a create may be told something else.
    names: Answers,
}

impl Closed {
    /// None of these.
    pub fn none(predicates: &[Predicate]) -> Closed {
        let mut names = Answers::default();
        for (place, predicate) in predicates.iter().enumerate() {
            names[place / 64] |= u64::from(predicate.is_about_names()) << (place % 64);
        }
        Closed { bits: from_fn(|_| from_fn(|_| AtomicU64::new(0))), names }
    }

    /// Closes a predicate where so much is told, or opens it.
    pub fn set(&self, predicate: usize, told: usize, closed: bool) {
        let (word, bit) = (&self.bits[told][predicate / 64], 1 << (predicate % 64));
        match closed {
            true => word.fetch_or(bit, Relaxed),
            false => word.fetch_and(!bit, Relaxed),
        };
    }

    /// Answers without a yes of these.
    #[inline]
    pub fn without(&self, create: &Create, mut answers: Answers) -> Answers {
        let of_file = &self.bits[create.told() as usize];
        let of_name = &self.bits[create.of_name().told() as usize];
        for (place, answer) in answers.iter_mut().enumerate() {
            let [file, name] = [of_file, of_name].map(|bits| bits[place].load(Relaxed));
            let names = self.names[place];
            *answer &= !(file & !names | name & names);
        }
        answers
    }

    /// Whether one is closed for some that may be told, and not for all.
    pub fn goes_by_what_is_told(&self) -> bool {
        let [first, others @ ..] =
            self.bits.each_ref().map(|own| own.each_ref().map(|word| word.load(Relaxed)));
        others.iter().any(|own| *own != first)
    }
}
