//! The consistent assignments of answers.

use super::{Rights, ThreeWayAnswer, Word, STEPS};

/// The consistent assignments of some predicates.
#[derive(Debug)]
pub struct Assignments {
    members: Vec<Member>,
    /// The implications of each member's answer for each other member.
    means: Vec<Vec<Meaning>>,
    /// All assignments.
    all: Set,
}

#[derive(Debug)]
struct Member {
    place: usize,
    holds: Set,
}

/// A set of assignments, a bit for each.
pub type Set = Vec<u64>;

/// The implications of a yes, and of a no, for another predicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Meaning {
    yes: Option<bool>,
    no: Option<bool>,
}

impl Assignments {
    /// `count` assignments, and for each member, by its place among all predicates, those in which it
    /// holds. None if one of these sets is not of that size.
    pub fn of(members: Vec<(usize, Set)>, count: usize) -> Option<Assignments> {
        let all = set(&vec![true; count]);
        let fits = |holds: &Set| {
            holds.len() == all.len() && holds.iter().zip(&all).all(|(own, all)| own & !all == 0)
        };
        members.iter().all(|(_, holds)| fits(holds)).then_some(())?;
        let members: Vec<_> =
            members.into_iter().map(|(place, holds)| Member { place, holds }).collect();
        let mean = |of: &Member| members.iter().map(|to| Meaning::of(of, to, &all)).collect();
        let means = members.iter().map(mean).collect();
        Some(Assignments { members, means, all })
    }

    /// Makes answers unsure that contradict surer ones, adds implied answers, and limits each
    /// probability by those of surer answers.
    ///
    /// `rights` are those of each predicate, by its place.
    pub fn make_consistent(&self, answers: &mut [ThreeWayAnswer], rights: &[Rights]) {
        let possible = self.retract(answers);
        self.add_implied(&possible, answers, rights);
        let order = self.surest_first(answers);
        for (rank, &member) in order.iter().enumerate() {
            let (mut least, mut most) = (0, STEPS);
            for &before in &order[..rank] {
                let meaning = self.means[before][member];
                let surer = answers[self.members[before].place];
                if meaning != Meaning::default() && surer.probability != 0 {
                    meaning.limit(surer.probability, &mut least, &mut most);
                }
            }
            let answer = &mut answers[self.members[member].place];
            if answer.probability != 0 {
                answer.probability = answer.probability.max(least).min(most);
            }
        }
    }

    /// Retracts answers that no assignment has together with surer ones, and returns the
    /// assignments that have all remaining answers.
    fn retract(&self, answers: &mut [ThreeWayAnswer]) -> Set {
        let mut possible = self.all.clone();
        for member in self.surest_first(answers) {
            let Member { place, holds } = &self.members[member];
            let turned = match answers[*place].word {
                Word::Unsure => break,
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
                answers[*place].word = Word::Unsure;
            }
        }
        possible
    }

    /// Adds the answers that all `possible` assignments agree on. They are likelier than not.
    fn add_implied(&self, possible: &Set, answers: &mut [ThreeWayAnswer], rights: &[Rights]) {
        for Member { place, holds } in &self.members {
            let (answer, rights) = (&mut answers[*place], rights[*place]);
            if answer.word != Word::Unsure || rights == Rights::default() {
                continue;
            }
            let (mut holds_in_one, mut fails_in_one) = (false, false);
            for (possible, holds) in possible.iter().zip(holds) {
                holds_in_one |= possible & holds != 0;
                fails_in_one |= possible & !holds != 0;
            }
            if !holds_in_one && fails_in_one && rights.no {
                answer.word = Word::No;
                answer.probability = answer.probability.min(STEPS / 2);
            } else if holds_in_one && !fails_in_one && rights.yes {
                answer.word = Word::Yes;
                if answer.probability != 0 {
                    answer.probability = answer.probability.max(STEPS / 2);
                }
            }
        }
    }

    /// The members in order of precedence: yes and no before unsure, the surest first.
    fn surest_first(&self, answers: &[ThreeWayAnswer]) -> Vec<usize> {
        let rank = |(number, member): (usize, &Member)| {
            let ThreeWayAnswer { word, probability } = answers[member.place];
            let likely = match word {
                _ if probability == 0 => 0,
                Word::Yes => probability,
                Word::No => STEPS - probability,
                Word::Unsure => probability.max(STEPS - probability),
            };
            (word == Word::Unsure, STEPS - likely, number)
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

    /// Narrows the range of the other's probability by this one's.
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

/// The assignments that hold.
pub fn set(holds: &[bool]) -> Set {
    let word = |bits: &[bool]| bits.iter().rev().fold(0, |word, &bit| word << 1 | u64::from(bit));
    holds.chunks(64).map(word).collect()
}
