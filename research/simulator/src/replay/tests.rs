//! Traces replayed on a small drive, against the host that holds all requests.

use super::*;
use crate::host;
use crate::issue::{Open, Population};
use crate::random::Random;
use crate::traces::{Access, Accesses};
use birthmark_storage::drive::small;
use birthmark_storage::drive::{Drive, Request};
use birthmark_storage::queue::{Elevator, Fcfs, NCscan, Order};

const FIT: Fit = Fit { sectors: 80, sector_bytes: 512, wrap: false };

fn accesses(count: u64, gap: u64) -> Vec<Access> {
    let mut random = Random::new(1);
    let access = |number| Access {
        at: number * gap,
        took: Some(3_000_000),
        byte: random.below(76) * 512,
        bytes: 512 * (1 + random.below(4)),
        write: random.below(4) == 0,
    };
    (0..count).map(access).collect()
}

fn trace(accesses: &[Access]) -> Accesses {
    let own: Vec<Access> = accesses.into();
    Box::new(own.into_iter().map(Ok))
}

fn replay(of: ArrivalsOf, fit: Fit, order: &mut dyn Order) -> Result<Replayed, ReplayError> {
    run(Arrivals::new(of, fit), order, &mut Drive::new(&small()).unwrap())
}

fn requests(accesses: &[Access]) -> Vec<Request> {
    accesses.iter().map(|own| FIT.request(own, 1).unwrap()).collect()
}

/// The mean response of the host that holds all requests, in milliseconds.
fn held(issue: &mut dyn crate::issue::Issue, own: &[Access], order: &mut dyn Order) -> f64 {
    let mut drive = Drive::new(&small()).unwrap();
    let answers = host::run(issue, &requests(own), order, &mut drive).unwrap();
    answers.iter().map(|own| own.service.response() as f64).sum::<f64>()
        / answers.len() as f64
        / 1e6
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found}, expected {expected}");
}

#[test]
fn it_is_the_host_without_its_memory() {
    let own = accesses(400, 4_000_000);
    let orders: [[Box<dyn Order>; 2]; 3] = [
        [Box::new(Fcfs::default()), Box::new(Fcfs::default())],
        [Box::new(Elevator::default()), Box::new(Elevator::default())],
        [Box::new(NCscan::default()), Box::new(NCscan::default())],
    ];
    for [mut one, mut other] in orders {
        let found = replay(ArrivalsOf::open(trace(&own), 1.0), FIT, &mut *one).unwrap();
        let mut open = Open::new(own.iter().map(|access| access.at).collect());
        near(found.all.mean_ms, held(&mut open, &own, &mut *other));
        assert_eq!(found.reads.unwrap().requests + found.writes.unwrap().requests, 400);
        let parts = found.parts_ms;
        let sum = parts.queue + parts.overhead + parts.seek + parts.rotation;
        near(sum + parts.transfer + parts.bus, found.all.mean_ms);
        near(found.traced.unwrap().mean_ms, 3.0);
    }
}

#[test]
fn clients_ask_again_when_they_have_thought() {
    let own = accesses(300, 1);
    let of = ArrivalsOf::population(trace(&own), 3, 7_000);
    let found = replay(of, FIT, &mut Fcfs::default()).unwrap();
    let mut population = Population::new(3, 300, |number| if number < 3 { 0 } else { 7_000 });
    near(found.all.mean_ms, held(&mut population, &own, &mut Fcfs::default()));
    assert_eq!(found.queue_most, 2, "while one is served");
    assert!(found.busy > 0.99 && found.busy <= 1.0, "{found:?}");
}

#[test]
fn requests_wait_for_one_another_as_in_the_trace() {
    // Each was sent when the one before it was done: it is so on a slower drive, too.
    let mut own = accesses(50, 3_000_000);
    let found = replay(ArrivalsOf::dependent(trace(&own), 1.0).unwrap(), FIT, &mut Fcfs::default());
    assert_eq!(found.unwrap().queue_most, 1);
    let open = replay(ArrivalsOf::open(trace(&own), 1.0), FIT, &mut Fcfs::default()).unwrap();
    assert!(open.queue_most > 10);
    own[20].took = None;
    let error = ArrivalsOf::dependent(trace(&own), 1.0).err().unwrap().to_string();
    assert!(error.starts_with("request 21: expected how long it took"), "{error}");
}

#[test]
fn a_faster_load_comes_in_less_time() {
    let own = accesses(200, 40_000_000);
    let run = |faster| replay(ArrivalsOf::open(trace(&own), faster), FIT, &mut Fcfs::default());
    let (one, four) = (run(1.0).unwrap(), run(4.0).unwrap());
    assert!((one.seconds / four.seconds - 4.0).abs() < 0.1, "{one:?} {four:?}");
    assert!(four.busy > 3.5 * one.busy);
}

#[test]
fn what_lies_beyond_the_end_is_refused_or_wrapped() {
    let mut own = accesses(5, 1_000);
    own[2].byte = 80 * 512;
    own[2].bytes = 512;
    let open = || ArrivalsOf::open(trace(&own), 1.0);
    let error = replay(open(), FIT, &mut Fcfs::default()).unwrap_err().to_string();
    assert!(error.starts_with("request 3: 1 sectors from 80 on: expected"), "{error}");
    assert!(error.ends_with("(--wrap)"), "{error}");
    let wrap = Fit { wrap: true, ..FIT };
    assert_eq!(wrap.request(&own[2], 3).unwrap().sector, 0);
    own[2].byte = 79 * 512 + 1;
    assert_eq!(
        wrap.request(&own[2], 3).unwrap(),
        Request { sector: 78, sectors: 2, write: own[2].write }
    );
    let open = ArrivalsOf::open(trace(&own), 1.0);
    assert_eq!(replay(open, wrap, &mut Fcfs::default()).unwrap().all.requests, 5);
}

#[test]
fn what_stands_behind_later_requests_comes_with_them_and_is_counted() {
    let mut own = accesses(10, 50_000_000);
    own[4].at = 0;
    let found = replay(ArrivalsOf::open(trace(&own), 1.0), FIT, &mut Fcfs::default()).unwrap();
    assert_eq!((found.out_of_order, found.queue_most), (1, 1));
    let none = replay(ArrivalsOf::open(trace(&[]), 1.0), FIT, &mut Fcfs::default());
    assert!(matches!(none, Err(ReplayError::Empty)));
}
