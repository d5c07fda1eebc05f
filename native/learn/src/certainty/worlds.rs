//! Which answers can be true together.

use super::{Said, Word, STEPS};
use std::collections::BTreeMap;

/// The worlds that some predicates hold in.
#[derive(Debug)]
pub struct Worlds {
    members: Vec<Member>,
    /// What the answer of a member means for another, by places among the members.
    means: Vec<Vec<Meaning>>,
    /// All worlds.
    all: Set,
}

#[derive(Debug)]
struct Member {
    place: usize,
    follows: bool,
    holds: Set,
}

/// Worlds, a bit for each.
type Set = Vec<u64>;

/// What a yes, and a no, mean for another predicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Meaning {
    yes: Option<bool>,
    no: Option<bool>,
}

impl Worlds {
    /// The worlds described, where `keys` has the predicates of all answers; none if they do not fit.
    pub fn of(
        described: &BTreeMap<String, Vec<bool>>,
        keys: &[String],
        follows: &[bool],
    ) -> Option<Worlds> {
        let count = described.values().next().map_or(0, Vec::len);
        let all = set(&vec![true; count]);
        let mut members = Vec::new();
        for (place, key) in keys.iter().enumerate() {
            let Some(holds) = described.get(key) else { continue };
            if holds.len() != count {
                return None;
            }
            members.push(Member { place, follows: follows[place], holds: set(holds) });
        }
        let mean = |of: &Member| members.iter().map(|to| Meaning::of(of, to, &all)).collect();
        let means = members.iter().map(mean).collect();
        Some(Worlds { members, means, all })
    }

    /// Makes answers unsure that contradict surer ones; and likelihoods follow from each other.
    pub fn make_consistent(&self, said: &mut [Said]) {
        self.retract(said);
        let order = self.surest_first(said);
        for (rank, &member) in order.iter().enumerate() {
            let own = &self.members[member];
            let (mut least, mut most) = (0, STEPS);
            let mut implied = None;
            for &before in &order[..rank] {
                let meaning = self.means[before][member];
                if meaning == Meaning::default() {
                    continue;
                }
                let known = said[self.members[before].place];
                implied = implied.or(meaning.of_word(known.word));
                if known.probability != 0 {
                    meaning.limit(known.probability, &mut least, &mut most);
                }
            }
            let said = &mut said[own.place];
            if said.probability != 0 {
                said.probability = said.probability.max(least).min(most);
            }
            if let (Word::Unsure, true, Some(yes)) = (said.word, own.follows, implied) {
                said.word = if yes { Word::Yes } else { Word::No };
            }
        }
    }

    /// Takes back what no world has together with what is surer.
    fn retract(&self, said: &mut [Said]) {
        let mut possible = self.all.clone();
        for member in self.surest_first(said) {
            let Member { place, holds, .. } = &self.members[member];
            let turned = match said[*place].word {
                Word::Unsure => return,
                Word::Yes => 0,
                Word::No => !0,
            };
            if possible.iter().zip(holds).any(|(possible, holds)| possible & (holds ^ turned) != 0)
            {
                possible
                    .iter_mut()
                    .zip(holds)
                    .for_each(|(possible, holds)| *possible &= holds ^ turned);
            } else {
                said[*place].word = Word::Unsure;
            }
        }
    }

    /// The members in the order in which they are believed: answers before what is unsure.
    fn surest_first(&self, said: &[Said]) -> Vec<usize> {
        let rank = |(member, own): (usize, &Member)| {
            let Said { word, probability } = said[own.place];
            let likely = match word {
                _ if probability == 0 => 0,
                Word::Yes => probability,
                Word::No => STEPS - probability,
                Word::Unsure => probability.max(STEPS - probability),
            };
            (word == Word::Unsure, STEPS - likely, member)
        };
        let mut ranks: Vec<_> = self.members.iter().enumerate().map(rank).collect();
        ranks.sort_unstable();
        ranks.into_iter().map(|(_, _, member)| member).collect()
    }
}

impl Meaning {
    fn of(of: &Member, to: &Member, all: &Set) -> Meaning {
        let words = || of.holds.iter().zip(&to.holds).zip(all);
        let never =
            |test: fn(u64, u64) -> u64| words().all(|((a, b), all)| test(*a, *b) & all == 0);
        let implied = |yes: bool, no: bool| match (yes, no) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        Meaning {
            yes: implied(never(|a, b| a & !b), never(|a, b| a & b)),
            no: implied(never(|a, b| !a & !b), never(|a, b| !a & b)),
        }
    }

    fn of_word(self, word: Word) -> Option<bool> {
        match word {
            Word::Yes => self.yes,
            Word::No => self.no,
            Word::Unsure => None,
        }
    }

    /// Narrows how likely the other is, where this one has a probability.
    fn limit(self, probability: u16, least: &mut u16, most: &mut u16) {
        let (yes, no) = (probability, STEPS - probability);
        for (implied, likely, otherwise) in [(self.yes, yes, no), (self.no, no, yes)] {
            match implied {
                Some(true) => *least = likely.max(*least),
                Some(false) => *most = otherwise.min(*most),
                None => {}
            }
        }
    }
}

fn set(holds: &[bool]) -> Set {
    let word = |bits: &[bool]| bits.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit));
    holds.chunks(64).map(word).collect()
}
