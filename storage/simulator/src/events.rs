//! A queue of events in the order of time.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Pending events. Simultaneous ones come in the order in which they were added, so that a run is
/// deterministic.
#[derive(Clone, Debug)]
pub struct Events<E> {
    due: BinaryHeap<Due<E>>,
    added: u64,
}

#[derive(Clone, Debug)]
struct Due<E> {
    at: u64,
    number: u64,
    event: E,
}

impl<E> Default for Events<E> {
    fn default() -> Self {
        Self { due: BinaryHeap::new(), added: 0 }
    }
}

impl<E> Events<E> {
    /// Schedule an event.
    pub fn add(&mut self, at: u64, event: E) {
        self.due.push(Due { at, number: self.added, event });
        self.added += 1;
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<u64> {
        self.due.peek().map(|due| due.at)
    }

    /// Take the next event, with its time.
    pub fn pop(&mut self) -> Option<(u64, E)> {
        self.due.pop().map(|due| (due.at, due.event))
    }
}

impl<E> Due<E> {
    fn rank(&self) -> (u64, u64) {
        (self.at, self.number)
    }
}

impl<E> Ord for Due<E> {
    /// The heap pops the greatest first: the earliest event.
    fn cmp(&self, other: &Self) -> Ordering {
        other.rank().cmp(&self.rank())
    }
}

impl<E> PartialOrd for Due<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Due<E> {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl<E> Eq for Due<E> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_in_the_order_of_time_and_those_of_one_instant_as_they_were_added() {
        let mut events = Events::default();
        for (at, event) in [(5, 'a'), (3, 'b'), (5, 'c'), (0, 'd'), (3, 'e')] {
            events.add(at, event);
        }
        assert_eq!(events.next_at(), Some(0));
        let all: Vec<_> = std::iter::from_fn(|| events.pop()).collect();
        assert_eq!(all, [(0, 'd'), (3, 'b'), (3, 'e'), (5, 'a'), (5, 'c')]);
        assert_eq!(events.next_at(), None);
    }
}
