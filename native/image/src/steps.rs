//! What a lookup takes, in the steps of `docs/image-format.md`: as many as were counted, at most.

use std::cmp::Ordering;

/// To find a number among `count` that ascend.
pub fn search_steps(count: usize) -> u64 {
    u64::from(usize::BITS - count.leading_zeros()) + 1
}

/// To find the scores of a leaf, and to add up eight at a time.
pub fn leaf_steps(outputs: usize) -> u64 {
    1 + outputs.div_ceil(8) as u64
}

/// The place of the row that `compare` calls equal, among `rows` that ascend.
pub fn search<T>(rows: &[T], compare: impl Fn(&T) -> Ordering) -> Option<usize> {
    let counted = |row: &T| {
        step(1);
        compare(row)
    };
    rows.binary_search_by(counted).ok()
}

#[cfg(any(test, fuzzing))]
thread_local!(static TAKEN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) });

/// Counts steps, in tests; else it costs nothing.
#[inline]
pub fn step(_steps: u64) {
    #[cfg(any(test, fuzzing))]
    TAKEN.set(TAKEN.get() + _steps);
}

/// What `run` returns, and the steps that this thread took in it.
#[cfg(any(test, fuzzing))]
pub fn counted<T>(run: impl FnOnce() -> T) -> (T, u64) {
    let before = TAKEN.get();
    let returned = run();
    (returned, TAKEN.get() - before)
}
