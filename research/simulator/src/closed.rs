//! A closed loop: one request at a time, with think time in between.

use crate::measured::Measured;
use birthmark_storage::drive::{Drive, OutsideError, Service};

/// Latest end of a run, in nanoseconds: 146 years.
const LONGEST: u64 = 1 << 62;

/// A request of the loop that cannot be served.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoopError {
    /// The drive lacks the sectors.
    #[error("request {number}: {error}")]
    Outside {
        /// Its number, from 1.
        number: usize,
        /// The reason.
        error: OutsideError,
    },
    /// It comes too late.
    #[error("request {number}: expected one within 146 years")]
    Late {
        /// Its number, from 1.
        number: usize,
    },
}

/// Serve requests one after the other, each after its client's think time; return where their times
/// went.
pub fn run(drive: &mut Drive, requests: &[Measured]) -> Result<Vec<Service>, LoopError> {
    let mut now: u64 = 0;
    let mut services = Vec::with_capacity(requests.len());
    for (measured, number) in requests.iter().zip(1..) {
        if now > LONGEST {
            return Err(LoopError::Late { number });
        }
        let service = drive.serve(measured.request, now);
        let service = service.map_err(|error| LoopError::Outside { number, error })?;
        now += service.response() + measured.think;
        services.push(service);
    }
    Ok(services)
}

#[cfg(test)]
mod tests {
    use super::*;
    use birthmark_storage::drive::small;
    use birthmark_storage::drive::Request;

    fn read(sector: u64, think: u64) -> Measured {
        Measured { request: Request { sector, sectors: 1, write: false }, response: 0, think }
    }

    #[test]
    fn the_next_request_comes_when_its_client_has_thought() {
        let requests = [(0, 700), (45, 0), (3, 9_000_000), (4, 1)];
        let requests = requests.map(|(sector, think)| read(sector, think));
        let services = run(&mut Drive::new(&small()).unwrap(), &requests).unwrap();
        let mut drive = Drive::new(&small()).unwrap();
        let mut now = 0;
        for (measured, service) in requests.iter().zip(&services) {
            assert_eq!(drive.serve(measured.request, now).unwrap(), *service);
            assert_eq!(service.queue, 0);
            now += service.response() + measured.think;
        }
        assert_eq!(services.len(), 4);
    }

    #[test]
    fn a_request_that_cannot_be_served_is_named_by_its_number() {
        let mut drive = Drive::new(&small()).unwrap();
        let error = run(&mut drive, &[read(0, 0), read(80, 0)]).unwrap_err().to_string();
        assert!(error.starts_with("request 2: 1 sectors from 80 on: expected"), "{error}");
        let error = run(&mut drive, &[read(0, LONGEST), read(0, 0)]).unwrap_err();
        assert_eq!(error, LoopError::Late { number: 2 });
    }
}
