//! The orders against slow versions with sorted lists.

use super::*;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;

/// An arm whose access times grow with the distance from a sector.
struct Ruler(u64);

impl Arm for Ruler {
    fn reach(&self, request: &Request, _: u64) -> u64 {
        request.sector.abs_diff(self.0)
    }
}

/// A list that is scanned at every choice.
struct Slow<F>(Vec<Waiting>, F);

/// The choice of a slow order, from the time and the sector served last.
type Pick = dyn FnMut(&[Waiting], u64, u64) -> usize;

impl Slow<Box<Pick>> {
    fn pop(&mut self, now: u64, last: u64) -> Option<Waiting> {
        (!self.0.is_empty()).then(|| {
            let place = (self.1)(&self.0, now, last);
            self.0.remove(place)
        })
    }
}

fn least(waiting: &[Waiting], key: impl Fn(&Waiting) -> (f64, usize)) -> usize {
    let order = |one: &&Waiting, other: &&Waiting| key(one).partial_cmp(&key(other)).unwrap();
    let first = waiting.iter().min_by(order).unwrap();
    waiting.iter().position(|own| own == first).unwrap()
}

/// Let both orders serve the same requests, which come and go at random.
fn agree(order: &mut dyn Order, slow: &mut Slow<Box<Pick>>, seed: u64) {
    let mut random = Random::seed_from_u64(seed);
    let (mut last, mut number) = (0, 0);
    for now in 0..4_000 {
        if random.next_u64() % 2 == 0 {
            let request = Request { sector: random.next_u64() % 40, sectors: 1, write: false };
            let waiting = Waiting { number, since: now, request };
            order.push(waiting);
            slow.0.push(waiting);
            number += 1;
        } else {
            let popped = order.pop(now, &Ruler(last));
            assert_eq!(popped, slow.pop(now, last), "at {now}");
            last = popped.map_or(last, |own| own.request.sector);
        }
        assert_eq!((order.len(), order.is_empty()), (slow.0.len(), slow.0.is_empty()));
    }
    assert!(number > 1_000);
}

#[test]
fn fcfs_serves_the_first_that_came() {
    agree(&mut Fcfs::default(), &mut Slow(Vec::new(), Box::new(|_, _, _| 0)), 1);
}

#[test]
fn the_aged_order_serves_the_least_of_reach_less_weighted_waiting() {
    for (weight, depth) in [(0.0, 1_000), (0.3, 1_000), (0.01, 8), (2.0, 3)] {
        let pick = move |waiting: &[Waiting], now: u64, last: u64| {
            let seen = &waiting[..waiting.len().min(depth)];
            least(seen, |own| {
                let reach = own.request.sector.abs_diff(last) as f64;
                (reach - weight * (now - own.since) as f64, own.number)
            })
        };
        agree(&mut Aged::new(weight, depth), &mut Slow(Vec::new(), Box::new(pick)), 2);
    }
}

#[test]
fn with_much_weight_the_aged_order_is_fcfs() {
    agree(&mut Aged::new(1e9, 1_000), &mut Slow(Vec::new(), Box::new(|_, _, _| 0)), 3);
}

#[test]
fn n_cscan_serves_sweeps_that_nothing_joins() {
    let mut sweep: Vec<usize> = Vec::new();
    let pick = move |waiting: &[Waiting], _: u64, _: u64| {
        sweep.retain(|number| waiting.iter().any(|own| own.number == *number));
        if sweep.is_empty() {
            sweep = waiting.iter().map(|own| own.number).collect();
        }
        let own = |waiting: &Waiting| sweep.contains(&waiting.number);
        least(waiting, |each| {
            let sector = each.request.sector as f64;
            (if own(each) { sector } else { f64::INFINITY }, each.number)
        })
    };
    agree(&mut NCscan::default(), &mut Slow(Vec::new(), Box::new(pick)), 4);
}

#[test]
fn the_elevator_serves_upwards_and_begins_again_below() {
    // An arrival at an empty queue belongs to the pass wherever it is.
    let mut order = Elevator::default();
    for (number, sector) in [30, 50, 40].into_iter().enumerate() {
        order.push(waiting(number, sector));
    }
    assert_eq!(order.pop(0, &Ruler(0)).unwrap().request.sector, 30);
    order.push(waiting(3, 10));
    order.push(waiting(4, 45));
    let rest: Vec<u64> =
        std::iter::from_fn(|| order.pop(0, &Ruler(0))).map(|own| own.request.sector).collect();
    assert_eq!(rest, [40, 45, 50, 10]);
}

#[test]
fn none_waits_for_more_than_two_sweeps_under_n_cscan() {
    let mut order = NCscan::default();
    order.push(waiting(0, 1_000));
    order.push(waiting(1, 5));
    assert_eq!(order.pop(0, &Ruler(0)).unwrap().number, 1);
    for number in 2..50 {
        order.push(waiting(number, 6));
    }
    assert_eq!(order.pop(0, &Ruler(0)).unwrap().number, 0, "nothing joins the sweep");
}

fn waiting(number: usize, sector: u64) -> Waiting {
    Waiting { number, since: 0, request: Request { sector, sectors: 1, write: false } }
}

#[test]
fn a_drive_with_room_for_all_has_the_say_and_one_without_leaves_it_to_the_host() {
    let served = |depth| -> Vec<u64> {
        let mut order = Tagged::new(Box::<NCscan>::default(), Box::<Fcfs>::default(), depth);
        for (number, sector) in [50, 10, 40, 20, 30].into_iter().enumerate() {
            let request = Request { sector, sectors: 1, write: false };
            order.push(Waiting { number, since: 0, request });
        }
        assert_eq!(order.len(), 5);
        let next = || order.pop(0, &Ruler(0)).map(|own| own.request.sector);
        std::iter::from_fn(next).collect()
    };
    assert_eq!(served(5), [50, 10, 40, 20, 30], "in the order of arrival");
    assert_eq!(served(1), [50, 10, 20, 30, 40], "in a sweep behind the first");
    assert_eq!(served(2), [50, 10, 20, 30, 40]);
}
