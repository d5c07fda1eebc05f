//! When requests come, and are done, on the machine on which a load would have been traced.

use super::random::Random;
use super::shape::Pace;
use crate::issue::Traced;

/// Between requests of which none waits for the other, in milliseconds.
const GAP: f64 = 0.3;

/// A machine with one drive, which serves requests as they come.
pub struct Machine<'a> {
    pace: &'a Pace,
    came: f64,
    done: f64,
}

impl<'a> Machine<'a> {
    pub fn new(pace: &'a Pace) -> Self {
        Self { pace, came: 0.0, done: 0.0 }
    }

    /// Let requests come only so long after the last was done.
    pub fn wait(&mut self, (median, deviation): (f64, f64), random: &mut Random) {
        self.came = self.done + random.log_normal(median, deviation);
    }

    /// Serve a request that waits for the one before, unless it is the `first` or asynchronous.
    pub fn serve(&mut self, first: bool, write: bool, random: &mut Random) -> Traced {
        let pace = self.pace;
        let share = if write { pace.asynchronous_writes } else { pace.asynchronous_reads };
        if !first && random.happens(share) {
            self.came += GAP;
        } else if !first {
            self.wait(pace.think_ms, random);
        }
        self.take(random)
    }

    /// Serve a request that comes right after the one before.
    pub fn flush(&mut self, random: &mut Random) -> Traced {
        self.came += GAP;
        self.take(random)
    }

    fn take(&mut self, random: &mut Random) -> Traced {
        let service = self.pace.service_ms * (0.5 - (1.0 - random.unit()).ln());
        self.done = self.done.max(self.came) + service;
        let nanoseconds = |ms: f64| (ms * 1e6) as u64;
        Traced { arrival: nanoseconds(self.came), completion: nanoseconds(self.done) }
    }
}
