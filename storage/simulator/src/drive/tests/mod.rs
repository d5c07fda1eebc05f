//! Small drives for tests, and the tests by subject.

use super::small::buffer;
use super::*;

mod buffer;
mod checks;
mod feed;
mod geometry;
mod mechanism;
mod opportunity;
mod seek;
mod service;
mod write_cache;

/// Milliseconds in nanoseconds.
fn ms(time: f64) -> u64 {
    super::mechanism::nanoseconds(time)
}
