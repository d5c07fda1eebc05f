//! Stations and issue models beside queueing theory (Kleinrock, "Queueing systems", volume 1, 1975).

use birthmark_storage::events::Events;
use birthmark_storage::issue::{Issue, Open, Population};
use birthmark_storage::station::Station;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;

const MEAN: f64 = 1e6;
const CUSTOMERS: usize = 4_000_000;

/// Numbers that follow from a seed.
struct Drawn(Random);

impl Drawn {
    fn new(seed: u64) -> Drawn {
        Drawn(Random::seed_from_u64(seed))
    }

    /// Of the exponential distribution.
    fn exponential(&mut self, mean: f64) -> u64 {
        let unit = ((self.0.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        (-mean * unit.ln()).round() as u64
    }
}

/// The mean time in a station, in the mean of a service, of customers that an issue model sends.
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
            return sum as f64 / MEAN / station.served() as f64;
        }
    }
}

fn poisson(load: f64, seed: u64) -> Open {
    let (mut drawn, mut now) = (Drawn::new(seed), 0);
    let gap = |_| {
        now += drawn.exponential(MEAN / load);
        now
    };
    Open::new((0..CUSTOMERS).map(gap).collect())
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.01, "{found}, expected {expected}");
}

#[test]
fn one_place_with_exponential_work_is_m_m_1() {
    for load in [0.3, 0.6, 0.8] {
        let mut drawn = Drawn::new(1);
        let found = response(&mut poisson(load, 2), 1, || drawn.exponential(MEAN));
        near(found, 1.0 / (1.0 - load));
    }
}

#[test]
fn one_place_with_equal_work_is_m_d_1() {
    for load in [0.3, 0.6, 0.8] {
        let found = response(&mut poisson(load, 3), 1, || MEAN as u64);
        near(found, 1.0 + load / (2.0 * (1.0 - load)));
    }
}

#[test]
fn several_places_are_m_m_c() {
    let (places, load) = (4_usize, 3.0_f64);
    let mut drawn = Drawn::new(4);
    let found = response(&mut poisson(load, 5), places, || drawn.exponential(MEAN));
    // Erlang's C: the share that waits.
    let mut term = 1.0;
    let mut below = 0.0;
    for number in 0..places {
        below += term;
        term *= load / (number + 1) as f64;
    }
    let all_busy = term / (1.0 - load / places as f64);
    let waits = all_busy / (below + all_busy);
    near(found, 1.0 + waits / (places as f64 - load));
}

#[test]
fn clients_that_think_are_the_machine_repair_model() {
    for (clients, think) in [(1, 4.0), (5, 4.0), (12, 8.0)] {
        let (mut thinks, mut works) = (Drawn::new(6), Drawn::new(7));
        let mut issue = Population::new(clients, CUSTOMERS, |_| thinks.exponential(think * MEAN));
        let found = response(&mut issue, 1, || works.exponential(MEAN));
        // Mean value analysis: exact for one station and exponential times.
        let (mut expected, mut there) = (1.0, 0.0);
        for number in 1..=clients {
            expected = 1.0 + there;
            there = number as f64 * expected / (expected + think);
        }
        near(found, expected);
    }
}
