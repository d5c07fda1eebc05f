//! Arrivals and completions of requests on the traced machine.

use super::random::Random;
use super::shape::Pace;
use crate::issue::Traced;

/// Milliseconds between independent requests.
pub const GAP: f64 = 0.3;

/// A machine with one drive, which serves requests in the order of arrival.
pub struct Machine<'a> {
    pace: &'a Pace,
    /// Arrival of the last request.
    pub came: f64,
    /// Completion of the last synchronous request.
    done: f64,
    /// Time at which its drive is idle.
    free: f64,
}

impl<'a> Machine<'a> {
    pub fn new(pace: &'a Pace) -> Self {
        Self { pace, came: 0.0, done: 0.0, free: 0.0 }
    }

    /// Wait for a random time after the last synchronous completion.
    pub fn wait(&mut self, (median, deviation): (f64, f64), random: &mut Random) {
        self.came = self.came.max(self.done) + random.log_normal(median, deviation);
    }

    /// Serve a request of a process that comes at a time, no sooner than the last.
    pub fn serve(&mut self, at: f64, random: &mut Random) -> Traced {
        self.came = at;
        let traced = self.take(random);
        self.done = self.done.max(self.free);
        traced
    }

    /// The arrival of a process's next request, after the last one.
    pub fn next(&self, write: bool, random: &mut Random) -> f64 {
        let pace = self.pace;
        let share = if write { pace.asynchronous_writes } else { pace.asynchronous_reads };
        if random.happens(share) {
            return self.came + GAP;
        }
        let (median, deviation) = pace.think_ms;
        self.free + random.log_normal(median, deviation)
    }

    /// Serve an asynchronous request right after the one before.
    pub fn flush(&mut self, random: &mut Random) -> Traced {
        self.came += GAP;
        self.take(random)
    }

    fn take(&mut self, random: &mut Random) -> Traced {
        let service = self.pace.service_ms * (0.5 - (1.0 - random.unit()).ln());
        self.free = self.free.max(self.came) + service;
        let nanoseconds = |ms: f64| (ms * 1e6) as u64;
        Traced { arrival: nanoseconds(self.came), completion: nanoseconds(self.free) }
    }
}
