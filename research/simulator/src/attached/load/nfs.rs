//! Clients of NFS, behind their own caches.

use super::{proportions, solve, Ask, Kind};
use crate::random::{Random, Zipf};
use birthmark_storage::events::Events;
use serde::Deserialize;

/// Most bytes of a request for data, and the bytes of one for a directory.
const DATA: f64 = 8192.0;
const DIRECTORY: f64 = 4096.0;

/// Parameters of the load.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NfsLoad {
    /// Files that are read.
    pub files: usize,
    /// Skew of popularity: file `i` has weight (i + 1)^-exponent.
    pub exponent: f64,
    /// The deviation of the logarithm of their sizes.
    pub sigma: f64,
    /// Requests a second.
    pub rate: f64,
    /// Mean bytes of a request.
    pub bytes: f64,
    /// The share of requests that are for metadata.
    pub metadata: f64,
    /// The share of bytes that are metadata.
    pub metadata_bytes: f64,
    /// Milliseconds from one request of a reader to the next.
    pub gap_ms: f64,
}

/// An endless load: files are read whole, in pieces of 8 KiB; attributes carry no bytes. Starts
/// form a Poisson process.
#[derive(Clone, Debug)]
pub struct Nfs {
    load: NfsLoad,
    random: Random,
    files: Zipf,
    sizes: Vec<u64>,
    /// The share of starts that read a file.
    reading: f64,
    /// Mean nanoseconds between starts.
    between: f64,
    /// The share of metadata that is a directory.
    directories: f64,
    begins: f64,
    going_on: Events<Ask>,
}

impl Nfs {
    /// The load of a seed.
    pub fn new(load: NfsLoad, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let files = Zipf::new(load.files, load.exponent);
        let own = proportions(load.files, load.sigma, &mut random);
        let data_bytes = load.bytes * (1.0 - load.metadata_bytes) / (1.0 - load.metadata);
        let shares: Vec<f64> = (0..load.files).map(|file| files.share(file)).collect();
        let mean: f64 = shares.iter().zip(&own).map(|(share, size)| share * size).sum();
        let requests = |scale: f64| -> f64 {
            let of = |(share, size): (&f64, &f64)| share * (scale * size / DATA).ceil();
            shares.iter().zip(&own).map(of).sum()
        };
        let scale = solve(0.0, 64.0 * DATA, |scale| scale * mean - data_bytes * requests(scale));
        let of_a_file = requests(scale);
        let data = 1.0 - load.metadata;
        let reading = data / (data + load.metadata * of_a_file);
        let of_what_begins = reading * of_a_file + 1.0 - reading;
        Self {
            load,
            sizes: own.iter().map(|size| (scale * size).ceil() as u64).collect(),
            random,
            files,
            reading,
            between: 1e9 / load.rate * of_what_begins,
            directories: load.bytes * load.metadata_bytes / (load.metadata * DIRECTORY),
            begins: 0.0,
            going_on: Events::default(),
        }
    }

    /// Start a file, with all its requests, or a request for metadata.
    fn begin(&mut self) {
        let at = self.begins as u64;
        self.begins += self.random.exponential(self.between);
        if self.random.unit() > self.reading {
            let directory = self.random.unit() <= self.directories;
            let kind = if directory { Kind::Directory } else { Kind::Attributes };
            let bytes = if directory { DIRECTORY as u64 } else { 0 };
            self.going_on.add(at, Ask { at, file: 0, kind, offset: 0, bytes });
            return;
        }
        let file = self.files.draw(&mut self.random);
        self.read_on(Ask { at, file: file as u32, kind: Kind::Read, offset: 0, bytes: 0 });
    }

    /// Request the piece of a file at an offset, unless it is beyond the end.
    fn read_on(&mut self, ask: Ask) {
        let size = self.sizes[ask.file as usize];
        if ask.offset < size {
            let bytes = (size - ask.offset).min(DATA as u64);
            self.going_on.add(ask.at, Ask { bytes, ..ask });
        }
    }
}

impl Iterator for Nfs {
    type Item = Ask;

    fn next(&mut self) -> Option<Ask> {
        while self.going_on.next_at().is_none_or(|at| at as f64 > self.begins) {
            self.begin();
        }
        let (_, ask) = self.going_on.pop()?;
        if ask.kind == Kind::Read {
            let at = ask.at + (self.load.gap_ms * 1e6) as u64;
            self.read_on(Ask { at, offset: ask.offset + ask.bytes, ..ask });
        }
        Some(ask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: NfsLoad = NfsLoad {
        files: 2_000,
        exponent: 0.8,
        sigma: 1.3,
        rate: 40.0,
        bytes: 1680.0,
        metadata: 0.75,
        metadata_bytes: 0.54,
        gap_ms: 5.0,
    };

    #[test]
    fn it_is_what_it_was_fitted_to() {
        let asks: Vec<Ask> = Nfs::new(LOAD, 1).take(200_000).collect();
        assert!(asks.is_sorted_by_key(|ask| ask.at));
        let bytes = |data: bool| -> f64 {
            let own = asks.iter().filter(|ask| ask.kind.is_data() == data);
            own.map(|ask| ask.bytes as f64).sum()
        };
        let near = |found: f64, expected: f64| {
            assert!((found / expected - 1.0).abs() < 0.03, "{found}, expected {expected}");
        };
        let metadata = asks.iter().filter(|ask| !ask.kind.is_data()).count() as f64;
        near(metadata / 2e5, 0.75);
        near(bytes(false) / (bytes(false) + bytes(true)), 0.54);
        near((bytes(false) + bytes(true)) / 2e5, 1680.0);
        near(2e5 / (asks.last().unwrap().at as f64 / 1e9), 40.0);
    }

    #[test]
    fn a_file_is_read_from_its_beginning_to_its_end() {
        let load = Nfs::new(LOAD, 2);
        let sizes = load.sizes.clone();
        let mut reads: Vec<Ask> = load.take(50_000).filter(|ask| ask.kind.is_data()).collect();
        reads.truncate(5_000);
        for ask in &reads {
            assert!(ask.offset.is_multiple_of(8192) && ask.bytes <= 8192);
            let end = ask.offset + ask.bytes;
            let next = |other: &&Ask| {
                other.file == ask.file && other.offset == end && other.at == ask.at + 5_000_000
            };
            let goes_on = reads.iter().any(|other| next(&other));
            let last = reads.last().unwrap().at;
            assert!(end == sizes[ask.file as usize] || goes_on || ask.at + 5_000_000 >= last);
        }
    }
}
