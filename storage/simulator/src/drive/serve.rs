//! A drive, and the service of a request.

use super::checks::ParameterError;
use super::mechanism::nanoseconds;
use super::reads::Ahead;
use super::writes::Dirty;
use super::{
    Buffer, BufferParameters, Mechanism, OutsideError, Overheads, Parameters, Request, Service,
    WriteCache,
};

/// A drive, which serves one request after the other, in the order of arrival.
///
/// After a request it reads ahead, or writes back, until the next one needs the arm.
#[derive(Clone, Debug)]
pub struct Drive {
    pub(super) mechanism: Mechanism,
    pub(super) buffer: Buffer,
    pub(super) rules: BufferParameters,
    overheads: Overheads,
    pub(super) per_sector: u64,
    wrote: bool,
    pub(super) ready: u64,
    pub(super) hits: u64,
    pub(super) ahead: Option<Ahead>,
    pub(super) dirty: Option<Dirty>,
    pub(super) later: Option<WriteCache>,
}

impl Drive {
    /// A drive with an empty buffer, idle at time 0.
    pub fn new(parameters: &Parameters) -> Result<Self, ParameterError> {
        parameters.check()?;
        Ok(Self {
            mechanism: Mechanism::new(parameters)?,
            buffer: Buffer::new(parameters.buffer),
            rules: parameters.buffer,
            overheads: parameters.overheads_ms,
            per_sector: nanoseconds(parameters.bus_ms_per_sector),
            wrote: false,
            ready: 0,
            hits: 0,
            ahead: None,
            dirty: None,
            later: parameters.write_cache.map(WriteCache::new),
        })
    }

    /// Its arm and rotation.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// Read ahead up to a time before the next request.
    pub fn catch_up(&mut self, now: u64) {
        self.read_on(now.max(self.ready));
    }

    /// Nanoseconds from time `now`, up to which it has caught up, until the first sector of a
    /// request begins to come: at once from the buffer or from reading ahead.
    ///
    /// For the medium this includes the controller's overhead.
    pub fn reach(&self, request: &Request, now: u64) -> u64 {
        let Request { sector, write, .. } = *request;
        if !write && (self.buffer.holds(sector) || self.about_to_read(sector).is_some()) {
            return 0;
        }
        let overhead = self.overhead(write, false);
        overhead + self.mechanism.reach(sector, now + overhead, write)
    }

    /// Number of reads with at least their beginning in the buffer.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// Serve a request that comes at time `at`, not before its predecessor.
    pub fn serve(&mut self, request: Request, at: u64) -> Result<Service, OutsideError> {
        let Request { sector, sectors, write } = request;
        request.check(self.mechanism.geometry().sectors())?;
        let begin = at.max(self.ready);
        self.read_on(begin);
        self.write_on(begin);
        self.dirty = self.dirty.filter(|dirty| dirty.until > begin);
        let mut service = if write {
            self.write(sector, sectors, begin)
        } else {
            self.read(sector, sectors, begin)
        };
        service.queue += begin - at;
        self.ready = at + service.response();
        self.wrote = write;
        Ok(service)
    }

    /// The controller's time for a request.
    pub(super) fn overhead(&self, write: bool, hit: bool) -> u64 {
        let all = &self.overheads;
        nanoseconds(match (write, hit, self.wrote) {
            (false, true, false) => all.read_hit_after_read,
            (false, true, true) => all.read_hit_after_write,
            (false, false, false) => all.read_miss_after_read,
            (false, false, true) => all.read_miss_after_write,
            (true, true, false) => all.write_hit_after_read,
            (true, true, true) => all.write_hit_after_write,
            (true, false, false) => all.write_miss_after_read,
            (true, false, true) => all.write_miss_after_write,
        })
    }
}
