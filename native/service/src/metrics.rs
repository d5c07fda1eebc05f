//! Counts of requests, and the lines of the access log.

use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

/// The route of requests for unknown paths.
const OTHER: &str = "other";

/// Lines of the access log that may wait to be written; further ones are dropped.
const LINES: usize = 65_536;

/// Counts of requests by time, and their sum.
#[derive(Debug)]
struct Histogram {
    /// By bucket, the last for what is longer than all bounds.
    counts: Vec<AtomicU64>,
    nanoseconds: AtomicU64,
}

/// The requests of a route with a status: counts by bucket, and the sum of seconds.
pub type Timed = (String, u16, Vec<u64>, f64);

/// A line of the access log.
#[derive(Clone, Debug)]
pub struct Line {
    /// The request's id.
    pub request: String,
    /// Its method.
    pub method: String,
    /// The route: one of the known paths, or `other`.
    pub route: String,
    /// Its path.
    pub path: String,
    /// The status of its answer.
    pub status: u16,
    /// The seconds until the answer was ready.
    pub seconds: f64,
    /// The bytes of the answer's body.
    pub bytes: usize,
}

impl Line {
    /// The line of a request that is not answered yet.
    pub fn new(head: &Parts, path: &str, id: &HeaderValue) -> Line {
        Line {
            request: id.to_str().unwrap_or_default().to_owned(),
            method: head.method.to_string(),
            route: String::new(),
            path: path.to_owned(),
            status: 0,
            seconds: 0.0,
            bytes: 0,
        }
    }
}

/// The metrics of a service.
pub struct Metrics {
    /// Requests refused as `overloaded`.
    pub shed: AtomicU64,
    /// The number of each route; requests for other paths have the number after them.
    routes: HashMap<String, usize>,
    names: Vec<String>,
    bounds: Vec<f64>,
    histograms: RwLock<HashMap<(usize, u16), Arc<Histogram>>>,
    /// None: there is no access log.
    lines: Option<Mutex<Vec<Line>>>,
}

impl Metrics {
    /// Metrics of `routes`, with histograms of these upper bounds (seconds).
    pub fn new(routes: HashSet<String>, bounds: Vec<f64>, access_log: bool) -> Metrics {
        let mut names: Vec<_> = routes.into_iter().collect();
        let routes = names.iter().cloned().zip(0..).collect();
        names.push(OTHER.to_owned());
        let (shed, histograms) = (AtomicU64::new(0), RwLock::default());
        Metrics { shed, routes, names, bounds, histograms, lines: access_log.then(Mutex::default) }
    }

    /// The number of a path's route.
    pub fn route(&self, path: &str) -> usize {
        self.routes.get(path).copied().unwrap_or(self.routes.len())
    }

    /// Whether each request is logged.
    pub fn logs_access(&self) -> bool {
        self.lines.is_some()
    }

    /// Counts an answered request.
    pub fn count(&self, route: usize, status: u16, time: Duration) {
        let key = (route, status);
        let known =
            self.histograms.read().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let histogram = known.unwrap_or_else(|| {
            let mut all = self.histograms.write().unwrap_or_else(PoisonError::into_inner);
            let counts = (0..=self.bounds.len()).map(|_| AtomicU64::new(0)).collect();
            let new = || Arc::new(Histogram { counts, nanoseconds: AtomicU64::new(0) });
            Arc::clone(all.entry(key).or_insert_with(new))
        });
        let seconds = time.as_secs_f64();
        let bucket = self.bounds.iter().take_while(|bound| seconds > **bound).count();
        histogram.counts[bucket].fetch_add(1, Relaxed);
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        histogram.nanoseconds.fetch_add(nanoseconds, Relaxed);
    }

    /// All requests.
    pub fn requests(&self) -> Vec<Timed> {
        let all = self.histograms.read().unwrap_or_else(PoisonError::into_inner);
        let timed = |((route, status), each): (&(usize, u16), &Arc<Histogram>)| {
            let counts = each.counts.iter().map(|count| count.load(Relaxed)).collect();
            let seconds = each.nanoseconds.load(Relaxed) as f64 / 1e9;
            (self.names[*route].clone(), *status, counts, seconds)
        };
        all.iter().map(timed).collect()
    }

    /// Adds a line to the access log, if there is one.
    pub fn note(&self, route: usize, line: Line) {
        let Some(lines) = &self.lines else { return };
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() < LINES {
            lines.push(Line { route: self.names[route].clone(), ..line });
        }
    }

    /// The lines of the access log since the last call.
    pub fn take_lines(&self) -> Vec<Line> {
        let Some(lines) = &self.lines else { return Vec::new() };
        std::mem::take(&mut *lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
