//! A permanent trial of whether hints do harm.
//!
//! Time is cut into periods of one length, ten to a round. In each round one random period is
//! without hints. The compared quantity is the share of the written data that the cleaner moved. If
//! hints make no difference, the period without is equally likely to have any rank among the ten,
//! whatever the traffic, because it was drawn at random. So a bet that pays 3.41 / r times the
//! stake for rank r (the mean of 1, 1/2 up to 1/10 is 1/3.41; equal shares get their mean) neither
//! wins nor loses on average. If hints do harm, the period without them has the lowest share more
//! often, and the bet wins.
//!
//! The product of the wins, round after round, is the *evidence*. It is reset to 1 at the beginning
//! of a round if it is less, so that harm that begins late is found as soon. Without any harm it
//! reaches [`HARM`] at most once in that many rounds on average (a nonnegative martingale that
//! restarts at each round: Shin, Ramdas and Rinaldo, "E-detectors", 2023).

use serde::{Deserialize, Serialize};

/// Periods of a round; one is without hints.
pub const PERIODS: usize = 10;

/// The evidence that counts as harm.
pub const HARM: f64 = 10_000.0;

/// Amounts that a file system has written and moved, in any common unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Written {
    /// All data written.
    pub all: f64,
    /// Data moved.
    pub moved: f64,
}

impl Written {
    /// The amounts since `before`; none if the counters were reset.
    pub fn since(self, before: Written) -> Option<Written> {
        let (all, moved) = (self.all - before.all, self.moved - before.moved);
        (all >= 0.0 && moved >= 0.0).then_some(Written { all, moved })
    }

    /// The moved share; none if nothing was written.
    fn share(self) -> f64 {
        if self.all > 0.0 {
            self.moved / self.all
        } else {
            0.0
        }
    }
}

/// The results of the trial, which outlive the program.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Trial {
    /// The product of wins.
    pub evidence: f64,
    /// Rounds that were compared.
    pub rounds: u64,
    /// Whether hints were found to do harm.
    pub harm: bool,
}

impl Default for Trial {
    fn default() -> Self {
        Trial { evidence: 1.0, rounds: 0, harm: false }
    }
}

impl Trial {
    /// Adds a round's periods; the one at `without` had no hints.
    pub fn take(&mut self, periods: &[Written; PERIODS], without: usize) {
        self.evidence = self.evidence.max(1.0) * won(&periods.map(Written::share), without);
        self.rounds += 1;
        self.harm |= self.evidence >= HARM;
    }
}

/// The win of a stake of one.
fn won(shares: &[f64; PERIODS], without: usize) -> f64 {
    let own = shares.get(without).copied().unwrap_or_default();
    let lower = shares.iter().filter(|share| **share < own).count();
    let equal = shares.iter().filter(|share| **share == own).count().max(1);
    let pays = |rank: usize| 1.0 / rank as f64;
    let fair = (1..=PERIODS).map(pays).sum::<f64>() / PERIODS as f64;
    (lower + 1..=lower + equal).map(pays).sum::<f64>() / equal as f64 / fair
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random-looking numbers from 0 to 1 (Knuth's MMIX, the high bits).
    struct Chance(u64);

    impl Chance {
        fn next(&mut self) -> f64 {
            let step = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = step.wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn below(&mut self, count: usize) -> usize {
            (self.next() * count as f64) as usize
        }
    }

    /// A file system whose cleaner moves a share of the written data, `worse` times as much with
    /// hints; traffic varies by a factor of ten, and the share by a factor of two.
    fn round(chance: &mut Chance, worse: f64) -> ([Written; PERIODS], usize) {
        let without = chance.below(PERIODS);
        let periods = std::array::from_fn(|place| {
            let all = 1e6 * (1.0 + 9.0 * chance.next());
            let more = if place == without { 1.0 } else { worse };
            Written { all, moved: all * 0.1 * (1.0 + chance.next()) * more }
        });
        (periods, without)
    }

    fn rounds_until_harm(seed: u64, worse: f64, most: u64) -> Option<u64> {
        let (mut chance, mut trial) = (Chance(seed), Trial::default());
        (0..most).find_map(|_| {
            let (periods, without) = round(&mut chance, worse);
            trial.take(&periods, without);
            trial.harm.then_some(trial.rounds)
        })
    }

    #[test]
    fn a_stake_neither_wins_nor_loses_on_average_whatever_the_periods_are() {
        for shares in [[0.0; 10], [0.5, 0.1, 0.1, 0.1, 0.2, 0.0, 0.0, 0.9, 0.3, 0.4]] {
            let mean = (0..PERIODS).map(|without| won(&shares, without)).sum::<f64>() / 10.0;
            assert!((mean - 1.0).abs() < 1e-12, "{mean}");
        }
    }

    #[test]
    fn half_as_much_again_moved_with_hints_is_found_within_some_tens_of_rounds() {
        let mut found: Vec<_> =
            (1..=100).map(|seed| rounds_until_harm(seed, 1.5, 1000).unwrap()).collect();
        found.sort();
        assert!(found[50] <= 40 && found[99] <= 150, "{found:?}");
    }

    #[test]
    fn twice_as_much_moved_in_every_period_with_hints_is_found_in_eight_rounds() {
        assert!(rounds_until_harm(1, 2.1, 8).is_some());
        assert!(rounds_until_harm(1, 2.1, 7).is_none());
    }

    #[test]
    fn hints_that_change_nothing_are_left_on() {
        let alarms = (1..=100).filter(|seed| rounds_until_harm(*seed, 1.0, 500).is_some()).count();
        // 50,000 rounds, with five false alarms on average.
        assert!(alarms <= 15, "{alarms}");
    }

    #[test]
    fn hints_that_help_are_left_on() {
        assert!((1..=100).all(|seed| rounds_until_harm(seed, 0.7, 500).is_none()));
    }

    #[test]
    fn harm_that_begins_late_is_found_as_soon_and_stays_found() {
        let (mut chance, mut trial) = (Chance(1), Trial::default());
        for _ in 0..500 {
            let (periods, without) = round(&mut chance, 0.7);
            trial.take(&periods, without);
        }
        assert!(!trial.harm);
        for _ in 0..10 {
            let (periods, without) = round(&mut chance, 3.0);
            trial.take(&periods, without);
        }
        assert!(trial.harm);
        let (periods, without) = round(&mut chance, 0.1);
        trial.take(&periods, without);
        assert!(trial.harm);
    }

    #[test]
    fn a_file_system_that_writes_nothing_tells_nothing() {
        let (mut trial, idle) = (Trial::default(), [Written { all: 0.0, moved: 0.0 }; PERIODS]);
        trial.take(&idle, 3);
        assert!((trial.evidence - 1.0).abs() < 1e-12);
    }

    #[test]
    fn counters_that_restarted_are_not_compared() {
        let (more, less) = (Written { all: 2.0, moved: 2.0 }, Written { all: 3.0, moved: 1.0 });
        assert_eq!(less.since(more), None);
        assert_eq!(more.since(more), Some(Written { all: 0.0, moved: 0.0 }));
    }
}
