//! The heuristics with hand-made reads, and against slow versions.

mod ahead;
mod rules;
mod table;

use super::{Choice, Heuristic, Read};

/// Reads of 8 KB, the blocks by number, a millisecond from one to the next.
pub fn blocks(numbers: &[u64]) -> Vec<Read> {
    let read = |(at, number): (u64, &u64)| Read { offset: number * 8192, bytes: 8192, at };
    (0..).map(|number: u64| number * 1_000_000).zip(numbers).map(read).collect()
}

/// The counts of reads of one file.
pub fn counts(choice: Choice, numbers: &[u64]) -> Vec<u32> {
    let mut heuristic = choice.make(None);
    blocks(numbers).iter().map(|read| heuristic.seen(1, read)).collect()
}

/// Blocks from 0 on; the successors of these numbers come before them.
pub fn swapped(count: u64, late: &[u64]) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..count).collect();
    for &place in late {
        numbers.swap(place as usize, place as usize + 1);
    }
    numbers
}

/// The last count of a heuristic after these reads of a file.
pub fn last(heuristic: &mut dyn Heuristic, file: u64, numbers: &[u64]) -> u32 {
    blocks(numbers).iter().fold(0, |_, read| heuristic.seen(file, read))
}
