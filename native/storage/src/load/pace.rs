//! When requests come, and are done, on the machine on which a load would have been traced.

use super::random::Random;
use super::shape::Pace;
use crate::issue::Traced;

/// Between requests of which none waits for the other, in milliseconds.
pub const GAP: f64 = 0.3;

/// A machine with one drive, which serves requests as they come.
pub struct Machine<'a> {
    pace: &'a Pace,
    /// When the last request came.
    pub came: f64,
    /// When the last request was done that anybody waits for.
    done: f64,
    /// When its drive has nothing to do.
    free: f64,
}

impl<'a> Machine<'a> {
    pub fn new(pace: &'a Pace) -> Self {
        Self { pace, came: 0.0, done: 0.0, free: 0.0 }
    }

    /// Let requests come only so long after the last was done that anybody waits for.
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

    /// When a process sends its next request, after one that came and was done just now.
    pub fn next(&self, write: bool, random: &mut Random) -> f64 {
        let pace = self.pace;
        let share = if write { pace.asynchronous_writes } else { pace.asynchronous_reads };
        if random.happens(share) {
            return self.came + GAP;
        }
        let (median, deviation) = pace.think_ms;
        self.free + random.log_normal(median, deviation)
    }

    /// Serve a request that comes right after the one before, and that nobody waits for.
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
