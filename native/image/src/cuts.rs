//! What scores mean: cuts by history scope and operating point, and levels with probabilities.

use super::bytes::{Block, Bytes};
use birthmark_contract::image::{self as format, POINTS, SCOPES};
use birthmark_learn::certainty::{Rights, ThreeWayAnswer, Word};
use std::array::from_fn;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A cut that no score reaches.
pub const NEVER: u16 = format::NEVER as u16;
/// Bytes of a meaning.
const MEANING: usize = format::MEANING_ENTRY as usize;

/// The meaning of a predicate's scores, by history scope.
#[derive(Debug)]
pub struct Meaning([AtScope; SCOPES]);

#[derive(Debug)]
struct AtScope {
    /// By operating point.
    calibrated: [Calibrated; POINTS],
    /// [`Cuts`] in force; other threads may replace them during lookups.
    in_force: AtomicU64,
}

/// The meaning at one operating point, as the image has it.
#[derive(Debug, PartialEq, Eq)]
struct Calibrated {
    levels: Vec<Level>,
    cuts: Cuts,
}

/// The least score of a level, and the probability of a yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    least: u16,
    probability: u16,
}

/// The cuts at one operating point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cuts {
    /// The least score that is a yes.
    yes: u16,
    /// The least score that is a yes of three answers.
    sure: u16,
    /// The least score that is no longer a no of three answers.
    no: u16,
    rights: Rights,
}

/// A change of a predicate's cuts at one history scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The cuts are those of the image.
    Calibrated,
    /// Scores are a yes from here on.
    Moved(u16),
    /// No score is a yes, and no other answer implies one.
    Suppressed,
}

impl Meaning {
    /// Reads the scopes of a predicate's row; lookups are at `point`.
    pub fn read(block: &Block, row: Bytes, point: usize) -> Option<Meaning> {
        let read = |scope: usize| {
            let first = format::KEY_ENTRY as usize + scope * POINTS * MEANING;
            AtScope::read(block, row, first, point)
        };
        let scopes: Vec<_> = (0..SCOPES).map(read).collect::<Option<_>>()?;
        Some(Meaning(scopes.try_into().ok()?))
    }

    /// Whether no score is a yes at any history scope, as calibrated.
    pub fn abstains(&self, point: usize) -> bool {
        self.0.iter().all(|scope| scope.calibrated[point].cuts.yes == NEVER)
    }

    /// The least scores of a yes as calibrated, by history scope.
    pub fn calibrated(&self, point: usize) -> [u16; SCOPES] {
        self.0.each_ref().map(|scope| scope.calibrated[point].cuts.yes)
    }

    /// Puts cuts in force at a history scope from the next lookup on.
    pub fn change(&self, scope: usize, point: usize, change: Change) {
        let scope = &self.0[scope];
        let calibrated = scope.calibrated[point].cuts;
        let cuts = match change {
            Change::Calibrated => calibrated,
            Change::Moved(yes) => Cuts { yes, sure: yes, ..calibrated },
            Change::Suppressed => {
                let rights = Rights { yes: false, ..calibrated.rights };
                Cuts { yes: NEVER, sure: NEVER, rights, ..calibrated }
            }
        };
        scope.in_force.store(cuts.pack(), Relaxed);
    }

    /// Whether a score is a yes at a history scope.
    pub fn is_yes(&self, scope: usize, score: u16) -> bool {
        score >= Cuts::of(self.0[scope].in_force.load(Relaxed)).yes
    }

    /// Whether a score is a yes at a history scope, its three-way answer, and which implied answers
    /// count.
    pub fn answer(&self, scope: usize, point: usize, score: u16) -> (bool, ThreeWayAnswer, Rights) {
        let scope = &self.0[scope];
        let cuts = Cuts::of(scope.in_force.load(Relaxed));
        let word = match () {
            () if score >= cuts.sure => Word::Yes,
            () if score < cuts.no => Word::No,
            () => Word::Unsure,
        };
        let probability = scope.calibrated[point].probability(score);
        let answer = ThreeWayAnswer { word, probability };
        (score >= cuts.yes, answer, cuts.rights)
    }

    /// Whether probabilities are known at any history scope.
    pub fn has_probabilities(&self, point: usize) -> bool {
        self.0.iter().any(|scope| !scope.calibrated[point].levels.is_empty())
    }

    /// Whether the meaning of a score depends on the history scope.
    pub fn depends_on_scope(&self, point: usize) -> bool {
        let [first, others @ ..] = &self.0;
        let differs = |other: &AtScope| {
            other.in_force.load(Relaxed) != first.in_force.load(Relaxed)
                || other.calibrated[point] != first.calibrated[point]
        };
        others.iter().any(differs)
    }
}

impl AtScope {
    fn read(block: &Block, row: Bytes, first: usize, point: usize) -> Option<AtScope> {
        let read = |point: usize| Calibrated::read(block, row, first + point * MEANING);
        let calibrated: Vec<_> = (0..POINTS).map(read).collect::<Option<_>>()?;
        let in_force = AtomicU64::new(calibrated[point].cuts.pack());
        Some(AtScope { calibrated: calibrated.try_into().ok()?, in_force })
    }
}

impl Calibrated {
    fn read(block: &Block, row: Bytes, at: usize) -> Option<Calibrated> {
        let levels = block.array(row.u32(at), row.u32(at + 4), format::LEVEL_ENTRY, 4)?;
        let level = |row: Bytes| Level { least: row.u16(0) as u16, probability: row.u16(2) as u16 };
        let levels: Vec<_> = levels.rows(format::LEVEL_ENTRY as usize).map(level).collect();
        let ascend = levels.windows(2).all(|pair| pair[0].least < pair[1].least);
        let steps = format::PROBABILITY_STEPS;
        let possible = levels.iter().all(|level| u32::from(level.probability) < steps);
        let cuts = Cuts::read(row, at + 8)?;
        (ascend && possible).then_some(Calibrated { levels, cuts })
    }

    /// The probability of a yes; 0 if it is unknown.
    fn probability(&self, score: u16) -> u16 {
        let reached = self.levels.partition_point(|level| level.least <= score);
        reached.checked_sub(1).map_or(0, |last| self.levels[last].probability)
    }
}

impl Cuts {
    fn read(row: Bytes, at: usize) -> Option<Cuts> {
        let [yes, sure, no, implied] = from_fn(|place| row.u16(at + 2 * place) as u16);
        (implied <= 3).then_some(Cuts { yes, sure, no, rights: rights(implied) })
    }

    fn pack(self) -> u64 {
        let implied = u64::from(self.rights.no) | u64::from(self.rights.yes) << 1;
        u64::from(self.yes) | u64::from(self.sure) << 16 | u64::from(self.no) << 32 | implied << 48
    }

    fn of(packed: u64) -> Cuts {
        let [yes, sure, no, implied] = from_fn(|place| (packed >> (16 * place)) as u16);
        Cuts { yes, sure, no, rights: rights(implied) }
    }
}

/// The implied answers that count.
fn rights(implied: u16) -> Rights {
    Rights { no: implied & 1 != 0, yes: implied & 2 != 0 }
}
