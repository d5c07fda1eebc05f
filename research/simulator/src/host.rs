//! A host with a drive: issue model, queue, and order of service.

use crate::issue::Issue;
use birthmark_storage::drive::{Drive, OutsideError, Request, Service};
use birthmark_storage::queue::{Order, Waiting};

/// A request's arrival, and where its time went from then on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// When it came, in nanoseconds.
    pub came: u64,
    /// Where its time went; the queue is the host's and the drive's.
    pub service: Service,
}

/// Let a drive serve requests of an issue model, one after the other, in an order.
///
/// The answers are by number; requests that the model did not issue have zeros.
pub fn run(
    issue: &mut dyn Issue,
    requests: &[Request],
    order: &mut dyn Order,
    drive: &mut Drive,
) -> Result<Vec<Answer>, OutsideError> {
    let mut answers = vec![Answer::default(); requests.len()];
    let mut under_way: Option<(u64, usize)> = None;
    loop {
        let done = under_way.map(|(at, _)| at);
        if let Some((now, number)) = issue.next().filter(|(at, _)| done.is_none_or(|end| *at < end))
        {
            issue.issue();
            answers[number].came = now;
            order.push(Waiting { number, since: now, request: requests[number] });
            if under_way.is_none() {
                under_way = begin(order, drive, now, &mut answers)?;
            }
        } else if let Some((now, number)) = under_way {
            issue.done(number, now);
            under_way = begin(order, drive, now, &mut answers)?;
        } else {
            return Ok(answers);
        }
    }
}

/// Give the drive the next waiting request; return its end and its number.
fn begin(
    order: &mut dyn Order,
    drive: &mut Drive,
    now: u64,
    answers: &mut [Answer],
) -> Result<Option<(u64, usize)>, OutsideError> {
    let Some(waiting) = order.pop(now, drive.mechanism()) else {
        return Ok(None);
    };
    let mut service = drive.serve(waiting.request, now)?;
    let end = now + service.response();
    service.queue += now - waiting.since;
    answers[waiting.number].service = service;
    Ok(Some((end, waiting.number)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issue::{Open, Population};
    use birthmark_storage::drive::small;
    use birthmark_storage::queue::{Aged, Elevator, Fcfs, NCscan};
    use rand_xoshiro::rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus as Random;

    fn requests(count: usize, end: u64) -> Vec<Request> {
        let mut random = Random::seed_from_u64(1);
        let request = |_| Request {
            sector: random.next_u64() % (end - 4),
            sectors: 1 + random.next_u64() % 4,
            write: random.next_u64() % 4 == 0,
        };
        (0..count).map(request).collect()
    }

    fn drive() -> Drive {
        Drive::new(&small()).unwrap()
    }

    fn all(mut order: impl Order, gap: u64) -> Vec<Answer> {
        let requests = requests(500, small().sectors);
        let mut issue = Open::new((0..500).map(|number| number * gap).collect());
        run(&mut issue, &requests, &mut order, &mut drive()).unwrap()
    }

    #[test]
    fn first_come_first_served_is_the_drive_by_itself() {
        let requests = requests(500, small().sectors);
        for gap in [0, 1_000_000, 40_000_000] {
            let mut alone = drive();
            let answers = all(Fcfs::default(), gap);
            for ((number, request), answer) in (0..).zip(&requests).zip(&answers) {
                let service = alone.serve(*request, number * gap).unwrap();
                assert_eq!(answer.came, number * gap);
                assert_eq!(answer.service.response(), service.response());
            }
        }
    }

    #[test]
    fn all_are_served_in_whichever_order() {
        let orders: [Vec<Answer>; 3] =
            [all(Elevator::default(), 0), all(NCscan::default(), 0), all(Aged::new(0.01, 8), 0)];
        for answers in orders {
            assert!(answers.iter().all(|answer| answer.service.response() > 0));
            let mut ends: Vec<u64> =
                answers.iter().map(|answer| answer.came + answer.service.response()).collect();
            ends.sort_unstable();
            ends.dedup();
            assert_eq!(ends.len(), 500, "one after the other");
        }
    }

    #[test]
    fn the_nearest_first_is_done_sooner_than_the_first_that_came() {
        let last = |answers: Vec<Answer>| {
            answers.iter().map(|answer| answer.came + answer.service.response()).max().unwrap()
        };
        let nearest = last(all(Aged::new(0.0, 500), 0));
        assert!(nearest < last(all(Fcfs::default(), 0)) * 2 / 3, "{nearest}");
    }

    #[test]
    fn a_client_that_waits_has_one_request_outstanding() {
        let requests = requests(100, small().sectors);
        let mut issue = Population::new(1, 100, |_| 7);
        let answers = run(&mut issue, &requests, &mut Fcfs::default(), &mut drive()).unwrap();
        for pair in answers.windows(2) {
            assert_eq!(pair[1].came, pair[0].came + pair[0].service.response() + 7);
        }
    }
}
