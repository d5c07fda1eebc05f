//! Results of a run of the server: latencies by class and size, parts, and utilization.

use super::call::{Call, Class};
use super::histogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;

/// Parts of a call's time, by number.
pub const PARTS: [&str; 11] = [
    "thread",
    "lock",
    "processor_queue",
    "processor",
    "disk_queue",
    "seek",
    "rotation",
    "transfer",
    "write_buffer",
    "network",
    "connection",
];

/// The time of a call in parts, in nanoseconds.
pub type Parts = [u64; PARTS.len()];

/// Upper bounds of the size classes of data calls, except the last.
const SIZES: [u32; 3] = [4 << 10, 16 << 10, 64 << 10];
/// Names of the size classes.
const SIZE_NAMES: [&str; SIZES.len() + 1] =
    ["up to 4 KB", "up to 16 KB", "up to 64 KB", "above 64 KB"];

/// Latencies of calls of a kind, simulated and as captured.
#[derive(Clone, Debug, Default)]
struct Tally {
    simulated: Histogram,
    captured: Histogram,
    parts: Parts,
}

/// Latencies of calls by class and size.
#[derive(Clone, Debug)]
pub struct Measured {
    tallies: Vec<Tally>,
}

/// Figures of a distribution of latencies, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Number of calls.
    pub calls: u64,
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
}

/// Figures of the calls of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Kind {
    /// Of the simulation.
    pub simulated: Figures,
    /// Of the capture, for calls that were answered in it.
    pub captured: Figures,
    /// Parts of the mean, in microseconds.
    pub parts: BTreeMap<&'static str, f64>,
}

impl Default for Measured {
    fn default() -> Self {
        Self { tallies: vec![Tally::default(); Class::ALL.len() * SIZE_NAMES.len()] }
    }
}

impl Measured {
    /// Count a call with its simulated latency.
    pub fn add(&mut self, call: &Call, latency: u64, parts: &Parts) {
        let size = SIZES.iter().take_while(|most| call.bytes > **most).count();
        let tally = &mut self.tallies[call.class as usize * SIZE_NAMES.len() + size];
        tally.simulated.add(latency);
        if let Some(captured) = call.latency() {
            tally.captured.add(captured);
        }
        for (own, part) in tally.parts.iter_mut().zip(parts) {
            *own += part;
        }
    }

    /// The figures for `all`, by class, and for reads and writes by class and size.
    pub fn kinds(&self) -> BTreeMap<String, Kind> {
        let mut kinds = BTreeMap::new();
        let mut all = Tally::default();
        for (tallies, class) in self.tallies.chunks(SIZE_NAMES.len()).zip(Class::ALL) {
            let mut whole = Tally::default();
            for (tally, size) in tallies.iter().zip(SIZE_NAMES) {
                whole.merge(tally);
                if matches!(class, Class::Read | Class::Write) && tally.simulated.count() > 0 {
                    let name = format!("{} {size}", Class::NAMES[class as usize]);
                    kinds.insert(name, tally.kind());
                }
            }
            all.merge(&whole);
            if whole.simulated.count() > 0 {
                kinds.insert(Class::NAMES[class as usize].to_owned(), whole.kind());
            }
        }
        kinds.insert("all".to_owned(), all.kind());
        kinds
    }
}

impl Tally {
    fn merge(&mut self, other: &Self) {
        self.simulated.merge(&other.simulated);
        self.captured.merge(&other.captured);
        for (own, part) in self.parts.iter_mut().zip(&other.parts) {
            *own += part;
        }
    }

    fn kind(&self) -> Kind {
        let count = self.simulated.count().max(1) as f64;
        let part = |(name, sum): (&&'static str, &u64)| (*name, *sum as f64 / count / 1e3);
        Kind {
            simulated: figures(&self.simulated),
            captured: figures(&self.captured),
            parts: PARTS.iter().zip(&self.parts).map(part).collect(),
        }
    }
}

fn figures(of: &Histogram) -> Figures {
    let quantile = |share| of.quantile(share) / 1e3;
    Figures {
        calls: of.count(),
        mean: of.mean() / 1e3,
        p50: quantile(0.5),
        p95: quantile(0.95),
        p99: quantile(0.99),
    }
}

/// Results of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Latencies by kind of call.
    pub kinds: BTreeMap<String, Kind>,
    /// Calls answered in the measured time.
    pub calls: u64,
    /// The measured time, in seconds.
    pub seconds: f64,
    /// Calls per second.
    pub rate: f64,
    /// Utilization of threads, processors, disks and links.
    pub busy: BTreeMap<&'static str, f64>,
    /// The share of read blocks that were in memory; null: no block was read.
    pub hit_ratio: Option<f64>,
    /// Blocks that were read ahead.
    pub ahead: u64,
    /// Most calls outstanding at once.
    pub outstanding: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_separate_by_class_and_size() {
        let mut measured = Measured::default();
        let read = Call {
            at: 1_000,
            replied: 11_000,
            stream: 0,
            connection: 0,
            class: Class::Read,
            file: 1,
            target: 0,
            directory: false,
            hints: 0,
            offset: 0,
            bytes: 8192,
            end: 8192,
            stable: false,
        };
        measured.add(&read, 20_000, &[2_000; PARTS.len()]);
        measured.add(&Call { class: Class::Lookup, bytes: 0, ..read }, 5_000, &[0; PARTS.len()]);
        let kinds = measured.kinds();
        let names: Vec<&str> = kinds.keys().map(String::as_str).collect();
        assert_eq!(names, ["all", "lookup", "read", "read up to 16 KB"]);
        assert_eq!((kinds["read"].simulated.mean, kinds["read"].captured.mean), (20.0, 10.0));
        assert_eq!(kinds["read"].parts["seek"], 2.0);
        assert_eq!(kinds["all"].simulated.calls, 2);
    }
}
