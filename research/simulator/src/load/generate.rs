//! Generating a load.

use super::episodes::Episodes;
use super::pace::{Machine, GAP};
use super::random::Random;
use super::shape::{Shape, ShapeError};
use crate::issue::{scaled, Dependent, Open, Streams, Traced};
use birthmark_storage::drive::Request;

/// Requests of a load, one stream after the other.
#[derive(Clone, Debug)]
pub struct Load {
    /// The requests.
    pub requests: Vec<Request>,
    /// Number of first ones that are not counted.
    pub warm_up: usize,
    /// Requests before the first, the oldest first.
    pub history: Vec<Request>,
    /// Arrivals and completions of requests, by stream.
    traced: Vec<Vec<Traced>>,
    faster: f64,
}

struct Stream<'a> {
    shape: &'a Shape,
    reads: Episodes<'a>,
    writes: Episodes<'a>,
    machine: Machine<'a>,
    random: Random,
}

impl Load {
    /// The load of a shape and a seed.
    pub fn new(shape: &Shape, seed: u64) -> Result<Self, ShapeError> {
        shape.check()?;
        let mut own = Self {
            requests: Vec::with_capacity(shape.requests),
            warm_up: shape.warm_up,
            history: Vec::new(),
            traced: Vec::new(),
            faster: shape.faster.unwrap_or(f64::INFINITY),
        };
        let mut streams: Vec<Stream<'_>> =
            (0..shape.streams).map(|number| Stream::new(shape, number, seed)).collect();
        loop {
            let before = own.history.len();
            streams.iter_mut().for_each(|stream| stream.before(&mut own.history));
            if own.history.len() == before {
                break;
            }
        }
        let each = shape.requests / shape.streams as usize;
        for stream in &mut streams {
            let traced = stream.requests(each, &mut own.requests);
            own.traced.push(traced);
        }
        Ok(own)
    }

    /// Issue model: dependent as in the trace, on the replaying machine.
    pub fn issue(&self) -> Streams<Dependent> {
        let think = |think| scaled(think, self.faster);
        Streams::new(self.traced.iter().map(|own| (Dependent::new(own, think), own.len())))
    }

    /// Issue model: at the times of the trace.
    pub fn open(&self) -> Streams<Open> {
        let arrivals = |own: &Vec<Traced>| own.iter().map(|own| own.arrival).collect();
        Streams::new(self.traced.iter().map(|own| (Open::new(arrivals(own)), own.len())))
    }
}

