//! Whether a shared history may be told from, and why not.

use super::header::{Facts, State};

/// How old, late and lossy what is told from may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Microseconds since the last update.
    pub age: u64,
    /// Microseconds that the follower is behind the traffic.
    pub lag: u64,
    /// The share of operations that were lost in the last minutes, in millionths.
    pub loss: u64,
}

/// Why nothing is told of what was seen before a create.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WhyNot {
    /// There is no shared history, or none that may be opened.
    Absent,
    /// It is damaged, or no shared history.
    Damaged,
    /// It is of another version of this program.
    OtherVersion,
    /// An update took longer than a reader tries.
    Busy,
    /// The follower has only begun to read what it missed.
    Starting,
    /// The follower has ended.
    Stopped,
    /// The follower has said nothing for too long.
    Stale,
    /// The follower is too far behind the traffic.
    Behind,
    /// Too much of the traffic was lost.
    Lossy,
}

impl WhyNot {
    /// All of them.
    pub const ALL: [WhyNot; 9] = [
        WhyNot::Absent,
        WhyNot::Damaged,
        WhyNot::OtherVersion,
        WhyNot::Busy,
        WhyNot::Starting,
        WhyNot::Stopped,
        WhyNot::Stale,
        WhyNot::Behind,
        WhyNot::Lossy,
    ];

    /// The word that metrics count it by.
    pub fn word(self) -> &'static str {
        match self {
            WhyNot::Absent => "absent",
            WhyNot::Damaged => "damaged",
            WhyNot::OtherVersion => "other_version",
            WhyNot::Busy => "busy",
            WhyNot::Starting => "starting",
            WhyNot::Stopped => "stopped",
            WhyNot::Stale => "stale",
            WhyNot::Behind => "behind",
            WhyNot::Lossy => "lossy",
        }
    }

    /// What it says to people.
    pub fn sentence(self) -> &'static str {
        match self {
            WhyNot::Absent => "There is no live history: no follower has made one.",
            WhyNot::Damaged => "The live history is damaged, or is none.",
            WhyNot::OtherVersion => "The live history is of a follower of another version.",
            WhyNot::Busy => "The live history was being changed for too long.",
            WhyNot::Starting => "The follower reads what it missed.",
            WhyNot::Stopped => "The follower has ended.",
            WhyNot::Stale => "The follower has said nothing for too long.",
            WhyNot::Behind => "The follower is too far behind the traffic.",
            WhyNot::Lossy => "Too much of the traffic was lost.",
        }
    }
}

impl Limits {
    /// Whether something with these facts may be told from at a time of the monotonic clock.
    #[inline]
    pub fn check(&self, facts: &Facts, now: i64) -> Result<(), WhyNot> {
        match facts.report.state {
            State::Stopped => Err(WhyNot::Stopped),
            _ if self.is_old(facts.updated.monotonic, now) => Err(WhyNot::Stale),
            State::Starting => Err(WhyNot::Starting),
            State::Following if facts.report.lag > self.lag => Err(WhyNot::Behind),
            State::Following if facts.report.loss > self.loss => Err(WhyNot::Lossy),
            State::Following => Ok(()),
        }
    }

    /// Whether an update at a time of the monotonic clock is too long ago, or ahead by as much: of a
    /// clock that is not this one.
    #[inline]
    pub fn is_old(&self, updated: i64, now: i64) -> bool {
        now.abs_diff(updated) > self.age
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::{Clocks, Report};

    const LIMITS: Limits = Limits { age: 100, lag: 10, loss: 1_000 };

    fn check(change: impl FnOnce(&mut Facts)) -> Result<(), WhyNot> {
        let report = Report { lag: 10, loss: 1_000, state: State::Following, ..Report::default() };
        let updated = Clocks { monotonic: 900, ..Clocks::default() };
        let mut facts = Facts { report, updated, ..Facts::default() };
        change(&mut facts);
        LIMITS.check(&facts, 1_000)
    }

    #[test]
    fn what_is_within_the_limits_may_be_told() {
        assert_eq!(check(|_| ()), Ok(()));
    }

    #[test]
    fn what_is_beyond_one_of_them_may_not() {
        assert_eq!(check(|facts| facts.updated.monotonic = 899), Err(WhyNot::Stale));
        assert_eq!(check(|facts| facts.report.lag = 11), Err(WhyNot::Behind));
        assert_eq!(check(|facts| facts.report.loss = 1_001), Err(WhyNot::Lossy));
        assert_eq!(check(|facts| facts.report.state = State::Starting), Err(WhyNot::Starting));
        assert_eq!(check(|facts| facts.report.state = State::Stopped), Err(WhyNot::Stopped));
    }

    #[test]
    fn an_update_in_the_future_is_of_another_clock() {
        assert_eq!(check(|facts| facts.updated.monotonic = 1_101), Err(WhyNot::Stale));
        assert_eq!(check(|facts| facts.updated.monotonic = i64::MIN), Err(WhyNot::Stale));
    }

    #[test]
    fn each_reason_has_a_word_of_its_own() {
        let words: std::collections::HashSet<_> = WhyNot::ALL.map(WhyNot::word).into();
        assert_eq!(words.len(), WhyNot::ALL.len());
    }
}
