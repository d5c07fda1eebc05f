//! Requests of a trace that depend on one another.

use super::Issue;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Number of oldest unfinished requests that may be issued (Hsu and Smith).
pub const WINDOW: usize = 64;

/// Arrival and completion of a request in a trace, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traced {
    /// When it came.
    pub arrival: u64,
    /// When it was done.
    pub completion: u64,
}

/// The issue model of Hsu and Smith, "The performance impact of I/O optimizations and disk
/// improvements", IBM J. R&D 48(2), 2004.
///
/// A request is issued after its parent, which completed last before its arrival in the trace, and
/// the same think time as there. Only the oldest [`WINDOW`] unfinished requests are considered.
#[derive(Clone, Debug)]
pub struct Dependent {
    parents: Vec<Option<usize>>,
    thinks: Vec<u64>,
    /// Completion times.
    done: Vec<Option<u64>>,
    children: Vec<Vec<usize>>,
    /// Considered, but the parent is not done.
    waiting: BTreeSet<usize>,
    ready: BinaryHeap<Reverse<(u64, usize)>>,
    entered: usize,
}

impl Dependent {
    /// The requests of a trace, in the order of arrival; `scale` maps think times.
    pub fn new(traced: &[Traced], scale: impl Fn(u64) -> u64) -> Self {
        let parents = parents(traced);
        let first = traced.first().map_or(0, |own| own.arrival);
        let think = |(own, parent): (&Traced, &Option<usize>)| {
            let since = parent.map_or(first, |parent| traced[parent].completion);
            scale(own.arrival - since)
        };
        let mut children = vec![Vec::new(); traced.len()];
        for (number, parent) in parents.iter().enumerate() {
            parent.map(|parent| children[parent].push(number));
        }
        let mut own = Self {
            thinks: traced.iter().zip(&parents).map(think).collect(),
            done: vec![None; traced.len()],
            parents,
            children,
            waiting: BTreeSet::new(),
            ready: BinaryHeap::new(),
            entered: 0,
        };
        for _ in 0..WINDOW {
            own.enter(0);
        }
        own
    }

    /// Consider the next request of the trace, from time `now` on.
    fn enter(&mut self, now: u64) {
        let number = self.entered;
        if number == self.parents.len() {
            return;
        }
        self.entered += 1;
        match self.parents[number].map(|parent| self.done[parent]) {
            Some(None) => {
                self.waiting.insert(number);
            }
            known => {
                let since = known.flatten().unwrap_or(0);
                let at = (since + self.thinks[number]).max(now);
                self.ready.push(Reverse((at, number)));
            }
        }
    }
}

impl Issue for Dependent {
    fn next(&mut self) -> Option<(u64, usize)> {
        self.ready.peek().map(|Reverse(next)| *next)
    }

    fn issue(&mut self) {
        self.ready.pop();
    }

    fn done(&mut self, number: usize, at: u64) {
        self.done[number] = Some(at);
        for child in std::mem::take(&mut self.children[number]) {
            if self.waiting.remove(&child) {
                self.ready.push(Reverse((at + self.thinks[child], child)));
            }
        }
        self.enter(at);
    }
}

/// For each request the one that completed last before its arrival; the last in the trace on ties.
fn parents(traced: &[Traced]) -> Vec<Option<usize>> {
    let mut by_completion: Vec<usize> = (0..traced.len()).collect();
    by_completion.sort_by_key(|&number| (traced[number].completion, number));
    let before = |own: &Traced| {
        let done =
            by_completion.partition_point(|&number| traced[number].completion <= own.arrival);
        done.checked_sub(1).map(|last| by_completion[last])
    };
    traced.iter().map(before).collect()
}

/// Think time on a machine that is `faster` times as fast (section 2 of Hsu and Smith; infinite:
/// the part that depends on the machine vanishes).
pub fn scaled(think: u64, faster: f64) -> u64 {
    let milliseconds = think as f64 / 1e6;
    let part = (1.0 / (0.0857 * milliseconds + 0.0105)).min(1.0);
    (think as f64 * (1.0 - part + part / faster)).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(times: &[(u64, u64)]) -> Vec<Traced> {
        times.iter().map(|&(arrival, completion)| Traced { arrival, completion }).collect()
    }

    /// Arrivals of overlapping requests with given times.
    fn arrivals(times: &[(u64, u64)], service: &[u64]) -> Vec<u64> {
        let mut issue = Dependent::new(&traced(times), |think| think);
        let mut came = vec![0; times.len()];
        let mut under_way: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        loop {
            let done = under_way.peek().map(|Reverse(own)| own.0);
            if let Some((at, number)) = issue.next().filter(|own| done.is_none_or(|d| own.0 < d)) {
                issue.issue();
                came[number] = at;
                under_way.push(Reverse((at + service[number], number)));
            } else if let Some(Reverse((at, number))) = under_way.pop() {
                issue.done(number, at);
            } else {
                return came;
            }
        }
    }

    #[test]
    fn served_as_in_the_trace_they_come_as_in_the_trace() {
        let times = [(0, 10), (4, 9), (12, 30), (12, 15), (15, 20), (40, 41)];
        let service: Vec<u64> = times.iter().map(|(came, done)| done - came).collect();
        let came: Vec<u64> = times.iter().map(|time| time.0).collect();
        assert_eq!(arrivals(&times, &service), came);
    }

    #[test]
    fn a_request_waits_for_the_one_that_was_done_last_before_it() {
        let times = [(0, 10), (1, 5), (12, 13), (20, 21)];
        // The first takes ten times as long, and the third, which depends on it, comes later; so
        // does the last, which depends on the third.
        assert_eq!(arrivals(&times, &[100, 4, 1, 1]), [0, 1, 102, 110]);
    }

    #[test]
    fn of_those_not_done_only_the_oldest_are_considered() {
        let count = WINDOW as u64 + 3;
        let times: Vec<(u64, u64)> = (0..count).map(|number| (number, 1_000 + number)).collect();
        let service: Vec<u64> = (0..count).map(|number| 500 + 10 * number).collect();
        let came = arrivals(&times, &service);
        let expected: Vec<u64> = (0..WINDOW as u64).chain([500, 511, 522]).collect();
        assert_eq!(came, expected);
    }

    #[test]
    fn what_somebody_thinks_is_less_before_a_faster_machine() {
        let thinks = [0, 1_000_000, 11_000_000, 100_000_000, 10_000_000_000_u64];
        let same: Vec<u64> = thinks.iter().map(|&think| scaled(think, 1.0)).collect();
        assert_eq!(same, thinks);
        // f is 1 up to 11.5 ms: all of it is the machine's.
        assert_eq!((scaled(11_000_000, f64::INFINITY), scaled(11_000_000, 2.0)), (0, 5_500_000));
        let part = 1.0 / (0.0857 * 100.0 + 0.0105);
        assert_eq!(scaled(100_000_000, f64::INFINITY), (1e8_f64 * (1.0 - part)).round() as u64);
    }
}
