//! In which order what waits is served.

use super::*;

/// `bufqdisksort` over a plain list: a present part and a later one, each walked along.
#[derive(Default)]
struct Sorted {
    list: Vec<(u64, u32)>,
    later: Option<usize>,
    last: u64,
}

impl Sorted {
    fn push(&mut self, block: u64, name: u32) {
        let all = self.list.len();
        let is_later = all > 0 && block < self.last;
        let later = self.later.unwrap_or(all);
        let part = if is_later { later..all } else { 0..later };
        let before = self.list[part.clone()].iter().filter(|held| held.0 <= block).count();
        self.list.insert(part.start + before, (block, name));
        self.later = if is_later { Some(later) } else { self.later.map(|later| later + 1) };
    }

    fn pop(&mut self) -> Option<u32> {
        if self.list.is_empty() {
            return None;
        }
        let (block, name) = self.list.remove(0);
        self.last = block;
        self.later = self.later.map(|later| later - 1).filter(|&later| later > 0);
        Some(name)
    }
}

#[test]
fn the_elevator_serves_in_the_order_of_a_naive_sorter() {
    let mut numbers = Numbers(11);
    for _ in 0..200 {
        let (mut elevator, mut sorted) = (Elevator::default(), Sorted::default());
        for name in 0..300 {
            if numbers.below(5) < 3 {
                let block = numbers.below(40);
                elevator.push(block, name);
                sorted.push(block, name);
            } else {
                assert_eq!(elevator.pop(), sorted.pop());
            }
            assert_eq!(elevator.len(), sorted.list.len());
        }
        while let Some(name) = sorted.pop() {
            assert_eq!(elevator.pop(), Some(name));
        }
        assert!(elevator.is_empty());
    }
}

#[test]
fn the_arm_goes_up_and_begins_anew_from_the_lowest() {
    let mut elevator = Elevator::default();
    elevator.push(50, 'a');
    assert_eq!(elevator.pop(), Some('a'));
    for (block, name) in [(60, 'c'), (40, 'f'), (55, 'b'), (10, 'e'), (60, 'd')] {
        elevator.push(block, name);
    }
    let order: String = std::iter::from_fn(|| elevator.pop()).collect();
    assert_eq!(order, "bcdef");
    // what comes to an empty queue is served before what lies ahead of the arm
    for (block, name) in [(5, 'a'), (3, 'd'), (70, 'c'), (65, 'b')] {
        elevator.push(block, name);
    }
    let order: String = std::iter::from_fn(|| elevator.pop()).collect();
    assert_eq!(order, "abcd");
}

#[test]
fn requests_that_wait_are_served_in_the_elevators_order_whoever_waits() {
    let mut drive = Drive::new(&simple(), 0).unwrap();
    let first = drive.submit(write(5000, 1), 0.0);
    let far = drive.submit(read(9000, 1), 0.001);
    let low = drive.submit(write(10, 1), 0.001);
    let near = drive.submit(write(6000, 1), 0.001);
    assert_eq!(drive.waiting(), 3);
    let low = drive.wait(low);
    assert!(drive.is_done(first) && drive.is_done(near) && drive.is_done(far));
    assert_eq!(drive.wait(near), low); // done before: one who waits goes on at once
    let next = drive.submit(write(10, 1), low);
    assert!(!drive.is_done(next));
    drive.run_until(low + 1.0);
    assert!(drive.is_done(next));
}
