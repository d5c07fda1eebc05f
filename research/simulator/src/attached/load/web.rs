//! Clients of a Web server, whose log has times in whole seconds.

use super::{proportions, solve, Ask, Kind};
use crate::random::{Random, Zipf};
use serde::Deserialize;

/// Parameters of the load.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebLoad {
    /// Files that are requested.
    pub files: usize,
    /// The share of files that are the popular ones.
    pub popular: f64,
    /// The share of requests for these.
    pub popular_requests: f64,
    /// The deviation of the logarithm of their sizes.
    pub sigma: f64,
    /// Requests a second.
    pub rate: f64,
    /// Mean bytes of a request.
    pub bytes: f64,
}

/// An endless load of requests for whole files. The requests of a second (Poisson) come at its
/// beginning, as in a log.
#[derive(Clone, Debug)]
pub struct Web {
    random: Random,
    rate: f64,
    files: Zipf,
    sizes: Vec<u64>,
    second: u64,
    left: u64,
}

impl Web {
    /// The load of a seed.
    pub fn new(load: WebLoad, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let popular = ((load.files as f64 * load.popular) as usize).max(1);
        let exponent = solve(0.0, 3.0, |exponent| {
            let weight = |rank: usize| (rank as f64).powf(-exponent);
            let first: f64 = (1..=popular).map(weight).sum();
            let rest: f64 = (popular + 1..=load.files).map(weight).sum();
            first / (first + rest) - load.popular_requests
        });
        let files = Zipf::new(load.files, exponent);
        let own = proportions(load.files, load.sigma, &mut random);
        let mean: f64 = own.iter().enumerate().map(|(file, size)| files.share(file) * size).sum();
        let sizes = own.iter().map(|size| (size * load.bytes / mean).ceil() as u64).collect();
        Self { random, rate: load.rate, files, sizes, second: 0, left: 0 }
    }
}

impl Iterator for Web {
    type Item = Ask;

    fn next(&mut self) -> Option<Ask> {
        while self.left == 0 {
            self.second += 1;
            self.left = self.random.poisson(self.rate);
        }
        self.left -= 1;
        let file = self.files.draw(&mut self.random);
        let (at, bytes) = (self.second * 1_000_000_000, self.sizes[file]);
        Some(Ask { at, file: file as u32, kind: Kind::Read, offset: 0, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_it_was_fitted_to() {
        let load = WebLoad {
            files: 3_000,
            popular: 0.1,
            popular_requests: 0.85,
            sigma: 1.4,
            rate: 3.5,
            bytes: 9868.0,
        };
        let asks: Vec<Ask> = Web::new(load, 1).take(200_000).collect();
        let share = |own: &dyn Fn(&&Ask) -> bool| asks.iter().filter(own).count() as f64 / 2e5;
        assert!((share(&|ask| ask.file < 300) - 0.85).abs() < 0.01);
        assert!(asks.iter().all(|ask| ask.at.is_multiple_of(1_000_000_000)));
        let seconds = asks.last().unwrap().at as f64 / 1e9;
        assert!((2e5 / seconds - 3.5).abs() < 0.1);
        let mean = asks.iter().map(|ask| ask.bytes as f64).sum::<f64>() / 2e5;
        assert!((mean / 9868.0 - 1.0).abs() < 0.05, "{mean}");
    }
}
