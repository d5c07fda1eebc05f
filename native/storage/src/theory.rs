//! Stations and issue models beside queueing theory (Kleinrock, "Queueing systems", volume 1, 1975).

use crate::events::Events;
use crate::issue::{Issue, Open, Population};
use crate::random::Random;
use crate::station::Station;
use serde::{Deserialize, Serialize};

/// Nanoseconds of a piece of work, in the mean.
const MEAN: f64 = 1e6;

/// What theory has a formula for.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Case {
    /// M/M/1: arrivals at any time, work of the exponential distribution, one place.
    Mm1 {
        /// The share of the time for which the place is busy, below 1.
        load: f64,
    },
    /// M/D/1: all work takes the same time.
    Md1 {
        /// As in M/M/1.
        load: f64,
    },
    /// M/M/c: several places.
    Mmc {
        /// How many, at least one.
        places: usize,
        /// How many are busy in the mean, below `places`.
        load: f64,
    },
    /// The machine repair model: clients that think, and one place.
    Repair {
        /// How many clients, at least one.
        clients: usize,
        /// How long each thinks, in the mean of a piece of work.
        think: f64,
    },
}

/// Mean times in the system, in the mean of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Beside {
    /// Simulated.
    pub found: f64,
    /// What theory says.
    pub expected: f64,
}

/// Simulate so many customers of a case, beside theory.
pub fn beside(case: Case, customers: usize, seed: u64) -> Beside {
    let mut works = Random::new(seed ^ 0x5eed);
    let mut exponential = || works.exponential(MEAN).round() as u64;
    let found = match case {
        Case::Mm1 { load } => response(&mut poisson(load, customers, seed), 1, exponential),
        Case::Md1 { load } => response(&mut poisson(load, customers, seed), 1, || MEAN as u64),
        Case::Mmc { places, load } => {
            response(&mut poisson(load, customers, seed), places, &mut exponential)
        }
        Case::Repair { clients, think } => {
            let mut thinks = Random::new(seed);
            let think = |_| thinks.exponential(think * MEAN).round() as u64;
            response(&mut Population::new(clients, customers, think), 1, exponential)
        }
    };
    Beside { found, expected: expected(case) }
}

/// What theory says of a case.
fn expected(case: Case) -> f64 {
    match case {
        Case::Mm1 { load } => 1.0 / (1.0 - load),
        Case::Md1 { load } => 1.0 + load / (2.0 * (1.0 - load)),
        Case::Mmc { places, load } => 1.0 + waits(places, load) / (places as f64 - load),
        Case::Repair { clients, think } => {
            // Mean value analysis: exact for one station and exponential times.
            let (mut response, mut there) = (1.0, 0.0);
            for number in 1..=clients {
                response = 1.0 + there;
                there = number as f64 * response / (response + think);
            }
            response
        }
    }
}

/// Erlang's C: the share of customers that wait.
fn waits(places: usize, load: f64) -> f64 {
    let (mut term, mut below) = (1.0, 0.0);
    for number in 0..places {
        below += term;
        term *= load / (number + 1) as f64;
    }
    let all_busy = term / (1.0 - load / places as f64);
    all_busy / (below + all_busy)
}

fn poisson(load: f64, customers: usize, seed: u64) -> Open {
    let (mut drawn, mut now) = (Random::new(seed), 0);
    let gap = |_| {
        now += drawn.exponential(MEAN / load).round() as u64;
        now
    };
    Open::new((0..customers).map(gap).collect())
}

/// The mean time in a station, in the mean of a piece of work, of customers that an issue model sends.
fn response(issue: &mut dyn Issue, places: usize, mut work: impl FnMut() -> u64) -> f64 {
    let (mut station, mut done) = (Station::new(places), Events::default());
    let mut sum = 0_u128;
    loop {
        let due = issue.next().filter(|(at, _)| done.next_at().is_none_or(|other| *at < other));
        if let Some((now, number)) = due {
            issue.issue();
            let end = station.take(now, work()).end;
            sum += u128::from(end - now);
            done.add(end, number);
        } else if let Some((now, number)) = done.pop() {
            issue.done(number, now);
        } else {
            return sum as f64 / MEAN / station.served().max(1) as f64;
        }
    }
}
