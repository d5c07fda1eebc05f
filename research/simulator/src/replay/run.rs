//! The loop: requests come, wait, and are served.

use super::arrivals::{Arrivals, Issued, ReplayError};
use super::figures::{Replayed, Tally};
use birthmark_storage::drive::Drive;
use birthmark_storage::queue::{Order, Waiting};

/// Serve a trace in an order, one request at a time.
///
/// The drive gets a request when it is free, as in [`crate::host::run`].
pub fn run(
    mut arrivals: Arrivals,
    order: &mut dyn Order,
    drive: &mut Drive,
) -> Result<Replayed, ReplayError> {
    let mut tally = Tally::default();
    let mut under_way: Option<(u64, usize)> = None;
    loop {
        let next = arrivals.next_at()?;
        let done = under_way.map(|(at, _)| at);
        if let Some(now) = next.filter(|at| done.is_none_or(|end| *at < end)) {
            let Some(Issued { number, request, took }) = arrivals.take()? else {
                continue;
            };
            tally.came(now, took);
            order.push(Waiting { number, since: now, request });
            tally.waits(order.len());
            if under_way.is_none() {
                under_way = begin(order, drive, now, &mut tally)?;
            }
        } else if let Some((now, number)) = under_way {
            arrivals.done(number, now);
            under_way = begin(order, drive, now, &mut tally)?;
        } else {
            return tally.replayed(arrivals.late).ok_or(ReplayError::Empty);
        }
    }
}

/// Give the drive the next waiting request; return its end and its number.
fn begin(
    order: &mut dyn Order,
    drive: &mut Drive,
    now: u64,
    tally: &mut Tally,
) -> Result<Option<(u64, usize)>, ReplayError> {
    let Some(Waiting { number, since, request }) = order.pop(now, drive.mechanism()) else {
        return Ok(None);
    };
    let service = drive.serve(request, now);
    let service =
        service.map_err(|error| ReplayError::Outside { number: number as u64 + 1, error })?;
    let end = now + service.response();
    tally.served(request.write, since, now, service);
    Ok(Some((end, number)))
}
