//! Stations: a processor, a link, a lock, or interchangeable threads.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Servers that each do one piece of work at a time, in the order of arrival.
#[derive(Clone, Debug)]
pub struct Station {
    free: BinaryHeap<Reverse<u64>>,
    came: u64,
    busy: u64,
    waited: u64,
    served: u64,
}

/// Start and end of a piece of work, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Its start.
    pub start: u64,
    /// Its end.
    pub end: u64,
}

impl Station {
    /// A station with `places` servers, at least one, all free at time 0.
    pub fn new(places: usize) -> Self {
        let free = std::iter::repeat_n(Reverse(0), places.max(1)).collect();
        Self { free, came: 0, busy: 0, waited: 0, served: 0 }
    }

    /// Do work of `work` nanoseconds that comes at time `now`, not before its predecessor.
    pub fn take(&mut self, now: u64, work: u64) -> Turn {
        debug_assert!(now >= self.came, "work comes in the order of time");
        self.came = now;
        let Reverse(free) = self.free.pop().unwrap_or(Reverse(0));
        let start = now.max(free);
        let end = start + work;
        self.free.push(Reverse(end));
        self.busy += work;
        self.waited += start - now;
        self.served += 1;
        Turn { start, end }
    }

    /// Nanoseconds of work at all servers.
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// Nanoseconds that work waited in total.
    pub fn waited(&self) -> u64 {
        self.waited
    }

    /// Number of pieces of work.
    pub fn served(&self) -> u64 {
        self.served
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(places: usize, work: &[(u64, u64)]) -> Vec<(u64, u64)> {
        let mut station = Station::new(places);
        let turns = work.iter().map(|&(now, work)| station.take(now, work));
        turns.map(|turn| (turn.start, turn.end)).collect()
    }

    #[test]
    fn work_waits_for_what_came_before_it() {
        assert_eq!(turns(1, &[(0, 5), (1, 2), (20, 1)]), [(0, 5), (5, 7), (20, 21)]);
    }

    #[test]
    fn any_free_place_takes_it() {
        let work = [(0, 9), (0, 2), (1, 4), (3, 1)];
        assert_eq!(turns(2, &work), [(0, 9), (0, 2), (2, 6), (6, 7)]);
    }

    #[test]
    fn it_counts_work_and_waiting() {
        let mut station = Station::new(1);
        for now in [0, 1, 2] {
            station.take(now, 10);
        }
        assert_eq!((station.busy(), station.waited(), station.served()), (30, 9 + 18, 3));
    }
}