impl<'a> Stream<'a> {
    fn new(shape: &'a Shape, number: u64, seed: u64) -> Self {
        let blocks = shape.storage_blocks / shape.streams;
        let storage = (number * blocks, blocks);
        Self {
            shape,
            reads: Episodes::new(&shape.reads, false, storage, shape.streams),
            writes: Episodes::new(&shape.writes, true, storage, shape.streams),
            machine: Machine::new(&shape.pace),
            random: Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number)),
        }
    }

    /// Add an episode of reads and one of writes to the history, as long as any remain.
    fn before(&mut self, history: &mut Vec<Request>) {
        for own in [&mut self.reads, &mut self.writes] {
            if let Some(episode) = own.before(&mut self.random) {
                history.extend(own.requests(episode));
            }
        }
    }

    /// Add `count` requests; return their arrivals and completions.
    fn requests(&mut self, count: usize, all: &mut Vec<Request>) -> Vec<Traced> {
        let mut traced = Vec::with_capacity(count);
        let end = all.len() + count;
        let reads = self.share_of_reads();
        while all.len() < end {
            self.machine.wait(self.shape.pace.idle_ms, &mut self.random);
            let (median, deviation) = self.shape.pace.burst;
            let episodes = self.random.log_normal(median, deviation).round() as usize;
            let mut write = !self.random.happens(reads);
            for number in 0..episodes.clamp(1, count) {
                if number > 0 {
                    self.machine.wait(self.shape.pace.pause_ms, &mut self.random);
                    write = self.kind(write, self.shape.pace.alike, reads);
                }
                if write && self.random.happens(self.shape.pace.flushes) {
                    self.flush(all, &mut traced);
                } else {
                    self.together(write, reads, all, &mut traced);
                }
            }
        }
        all.truncate(end);
        traced.truncate(count);
        traced
    }

    /// The share of episodes that read, to get the wanted share of requests.
    fn share_of_reads(&self) -> f64 {
        let (shape, pace) = (self.shape, &self.shape.pace);
        let reads = shape.read_share / self.reads.mean();
        // A flush replaces an episode and those that would have overlapped with it.
        let (median, deviation) = pace.flush;
        let mean = median * (deviation * deviation / 2.0).exp();
        let flush = 1.0 + pace.flushes * mean * (1.0 - pace.together);
        let writes = (1.0 - shape.read_share) / (self.writes.mean() * flush);
        reads / (reads + writes)
    }

    /// Write many episodes at once.
    fn flush(&mut self, all: &mut Vec<Request>, traced: &mut Vec<Traced>) {
        let (median, deviation) = self.shape.pace.flush;
        // More than the number of requests has no further effect.
        let most = self.shape.requests as u64;
        let episodes = self.random.log_normal(median, deviation).round() as u64;
        for _ in 0..episodes.clamp(1, most.max(1)) {
            let requests = self.episode(true);
            traced.extend(requests.iter().map(|_| self.machine.flush(&mut self.random)));
            all.extend(requests);
        }
    }

    /// Run an episode together with those of other processes, which do not wait for it.
    fn together(
        &mut self,
        write: bool,
        reads: f64,
        all: &mut Vec<Request>,
        traced: &mut Vec<Traced>,
    ) {
        let mut at = self.machine.came;
        let mut open = vec![(at, self.episode(write).into_iter())];
        while self.random.happens(self.shape.pace.together) {
            let write = self.kind(write, self.shape.pace.alike_beside, reads);
            at += GAP;
            open.push((at, self.episode(write).into_iter()));
        }
        while let Some(first) = (0..open.len()).min_by(|&a, &b| open[a].0.total_cmp(&open[b].0)) {
            let (at, requests) = &mut open[first];
            if let Some(request) = requests.next() {
                traced.push(self.machine.serve(*at, &mut self.random));
                *at = self.machine.next(request.write, &mut self.random);
                all.push(request);
            } else {
                open.swap_remove(first);
            }
        }
    }

    /// Whether an episode writes: like another one in a share of cases, else at random.
    fn kind(&mut self, other: bool, alike: f64, reads: f64) -> bool {
        if self.random.happens(alike) {
            return other;
        }
        !self.random.happens(reads)
    }

    /// The requests of the next episode that reads, or writes.
    fn episode(&mut self, write: bool) -> Vec<Request> {
        let kind = if write { &mut self.writes } else { &mut self.reads };
        let episode = kind.next(&mut self.random);
        kind.requests(episode).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Pace, Places};

    /// Single writes, each of them in a flush.
    fn shape(flush: (f64, f64)) -> Shape {
        let places = Places {
            small: 1.0,
            runs: 0.0,
            run_length: 1.0,
            scattered: 0.0,
            scatter_length: 1.0,
            near: 0.0,
            in_order: 0.0,
            again: vec![],
            history_blocks: 0,
        };
        let pace = Pace {
            service_ms: 1.0,
            think_ms: (100.0, 0.0),
            pause_ms: (100.0, 0.0),
            idle_ms: (100.0, 0.0),
            burst: (1.0, 0.0),
            alike: 0.0,
            together: 0.0,
            alike_beside: 0.0,
            asynchronous_reads: 0.0,
            asynchronous_writes: 0.0,
            flushes: 1.0,
            flush,
        };
        Shape {
            streams: 1,
            requests: 20_000,
            warm_up: 0,
            storage_blocks: 1 << 20,
            read_share: 0.0,
            reads: places.clone(),
            writes: places,
            pace,
            faster: None,
        }
    }

    /// Number of requests of each flush of a load: those within less than a millisecond.
    fn flushes(flush: (f64, f64)) -> Vec<usize> {
        let load = Load::new(&shape(flush), 5).unwrap();
        let apart = |pair: &[Traced]| pair[1].arrival - pair[0].arrival < 1_000_000;
        load.traced[0].chunk_by(|one, other| apart(&[*one, *other])).map(<[_]>::len).collect()
    }

    #[test]
    fn flushes_are_as_long_as_said_and_have_a_heavy_tail() {
        let same = flushes((50.0, 0.0));
        assert!(same[..same.len() - 1].iter().all(|length| *length == 50), "{same:?}");
        let mut spread = flushes((50.0, 1.0));
        spread.sort_unstable();
        let (median, most) = (spread[spread.len() / 2], spread[spread.len() - 1]);
        assert!((38..65).contains(&median) && most > 250, "{median} {most}");
    }

    #[test]
    fn nobody_waits_for_a_flush_but_for_one_s_own_requests() {
        let mut shape = shape((50.0, 0.0));
        shape.pace.burst = (1000.0, 0.0);
        let comes_sooner = |shape: &Shape| {
            let traced = &Load::new(shape, 5).unwrap().traced[0];
            let sooner = |pair: &&[Traced]| pair[1].arrival < pair[0].completion;
            traced.windows(2).filter(sooner).count() as f64 / traced.len() as f64
        };
        assert!(comes_sooner(&shape) > 0.97);
        shape.pace.flushes = 0.0;
        assert_eq!(comes_sooner(&shape), 0.0);
        shape.pace.together = 0.5;
        assert!(comes_sooner(&shape) > 0.3);
    }

    #[test]
    fn episodes_of_a_burst_and_beside_one_another_are_alike_as_often_as_said() {
        let mut shape = shape((50.0, 0.0));
        shape.read_share = 0.5;
        shape.pace.flushes = 0.0;
        shape.pace.burst = (1e6, 0.0);
        // How often a request is as the one before; with half of them reads, chance gives a half.
        let alike = |shape: &Shape| {
            let requests = Load::new(shape, 5).unwrap().requests;
            let same = requests.windows(2).filter(|pair| pair[0].write == pair[1].write).count();
            same as f64 / requests.len() as f64
        };
        assert!((alike(&shape) - 0.5).abs() < 0.02, "{}", alike(&shape));
        shape.pace.alike = 0.8;
        assert!((alike(&shape) - 0.9).abs() < 0.02, "{}", alike(&shape));
        shape.pace.alike = 0.0;
        shape.pace.together = 0.9;
        shape.pace.alike_beside = 1.0;
        assert!(alike(&shape) > 0.9, "{}", alike(&shape));
    }

    #[test]
    fn bursts_are_as_long_as_said() {
        let mut shape = shape((50.0, 0.0));
        shape.pace.flushes = 0.0;
        shape.pace.burst = (7.0, 0.0);
        shape.pace.idle_ms = (1e6, 0.0);
        let load = Load::new(&shape, 5).unwrap();
        let near = |own: &Traced, next: &Traced| next.arrival - own.completion < 500_000_000;
        let bursts: Vec<usize> = load.traced[0].chunk_by(near).map(<[_]>::len).collect();
        assert!(bursts[..bursts.len() - 1].iter().all(|own| *own == 7), "{bursts:?}");
    }
}
