//! Three answers about one file, each with its probability, that do not contradict each other.
//!
//! Models answer each predicate alone. What they answer is a level (`predictor/answers/levels.py`), which
//! has an answer and a probability. Answers that cannot be true together (`predictor/predicates/worlds.py`) are
//! then made consistent: the least sure of them becomes `unsure`.

#[cfg(test)]
mod tests;
mod worlds;

use serde::Deserialize;
use std::collections::BTreeMap;
use worlds::Worlds;

/// In how many steps probabilities are told, from never to always: neither is ever said.
pub const STEPS: u16 = 10_000;

/// Whether a predicate will hold of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// It will not, within the bound on false negatives.
    No,
    /// Nothing is said.
    #[default]
    Unsure,
    /// It will, within the bound on false positives.
    Yes,
}

/// All that is said of one predicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The answer.
    pub word: Word,
    /// How likely it holds, of `STEPS`; 0 where that is not known.
    pub probability: u16,
}

/// A predicate, and what each of its levels says.
#[derive(Debug, Deserialize)]
struct Predicate {
    key: String,
    answers: Vec<Word>,
    probabilities: Vec<Option<f64>>,
    /// Whether what follows from another answer is said of it.
    follows: bool,
    /// The first level that reaches the threshold at the point; none if levels do not tell.
    #[serde(default)]
    reached: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct Description {
    predicates: Vec<Predicate>,
    worlds: Vec<BTreeMap<String, Vec<bool>>>,
}

/// What the levels of predicates say, and what that means for each other.
#[derive(Debug)]
pub struct Certainty {
    keys: Vec<String>,
    levels: Vec<Vec<Said>>,
    reached: Option<Vec<usize>>,
    worlds: Vec<Worlds>,
}

/// Why a description cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertaintyError {
    /// It is not JSON, or not of this form.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A predicate has no levels, or one of them says nothing that can be said.
    #[error("expected levels with an answer and a probability from 0 to 1")]
    Levels,
    /// The predicates of a group have different numbers of worlds.
    #[error("expected worlds of the same number")]
    Worlds,
}

impl Certainty {
    /// Reads what `predictor.answers.certainty.described` wrote. Those `abstaining` are never a yes.
    pub fn read(text: &str, abstaining: &[String]) -> Result<Certainty, CertaintyError> {
        let description: Description = serde_json::from_str(text)?;
        let predicates = &description.predicates;
        let keys: Vec<_> = predicates.iter().map(|each| each.key.clone()).collect();
        let levels = predicates.iter().map(|each| each.levels(abstaining.contains(&each.key)));
        let levels = levels.collect::<Option<_>>();
        let follows: Vec<_> = predicates.iter().map(|each| each.follows).collect();
        let worlds = description.worlds.iter().map(|each| Worlds::of(each, &keys, &follows));
        Ok(Certainty {
            levels: levels.ok_or(CertaintyError::Levels)?,
            reached: predicates.iter().map(|each| each.reached).collect(),
            worlds: worlds.collect::<Option<_>>().ok_or(CertaintyError::Worlds)?,
            keys,
        })
    }

    /// The predicates' keys.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// How many levels the predicate at `place` has.
    pub fn levels(&self, place: usize) -> usize {
        self.levels[place].len()
    }

    /// The first level of each predicate that reaches its threshold; none if levels do not tell.
    pub fn reached(&self) -> Option<&[usize]> {
        self.reached.as_deref()
    }

    /// Writes to `said` what the `levels` of the predicates say together.
    pub fn say(&self, levels: impl IntoIterator<Item = usize>, said: &mut Vec<Said>) {
        self.say_as(levels, |_, word| word, said);
    }

    /// The same, but `decide` is told the place of each predicate and its level's word, and says
    /// what is said instead.
    pub fn say_as(
        &self,
        levels: impl IntoIterator<Item = usize>,
        decide: impl Fn(usize, Word) -> Word,
        said: &mut Vec<Said>,
    ) {
        said.clear();
        let own = self.levels.iter().zip(levels).enumerate();
        said.extend(own.map(|(place, (own, level))| {
            let Said { word, probability } = own[level.min(own.len() - 1)];
            Said { word: decide(place, word), probability }
        }));
        for worlds in &self.worlds {
            worlds.make_consistent(said);
        }
    }
}

impl Predicate {
    fn levels(&self, abstains: bool) -> Option<Vec<Said>> {
        let fits = !self.answers.is_empty() && self.answers.len() == self.probabilities.len();
        let said = |(&word, probability): (&Word, &Option<f64>)| {
            let word = if abstains && word == Word::Yes { Word::Unsure } else { word };
            let probability = match probability {
                None => 0,
                Some(share) if (0.0..=1.0).contains(share) => {
                    (share * f64::from(STEPS)).round().clamp(1.0, f64::from(STEPS - 1)) as u16
                }
                Some(_) => return None,
            };
            Some(Said { word, probability })
        };
        fits.then(|| self.answers.iter().zip(&self.probabilities).map(said).collect())?
    }
}
