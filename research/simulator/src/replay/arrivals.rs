//! Issue models over the requests of a trace.

use crate::issue::{scaled, Dependent, Issue, Traced};
use crate::traces::{Access, Accesses, TraceError};
use birthmark_storage::drive::{OutsideError, Request};
use birthmark_storage::events::Events;
use std::iter::Peekable;

/// A trace that cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The drive lacks a sector.
    #[error(
        "request {number}: {error}; take a larger drive, or wrap what lies beyond its end to its \
         beginning (--wrap)"
    )]
    Outside {
        /// The request's number, from 1.
        number: u64,
        /// The reason.
        error: OutsideError,
    },
    /// It lacks the durations of requests.
    #[error(
        "request {number}: expected how long it took, on which depends when the next is issued; this \
         trace does not say (--issue open or population need it not)"
    )]
    Untimed {
        /// The request's number, from 1.
        number: u64,
    },
    /// It holds no requests.
    #[error("expected at least one request")]
    Empty,
}

/// Mapping from the bytes of a trace to sectors of a drive.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// Sectors of the drive.
    pub sectors: u64,
    /// Bytes of each.
    pub sector_bytes: u64,
    /// Whether positions beyond the drive's end wrap to its beginning.
    pub wrap: bool,
}

impl Fit {
    /// The sectors of request `number`.
    pub fn request(&self, access: &Access, number: u64) -> Result<Request, ReplayError> {
        let first = access.byte / self.sector_bytes;
        let sectors = (access.byte + access.bytes).div_ceil(self.sector_bytes) - first;
        let last = self.sectors.saturating_sub(sectors);
        let sector = if self.wrap { (first % self.sectors.max(1)).min(last) } else { first };
        let request = Request { sector, sectors, write: access.write };
        match request.check(self.sectors) {
            Ok(()) => Ok(request),
            Err(error) => Err(ReplayError::Outside { number, error }),
        }
    }
}

/// An issue model over a trace.
pub struct Arrivals {
    fit: Fit,
    of: ArrivalsOf,
    number: u64,
    last: u64,
    /// Requests that stand in the trace behind later ones; they take these' time.
    pub late: u64,
}

/// The issue model.
pub enum ArrivalsOf {
    /// At the times of the trace, `faster` times as fast.
    Open(Peekable<Accesses>, f64),
    /// Clients that each issue the next request of the trace when their own is done, after a think
    /// time in nanoseconds.
    Population(Peekable<Accesses>, Events<()>, u64),
    /// With the dependences of the trace.
    Dependent(Box<Dependent>, Vec<Access>),
}

impl ArrivalsOf {
    /// Requests at the times of a trace, `faster` times as fast.
    pub fn open(trace: Accesses, faster: f64) -> Self {
        Self::Open(trace.peekable(), faster)
    }

    /// Clients that begin at once.
    pub fn population(trace: Accesses, clients: usize, think: u64) -> Self {
        let mut ready = Events::default();
        (0..clients).for_each(|_| ready.add(0, ()));
        Self::Population(trace.peekable(), ready, think)
    }

    /// Issuers on machines that are `faster` times as fast; reads the whole trace.
    pub fn dependent(trace: Accesses, faster: f64) -> Result<Self, ReplayError> {
        let mut all: Vec<Access> = trace.collect::<Result<_, _>>()?;
        // Simultaneous ones stay in the order of the trace.
        all.sort_by_key(|access| access.at);
        let times = (1..).zip(&all).map(|(number, own)| match own.took {
            Some(took) => Ok(Traced { arrival: own.at, completion: own.at + took }),
            None => Err(ReplayError::Untimed { number }),
        });
        let times = times.collect::<Result<Vec<_>, _>>()?;
        let issue = Dependent::new(&times, |think| scaled(think, faster));
        Ok(Self::Dependent(Box::new(issue), all))
    }
}

/// An issued request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Issued {
    pub number: usize,
    pub request: Request,
    /// Its duration in the trace, if recorded.
    pub took: Option<u64>,
}

impl Arrivals {
    /// The requests of a trace, for a drive.
    pub fn new(of: ArrivalsOf, fit: Fit) -> Self {
        Self { fit, of, number: 0, last: 0, late: 0 }
    }

    /// Time of the next request, unless another completes before.
    pub(super) fn next_at(&mut self) -> Result<Option<u64>, ReplayError> {
        let read = match &mut self.of {
            ArrivalsOf::Open(trace, faster) => {
                peek(trace)?.map(|own| (own.at as f64 / *faster) as u64)
            }
            ArrivalsOf::Population(trace, ready, _) => peek(trace)?.and_then(|_| ready.next_at()),
            ArrivalsOf::Dependent(issue, _) => issue.next().map(|(at, _)| at),
        };
        Ok(read.map(|at| at.max(self.last)))
    }

    /// Take that request.
    pub(super) fn take(&mut self) -> Result<Option<Issued>, ReplayError> {
        let Some(at) = self.next_at()? else {
            return Ok(None);
        };
        let (number, access) = match &mut self.of {
            ArrivalsOf::Open(trace, faster) => {
                let access = trace.next().transpose()?;
                let own = access.map_or(at, |own| (own.at as f64 / *faster) as u64);
                self.late += u64::from(own < at);
                (self.number as usize, access)
            }
            ArrivalsOf::Population(trace, ready, _) => {
                ready.pop();
                (self.number as usize, trace.next().transpose()?)
            }
            ArrivalsOf::Dependent(issue, all) => {
                let number = issue.next().map_or(0, |(_, number)| number);
                issue.issue();
                (number, all.get(number).copied())
            }
        };
        self.last = at;
        self.number += 1;
        access
            .map(|own| {
                let request = self.fit.request(&own, number as u64 + 1)?;
                Ok(Issued { number, request, took: own.took })
            })
            .transpose()
    }

    /// Record a completion.
    pub(super) fn done(&mut self, number: usize, at: u64) {
        match &mut self.of {
            ArrivalsOf::Open(..) => {}
            ArrivalsOf::Population(_, ready, think) => ready.add(at + *think, ()),
            ArrivalsOf::Dependent(issue, _) => issue.done(number, at),
        }
    }
}

/// The next request of a trace; an error is consumed.
fn peek(trace: &mut Peekable<Accesses>) -> Result<Option<Access>, ReplayError> {
    match trace.peek() {
        Some(Ok(access)) => Ok(Some(*access)),
        Some(Err(_)) => trace.next().transpose().map_err(ReplayError::from),
        None => Ok(None),
    }
}
