//! Results of serving a load.

use super::outcome::{Moved, Outcome};
use birthmark_storage::drive::{Request, Service};
use serde::Serialize;

/// Results of a request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answered {
    came: u64,
    at: u64,
    service: Service,
    busy: u64,
    missed: bool,
    counts: bool,
}

/// Results of serving a load. Times are in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// All requests.
    pub all: Kind,
    /// Reads.
    pub reads: Kind,
    /// Writes.
    pub writes: Kind,
    /// Movements of arms for reads.
    pub read_moves: Moves,
    /// Movements of arms for writes.
    pub write_moves: Moves,
}

/// Means of requests of a kind.
#[derive(Clone, Debug, Serialize)]
pub struct Kind {
    /// Number of requests.
    pub requests: u64,
    /// Response time.
    pub response_ms: f64,
    /// Coefficient of variation of the response time.
    pub response_variation: f64,
    /// Busy time of arms.
    pub service_ms: f64,
    /// The share that needed an arm; for writes, that made a block of the write buffer dirty.
    pub miss_ratio: f64,
    /// Parts of the response.
    pub parts_ms: Parts,
}

/// Parts of the mean response.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Parts {
    pub queue: f64,
    pub overhead: f64,
    pub seek: f64,
    pub rotation: f64,
    pub transfer: f64,
    pub bus: f64,
}

/// Means of movements of arms.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct Moves {
    pub count: u64,
    pub seek_ms: f64,
    pub rotation_ms: f64,
    pub transfer_ms: f64,
}

/// Collects the results of requests.
pub struct Tally {
    answered: Vec<Answered>,
    came: usize,
    done: usize,
    warm_up: usize,
    moves: [[u64; 4]; 2],
}

impl Tally {
    /// For `requests` requests; the first `warm_up` are not counted.
    pub fn new(requests: usize, warm_up: usize) -> Self {
        let answered = vec![Answered::default(); requests];
        Self { answered, came: 0, done: 0, warm_up, moves: [[0; 4]; 2] }
    }

    /// Record an arrival.
    pub fn came(&mut self, number: usize, now: u64) {
        self.came += 1;
        self.answered[number].came = now;
        self.answered[number].counts = self.came > self.warm_up;
    }

    /// Record the end of a part of a request, in the order of time.
    pub fn part(&mut self, request: usize, outcome: &Outcome) {
        let own = &mut self.answered[request];
        own.at = outcome.at;
        own.service = outcome.service;
        own.busy += outcome.busy;
        own.missed |= outcome.missed;
    }

    /// Record the end of a request.
    pub fn done(&mut self) {
        self.done += 1;
    }

    /// Whether all are done.
    pub fn is_complete(&self) -> bool {
        self.done == self.answered.len()
    }

    /// Record a movement of an arm.
    pub fn moved(&mut self, moved: &Moved) {
        if self.came <= self.warm_up {
            return;
        }
        let sums = &mut self.moves[usize::from(moved.write)];
        for (sum, own) in sums.iter_mut().zip([1, moved.seek, moved.rotation, moved.transfer]) {
            *sum += own;
        }
    }

    /// Means over all counted requests.
    pub fn figures(&self, requests: &[Request]) -> Figures {
        let own = |write: bool| {
            let all = self.answered.iter().zip(requests);
            all.filter(move |(own, request)| own.counts && request.write == write).map(|own| own.0)
        };
        let mut writes = kind(own(true));
        // Writing back serves no particular request.
        let [_, seek, rotation, transfer] = self.moves[1];
        writes.service_ms = mean(seek + rotation + transfer, writes.requests);
        let mut all = kind(self.answered.iter().filter(|own| own.counts));
        let reads = kind(own(false));
        let busy =
            reads.service_ms * reads.requests as f64 + writes.service_ms * writes.requests as f64;
        all.service_ms = if all.requests == 0 { 0.0 } else { busy / all.requests as f64 };
        let [read_moves, write_moves] = self.moves.map(moves);
        Figures { all, reads, writes, read_moves, write_moves }
    }
}

fn kind<'a>(answered: impl Iterator<Item = &'a Answered> + Clone) -> Kind {
    let requests = answered.clone().count() as u64;
    let sum = |of: fn(&Answered) -> u64| mean(answered.clone().map(of).sum(), requests);
    let response_ms = sum(|own| own.at - own.came);
    let squares =
        answered.clone().map(|own| ((own.at - own.came) as f64 / 1e6 - response_ms).powi(2));
    let deviation = (squares.sum::<f64>() / requests.max(1) as f64).sqrt();
    let misses = answered.clone().filter(|own| own.missed).count() as f64;
    Kind {
        requests,
        response_ms,
        response_variation: if response_ms > 0.0 { deviation / response_ms } else { 0.0 },
        service_ms: sum(|own| own.busy),
        miss_ratio: misses / requests.max(1) as f64,
        parts_ms: Parts {
            queue: sum(|own| own.service.queue),
            overhead: sum(|own| own.service.overhead),
            seek: sum(|own| own.service.seek),
            rotation: sum(|own| own.service.rotation),
            transfer: sum(|own| own.service.transfer),
            bus: sum(|own| own.service.bus),
        },
    }
}

fn moves([count, seek, rotation, transfer]: [u64; 4]) -> Moves {
    let [seek_ms, rotation_ms, transfer_ms] =
        [seek, rotation, transfer].map(|sum| mean(sum, count));
    Moves { count, seek_ms, rotation_ms, transfer_ms }
}

/// Mean in milliseconds of a sum of nanoseconds.
fn mean(sum: u64, count: u64) -> f64 {
    sum as f64 / count.max(1) as f64 / 1e6
}
