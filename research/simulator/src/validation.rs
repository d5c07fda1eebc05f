//! Validation of a drive against measurements of the same requests.

use crate::closed::{self, LoopError};
use crate::demerit::{demerit, mean};
use crate::measured::Measured;
use birthmark_storage::drive::{Drive, Service};
use serde::Serialize;

/// Nanoseconds of a millisecond.
const MILLISECOND: f64 = 1e6;

/// Errors on all requests, on reads, and on writes, as far as there are any.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// All requests.
    #[serde(flatten)]
    pub all: Figures,
    /// Reads.
    pub reads: Option<Figures>,
    /// Writes.
    pub writes: Option<Figures>,
}

/// Response times of requests, simulated and measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figures {
    /// Number of requests.
    pub requests: usize,
    /// Mean of the simulated times, in milliseconds.
    pub mean_ms: f64,
    /// Mean of the measured times, in milliseconds.
    pub measured_mean_ms: f64,
    /// The demerit figure, in milliseconds.
    pub demerit_ms: f64,
    /// Parts of the simulated mean, in milliseconds.
    pub parts_ms: Parts,
}

/// The means of the parts of [`Service`], in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct Parts {
    pub queue: f64,
    pub overhead: f64,
    pub seek: f64,
    pub rotation: f64,
    pub transfer: f64,
    pub bus: f64,
}

/// Serve measured requests in a closed loop, and compare; None without requests.
pub fn validate(drive: &mut Drive, requests: &[Measured]) -> Result<Option<Validation>, LoopError> {
    let services = closed::run(drive, requests)?;
    let figures = |write: Option<bool>| {
        let asked = |measured: &Measured| write.is_none_or(|it| it == measured.request.write);
        let both = requests.iter().zip(&services);
        figures(both.filter(|(measured, _)| asked(measured)))
    };
    let of_kinds =
        |all| Validation { all, reads: figures(Some(false)), writes: figures(Some(true)) };
    Ok(figures(None).map(of_kinds))
}

fn figures<'a>(both: impl Iterator<Item = (&'a Measured, &'a Service)>) -> Option<Figures> {
    let (measured, services): (Vec<u64>, Vec<Service>) =
        both.map(|(measured, service)| (measured.response, *service)).unzip();
    let simulated: Vec<u64> = services.iter().map(Service::response).collect();
    Some(Figures {
        requests: simulated.len(),
        mean_ms: mean(&simulated)? / MILLISECOND,
        measured_mean_ms: mean(&measured)? / MILLISECOND,
        demerit_ms: demerit(&simulated, &measured)? / MILLISECOND,
        parts_ms: parts(&services)?,
    })
}

fn parts(services: &[Service]) -> Option<Parts> {
    let part = |of: fn(&Service) -> u64| {
        let times: Vec<u64> = services.iter().map(of).collect();
        mean(&times).map(|mean| mean / MILLISECOND)
    };
    Some(Parts {
        queue: part(|service| service.queue)?,
        overhead: part(|service| service.overhead)?,
        seek: part(|service| service.seek)?,
        rotation: part(|service| service.rotation)?,
        transfer: part(|service| service.transfer)?,
        bus: part(|service| service.bus)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use birthmark_storage::drive::small;
    use birthmark_storage::drive::Request;

    fn requests() -> Vec<Measured> {
        let request = |number: u64| Request {
            sector: number * 7 % 70,
            sectors: 1 + number % 5,
            write: number.is_multiple_of(3),
        };
        let measured = |number| Measured {
            request: request(number),
            response: 1_000_000 * (1 + number % 9),
            think: 300_000 * (number % 50),
        };
        (0..200).map(measured).collect()
    }

    #[test]
    fn reads_and_writes_make_up_all_and_the_parts_the_mean() {
        let found = validate(&mut Drive::new(&small()).unwrap(), &requests()).unwrap().unwrap();
        let (reads, writes) = (found.reads.unwrap(), found.writes.unwrap());
        assert_eq!((found.all.requests, reads.requests, writes.requests), (200, 133, 67));
        let both = (reads.mean_ms * 133.0 + writes.mean_ms * 67.0) / 200.0;
        assert!((both - found.all.mean_ms).abs() < 1e-9);
        for Figures { mean_ms, parts_ms: parts, .. } in [found.all, reads, writes] {
            let sum = parts.queue + parts.overhead + parts.seek + parts.rotation;
            assert!((sum + parts.transfer + parts.bus - mean_ms).abs() < 1e-9);
        }
    }

    #[test]
    fn a_drive_agrees_with_its_own_times() {
        let mut own = requests();
        let services = closed::run(&mut Drive::new(&small()).unwrap(), &own).unwrap();
        for (measured, service) in own.iter_mut().zip(services) {
            measured.response = service.response();
        }
        let found = validate(&mut Drive::new(&small()).unwrap(), &own).unwrap().unwrap();
        assert_eq!((found.all.demerit_ms, found.all.mean_ms), (0.0, found.all.measured_mean_ms));
    }

    #[test]
    fn without_requests_of_a_kind_there_are_no_figures_of_it() {
        let mut drive = Drive::new(&small()).unwrap();
        assert_eq!(validate(&mut drive, &[]).unwrap(), None);
        let found = validate(&mut drive, &requests()[..1]).unwrap().unwrap();
        assert_eq!((found.reads, found.writes), (None, Some(found.all)));
    }
}
