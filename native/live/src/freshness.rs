//! Freshness of a shared history: limits, and the reasons why it is stale.

use super::header::{Facts, State};

/// Limits on the age, lag and loss of the live history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Greatest age of the last update, microseconds.
    pub age: u64,
    /// Greatest lag of the follower behind the traffic, microseconds.
    pub lag: u64,
    /// Greatest share of operations lost in the last minutes, in millionths.
    pub loss: u64,
}

/// Why the live history is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StaleReason {
    /// There is no shared history, or it cannot be opened.
    Absent,
    /// It is damaged, or not a shared history.
    Damaged,
    /// Its follower has another version.
    OtherVersion,
    /// An update took longer than a reader's retries.
    Busy,
    /// The follower is catching up with the traffic.
    Starting,
    /// The follower has stopped.
    Stopped,
    /// The last update is too old.
    Stale,
    /// The follower is too far behind the traffic.
    Behind,
    /// Too much of the traffic was lost.
    Lossy,
}

impl StaleReason {
    /// All of them.
    pub const ALL: [StaleReason; 9] = [
        StaleReason::Absent,
        StaleReason::Damaged,
        StaleReason::OtherVersion,
        StaleReason::Busy,
        StaleReason::Starting,
        StaleReason::Stopped,
        StaleReason::Stale,
        StaleReason::Behind,
        StaleReason::Lossy,
    ];

    /// Its label in metrics.
    pub fn word(self) -> &'static str {
        match self {
            StaleReason::Absent => "absent",
            StaleReason::Damaged => "damaged",
            StaleReason::OtherVersion => "other_version",
            StaleReason::Busy => "busy",
            StaleReason::Starting => "starting",
            StaleReason::Stopped => "stopped",
            StaleReason::Stale => "stale",
            StaleReason::Behind => "behind",
            StaleReason::Lossy => "lossy",
        }
    }

    /// Its message for people.
    pub fn sentence(self) -> &'static str {
        match self {
            StaleReason::Absent => "There is no live history: no follower has made one.",
            StaleReason::Damaged => "The live history is damaged.",
            StaleReason::OtherVersion => "The live history's follower has another version.",
            StaleReason::Busy => "An update of the live history took too long.",
            StaleReason::Starting => "The follower is catching up with the traffic.",
            StaleReason::Stopped => "The follower has stopped.",
            StaleReason::Stale => "The last update of the live history is too old.",
            StaleReason::Behind => "The follower is too far behind the traffic.",
            StaleReason::Lossy => "Too much of the traffic was lost.",
        }
    }
}

impl Limits {
    /// Returns why a history with these facts is stale at a time of the monotonic clock, if it is.
    #[inline]
    pub fn check(&self, facts: &Facts, now: i64) -> Result<(), StaleReason> {
        match facts.report.state {
            State::Stopped => Err(StaleReason::Stopped),
            _ if self.is_old(facts.updated.monotonic, now) => Err(StaleReason::Stale),
            State::Starting => Err(StaleReason::Starting),
            State::Following if facts.report.lag > self.lag => Err(StaleReason::Behind),
            State::Following if facts.report.loss > self.loss => Err(StaleReason::Lossy),
            State::Following => Ok(()),
        }
    }

    /// Whether an update at a time of the monotonic clock is too old, or as far in the future, so
    /// that its clock must be another one.
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

    fn check(change: impl FnOnce(&mut Facts)) -> Result<(), StaleReason> {
        let report = Report { lag: 10, loss: 1_000, state: State::Following, ..Report::default() };
        let updated = Clocks { monotonic: 900, ..Clocks::default() };
        let mut facts = Facts { report, updated, ..Facts::default() };
        change(&mut facts);
        LIMITS.check(&facts, 1_000)
    }

    #[test]
    fn a_history_within_the_limits_is_fresh() {
        assert_eq!(check(|_| ()), Ok(()));
    }

    #[test]
    fn a_history_beyond_a_limit_is_stale() {
        assert_eq!(check(|facts| facts.updated.monotonic = 899), Err(StaleReason::Stale));
        assert_eq!(check(|facts| facts.report.lag = 11), Err(StaleReason::Behind));
        assert_eq!(check(|facts| facts.report.loss = 1_001), Err(StaleReason::Lossy));
        assert_eq!(check(|facts| facts.report.state = State::Starting), Err(StaleReason::Starting));
        assert_eq!(check(|facts| facts.report.state = State::Stopped), Err(StaleReason::Stopped));
    }

    #[test]
    fn an_update_in_the_future_is_of_another_clock() {
        assert_eq!(check(|facts| facts.updated.monotonic = 1_101), Err(StaleReason::Stale));
        assert_eq!(check(|facts| facts.updated.monotonic = i64::MIN), Err(StaleReason::Stale));
    }

    #[test]
    fn reasons_have_distinct_words() {
        let words: std::collections::HashSet<_> = StaleReason::ALL.map(StaleReason::word).into();
        assert_eq!(words.len(), StaleReason::ALL.len());
    }
}
