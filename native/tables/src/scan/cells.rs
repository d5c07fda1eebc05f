//! Counts for combinations of keys, by period.

use super::histogram::{bucket, Histogram};
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// The columns that distinguish rows, besides the period and the operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct By {
    pub server: bool,
    pub client: bool,
    pub uid: bool,
    pub gid: bool,
    pub file: bool,
    pub directory: bool,
}

/// One combination of keys; unused keys are 0. Users and groups are stored as their number plus
/// one, and 0 for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub struct Key {
    pub server: u32,
    pub client: u32,
    pub uid: u64,
    pub gid: u64,
    pub file: u32,
    pub directory: u32,
    pub op: u32,
}

/// The sums of a tally, in the order of the columns of a scan's table.
pub const SUMS: [&str; 7] =
    ["ops", "retransmits", "errors", "unanswered", "bytes_read", "bytes_written", "latency_sum"];

/// What is counted. Times are in microseconds.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)]
pub struct Tally {
    /// As [`SUMS`] names them.
    pub sums: [u64; SUMS.len()],
    pub latency_max: u64,
    pub latency: Histogram,
}

impl Tally {
    /// Counts the latency of a reply.
    #[inline]
    pub fn took(&mut self, micros: u64) {
        let [.., latency_sum] = &mut self.sums;
        *latency_sum = latency_sum.saturating_add(micros);
        self.latency_max = self.latency_max.max(micros);
        self.latency.add(bucket(micros), 1);
    }

    /// Adds another tally.
    pub fn merge(&mut self, other: &Tally) {
        for (sum, more) in self.sums.iter_mut().zip(other.sums) {
            *sum = sum.saturating_add(more);
        }
        self.latency_max = self.latency_max.max(other.latency_max);
        self.latency.merge(&other.latency);
    }
}

/// The counts of one period.
pub type Cells = HashMap<Key, Tally>;

/// The open periods, by their begin.
pub struct Periods {
    /// Their length, in microseconds.
    pub length: i64,
    origin: i64,
    open: BTreeMap<i64, Cells>,
    at: i64,
    current: Cells,
    ends: i64,
}

impl Periods {
    /// Returns periods of a length, one of which begins at `origin`.
    pub fn new(length: i64, origin: i64) -> Periods {
        let (open, current) = Default::default();
        Periods { length: length.max(1), origin, open, at: i64::MIN, current, ends: i64::MAX }
    }

    /// The counts of the period that contains a time.
    #[inline]
    pub fn at(&mut self, time: i64) -> &mut Cells {
        if time < self.at || time.wrapping_sub(self.at) >= self.length || self.at == i64::MIN {
            self.turn_to(time);
        }
        &mut self.current
    }

    /// The end of the earliest open period.
    #[inline]
    pub fn first_end(&self) -> i64 {
        self.ends
    }

    /// Takes the periods that end no later than `time`; all for the end of time.
    pub fn take(&mut self, time: i64) -> Vec<(i64, Cells)> {
        self.put_back();
        let later = match time {
            i64::MAX => BTreeMap::new(),
            _ => self.open.split_off(&time.saturating_sub(self.length).saturating_add(1)),
        };
        let closed = std::mem::replace(&mut self.open, later);
        self.ends = self.open.keys().next().map_or(i64::MAX, |at| at.saturating_add(self.length));
        closed.into_iter().collect()
    }

    fn turn_to(&mut self, time: i64) {
        self.put_back();
        let since = time.saturating_sub(self.origin);
        let start = since.saturating_sub(since.rem_euclid(self.length));
        self.at = start.saturating_add(self.origin);
        self.current = self.open.remove(&self.at).unwrap_or_default();
        self.ends = self.ends.min(self.at.saturating_add(self.length));
    }

    fn put_back(&mut self) {
        let cells = std::mem::take(&mut self.current);
        if !cells.is_empty() {
            self.open.insert(self.at, cells);
        }
        self.at = i64::MIN;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(periods: &mut Periods, time: i64) {
        periods.at(time).entry(Key::default()).or_default().sums[0] += 1;
    }

    #[test]
    fn a_time_counts_in_the_period_that_begins_at_or_before_it() {
        let mut periods = Periods::new(10, 0);
        [0, 9, 10, -1, -10, 25, 3].iter().for_each(|time| count(&mut periods, *time));
        assert_eq!(periods.first_end(), 0);
        let closed: Vec<(i64, u64)> = periods
            .take(20)
            .into_iter()
            .map(|(at, cells)| (at, cells[&Key::default()].sums[0]))
            .collect();
        assert_eq!(closed, [(-10, 2), (0, 3), (10, 1)]);
        assert_eq!(periods.first_end(), 30);
        assert_eq!(periods.take(i64::MAX).len(), 1);
        assert_eq!(periods.first_end(), i64::MAX);
    }

    #[test]
    fn no_time_is_out_of_range() {
        let mut periods = Periods::new(300, 7);
        for time in [i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1] {
            count(&mut periods, time);
        }
        let total: u64 =
            periods.take(i64::MAX).iter().map(|(_, cells)| cells[&Key::default()].sums[0]).sum();
        assert_eq!(total, 4);
    }
}
