//! A request, and where its time went.

/// A read or write of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its first sector.
    pub sector: u64,
    /// How many sectors, at least one.
    pub sectors: u64,
    /// Whether it writes.
    pub write: bool,
}

/// The most sectors of a request: 512 MiB, more than any host asks for at once.
pub const MOST: u64 = 1 << 20;

/// A request that reaches beyond the drive's end, or has no or too many sectors.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{sectors} sectors from {sector} on: expected 1 to {MOST}, all below sector {end}")]
pub struct OutsideError {
    sector: u64,
    sectors: u64,
    end: u64,
}

impl Request {
    /// Check that a drive has these sectors; the drive ends with sector `end`.
    pub fn check(&self, end: u64) -> Result<(), OutsideError> {
        let Request { sector, sectors, .. } = *self;
        let inside = sector.checked_add(sectors).is_some_and(|last| last <= end);
        if inside && (1..=MOST).contains(&sectors) {
            return Ok(());
        }
        Err(OutsideError { sector, sectors, end })
    }
}

/// Where the time of a request went, in nanoseconds. Overlapping parts count once, in the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Service {
    /// Waiting for earlier requests, or for their writes to reach the medium.
    pub queue: u64,
    /// The controller.
    pub overhead: u64,
    /// To the track of the first sector.
    pub seek: u64,
    /// Until the first sector began.
    pub rotation: u64,
    /// Until the last sector had passed; the whole time for sectors that continue those in the
    /// buffer.
    pub transfer: u64,
    /// Until the host had it, or the drive all written data.
    pub bus: u64,
}

impl Service {
    /// From the request to the drive's completion.
    pub fn response(&self) -> u64 {
        self.queue + self.overhead + self.seek + self.rotation + self.transfer + self.bus
    }
}
