//! The steps of lookups (`docs/image-format.md`): upper limits, and counts in tests.

use std::cmp::Ordering;

/// The steps of a binary search among `count` numbers.
pub fn search_steps(count: usize) -> u64 {
    u64::from(usize::BITS - count.leading_zeros()) + 1
}

/// The steps to find the scores of a leaf, and to add them up, eight at a time.
pub fn leaf_steps(outputs: usize) -> u64 {
    1 + outputs.div_ceil(8) as u64
}

/// The index of the row that `compare` finds equal, among ascending `rows`.
pub fn search<T>(rows: &[T], compare: impl Fn(&T) -> Ordering) -> Option<usize> {
    let counted = |row: &T| {
        step(1);
        compare(row)
    };
    rows.binary_search_by(counted).ok()
}

#[cfg(any(test, fuzzing))]
thread_local!(static COUNT: std::cell::Cell<u64> = const { std::cell::Cell::new(0) });

/// Counts steps in tests; otherwise it costs nothing.
#[inline]
pub fn step(_steps: u64) {
    #[cfg(any(test, fuzzing))]
    COUNT.set(COUNT.get() + _steps);
}

/// The result of `run`, and the steps of this thread in it.
#[cfg(any(test, fuzzing))]
pub fn counted<T>(run: impl FnOnce() -> T) -> (T, u64) {
    let before = COUNT.get();
    let returned = run();
    (returned, COUNT.get() - before)
}
