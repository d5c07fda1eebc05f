//! Consistent three-way answers about one file, each with its probability.
//!
//! Models score each predicate alone. The score has a level (`predictor/answers/operating_points.py`), with an
//! answer and a probability. Answers that cannot be true together
//! (`predictor/predicates/assignments.py`) are made consistent: the least sure of them becomes
//! `unsure`. Implications of the remaining answers become answers, too.

mod assignments;
mod columns;
#[cfg(test)]
mod tests;

pub use assignments::{Assignments, Set};
pub use columns::Columns;

use assignments::set;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The scale of probabilities: from 1 to `STEPS` - 1, never certain.
pub const STEPS: u16 = 10_000;

/// Whether a predicate will hold for a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// It will not, within the bound on false negatives.
    No,
    /// Neither bound is kept.
    #[default]
    Unsure,
    /// It will, within the bound on false positives.
    Yes,
}

impl Word {
    /// All, in their order.
    pub const ALL: [Word; 3] = [Word::No, Word::Unsure, Word::Yes];

    /// The answer in requests.
    pub fn text(self) -> &'static str {
        match self {
            Word::No => "no",
            Word::Unsure => "unsure",
            Word::Yes => "yes",
        }
    }
}

/// The answer about one predicate, with its probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreeWayAnswer {
    /// The answer.
    pub word: Word,
    /// The probability of a yes, in `STEPS`; 0 if unknown.
    pub probability: u16,
}

/// A predicate, and the answer of each of its levels.
#[derive(Debug, Deserialize)]
struct Predicate {
    key: String,
    answers: Vec<Word>,
    probabilities: Vec<Option<f64>>,
    /// Whether implied answers count.
    follows: bool,
    /// Whether it is never a yes.
    #[serde(skip)]
    abstains: bool,
}

/// The implied answers that count for a predicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    /// Whether a no does.
    pub no: bool,
    /// Whether a yes does.
    pub yes: bool,
}

#[derive(Debug, Deserialize)]
struct Description {
    predicates: Vec<Predicate>,
    #[serde(rename = "worlds")]
    assignments: Vec<BTreeMap<String, Vec<bool>>>,
}

/// The answers of the levels of predicates, and their implications.
#[derive(Debug)]
pub struct Certainty {
    keys: Vec<String>,
    levels: Vec<Vec<ThreeWayAnswer>>,
    rights: Vec<Rights>,
    assignments: Vec<Assignments>,
}

/// An invalid description.
#[derive(Debug, thiserror::Error)]
pub enum CertaintyError {
    /// It is not JSON, or not of this form.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A predicate has no levels, or one of them has an invalid answer or probability.
    #[error("expected levels with an answer and a probability from 0 to 1")]
    Levels,
    /// The predicates of a group have different numbers of assignments.
    #[error("expected the same number of assignments for each predicate")]
    Assignments,
}

impl Certainty {
    /// Reads what `predictor.answers.certainty.describe` wrote. Those `abstaining` are never a yes.
    pub fn read(text: &str, abstaining: &[String]) -> Result<Certainty, CertaintyError> {
        let mut description: Description = serde_json::from_str(text)?;
        for predicate in &mut description.predicates {
            predicate.abstains |= abstaining.contains(&predicate.key);
        }
        let predicates = &description.predicates;
        let keys: Vec<_> = predicates.iter().map(|predicate| predicate.key.clone()).collect();
        let levels = predicates.iter().map(Predicate::levels).collect::<Option<_>>();
        let assignments = description.assignments.iter().map(|table| of_table(table, &keys));
        Ok(Certainty {
            levels: levels.ok_or(CertaintyError::Levels)?,
            rights: predicates.iter().map(Predicate::rights).collect(),
            assignments: assignments.collect::<Option<_>>().ok_or(CertaintyError::Assignments)?,
            keys,
        })
    }

    /// The predicates' keys.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Writes the consistent `answers` of the predicates' `levels`.
    pub fn answer(
        &self,
        levels: impl IntoIterator<Item = usize>,
        answers: &mut Vec<ThreeWayAnswer>,
    ) {
        answers.clear();
        let predicates = self.levels.iter().zip(levels);
        answers.extend(predicates.map(|(own, level)| own[level.min(own.len() - 1)]));
        for assignments in &self.assignments {
            assignments.make_consistent(answers, &self.rights);
        }
    }
}

/// The assignments of a truth table, where `keys` are the predicates of all answers; none if its
/// columns differ in length.
fn of_table(table: &BTreeMap<String, Vec<bool>>, keys: &[String]) -> Option<Assignments> {
    let count = table.values().next().map_or(0, Vec::len);
    let members = keys.iter().enumerate().filter_map(|(place, key)| {
        let holds = table.get(key)?;
        Some((holds.len() == count).then(|| (place, set(holds))))
    });
    Assignments::of(members.collect::<Option<_>>()?, count)
}

impl Predicate {
    fn rights(&self) -> Rights {
        Rights { no: self.follows, yes: self.follows && !self.abstains }
    }

    fn levels(&self) -> Option<Vec<ThreeWayAnswer>> {
        let fits = !self.answers.is_empty() && self.answers.len() == self.probabilities.len();
        let level = |(&word, probability): (&Word, &Option<f64>)| {
            let word = if self.abstains && word == Word::Yes { Word::Unsure } else { word };
            let probability = match probability {
                None => 0,
                Some(share) if (0.0..=1.0).contains(share) => {
                    (share * f64::from(STEPS)).round().clamp(1.0, f64::from(STEPS - 1)) as u16
                }
                Some(_) => return None,
            };
            Some(ThreeWayAnswer { word, probability })
        };
        fits.then(|| self.answers.iter().zip(&self.probabilities).map(level).collect())?
    }
}
