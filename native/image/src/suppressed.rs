//! Suppressed predicates, which are temporarily never a yes, by history scope.

use super::{Answers, Create, Predicate, WORDS};
use birthmark_contract::image::SCOPES;
use std::array::from_fn;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bits of the suppressed predicates; other threads may change them during lookups.
#[derive(Debug)]
pub struct SuppressedPredicates {
    /// By [`birthmark_contract::history_scope::HistoryScope`].
    bits: [[AtomicU64; WORDS]; SCOPES],
    /// The predicates about names, whose history scope may differ.
    names: Answers,
}

impl SuppressedPredicates {
    /// A set without suppressed predicates.
    pub fn none(predicates: &[Predicate]) -> SuppressedPredicates {
        let mut names = Answers::default();
        for (place, predicate) in predicates.iter().enumerate() {
            names[place / 64] |= u64::from(predicate.is_about_names()) << (place % 64);
        }
        SuppressedPredicates { bits: from_fn(|_| from_fn(|_| AtomicU64::new(0))), names }
    }

    /// Suppresses or re-enables a predicate at a history scope.
    pub fn set(&self, predicate: usize, scope: usize, suppressed: bool) {
        let (word, bit) = (&self.bits[scope][predicate / 64], 1 << (predicate % 64));
        match suppressed {
            true => word.fetch_or(bit, Relaxed),
            false => word.fetch_and(!bit, Relaxed),
        };
    }

    /// The answers without a yes of suppressed predicates.
    #[inline]
    pub fn without(&self, create: &Create, mut answers: Answers) -> Answers {
        let of_file = &self.bits[create.scope() as usize];
        let of_name = &self.bits[create.of_name().scope() as usize];
        for (place, answer) in answers.iter_mut().enumerate() {
            let [file, name] = [of_file, of_name].map(|bits| bits[place].load(Relaxed));
            let names = self.names[place];
            *answer &= !(file & !names | name & names);
        }
        answers
    }

    /// Whether a predicate is suppressed at some scopes, and not at all.
    pub fn depends_on_history_scope(&self) -> bool {
        let [first, others @ ..] =
            self.bits.each_ref().map(|own| own.each_ref().map(|word| word.load(Relaxed)));
        others.iter().any(|own| *own != first)
    }
}
