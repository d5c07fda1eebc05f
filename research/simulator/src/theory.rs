//! Stations and issue models against queueing theory (Kleinrock, "Queueing systems", volume 1,
//! 1975).

use crate::issue::{Issue, Open, Population};
use crate::random::Random;
use birthmark_storage::events::Events;
use birthmark_storage::station::Station;
use serde::{Deserialize, Serialize};

/// Mean nanoseconds of a piece of work.
const MEAN: f64 = 1e6;

/// Cases with a formula.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub enum Case {
    /// M/M/1: Poisson arrivals, exponential work, one server.
    Mm1 {
        /// Utilization, below 1.
        load: f64,
    },
    /// M/D/1: all work takes the same time.
    Md1 {
        /// As in M/M/1.
        load: f64,
    },
    /// M/M/c: several servers.
    Mmc {
        /// Number of servers, at least one.
        places: usize,
        /// Mean number of busy servers, below `places`.
        load: f64,
    },
    /// The machine repair model: clients with think time, and one server.
    Repair {
        /// Number of clients, at least one.
        clients: usize,
        /// Mean think time, in units of the mean work.
        think: f64,
    },
}

/// Mean times in the system, in units of the mean work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Simulated.
    pub found: f64,
    /// The theoretical value.
    pub expected: f64,
}

/// Simulate a number of customers of a case, and compare with theory.
pub fn compare(case: Case, customers: usize, seed: u64) -> Comparison {
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
    Comparison { found, expected: expected(case) }
}

/// The theoretical value of a case.
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

/// Mean time in a station, in units of the mean work, for the customers of an issue model.
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
