//! The choice of optimizations.

use crate::cache::{WriteRules, BLOCK};
use crate::prefetch::{Ahead, Nothing, Prefetcher, Runs, Unit};
use birthmark_storage::drive::ParameterError;
use birthmark_storage::queue::Aged;
use serde::Deserialize;

/// The optimizations of a stack. Memory is per drive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Drives over which data is striped.
    pub disks: u64,
    /// Sectors of a stripe unit.
    pub stripe_sectors: u64,
    /// Cache for reads, in blocks of 4 KiB.
    pub cache_blocks: usize,
    /// Blocks for prefetched data; none: it goes into the cache.
    pub pool_blocks: usize,
    /// Prefetching before the arm does anything else.
    pub prefetch: Prefetch,
    /// Sectors prefetched behind a read, until a request needs the arm.
    pub read_on_sectors: u64,
    /// Whether to store sectors that pass while the head waits for others.
    pub any_free: bool,
    /// Whether the arm reads on until it has to leave for the next request.
    pub just_in_time: bool,
    /// Write buffer; none: a write is done when it is on the medium.
    pub write_buffer: Option<WriteBufferRules>,
    /// Order of service.
    pub order: Order,
    /// Queue depth of each drive; others wait before it, even for hits. It also limits the groups
    /// leaving the write buffer.
    pub depth: usize,
}

/// Prefetching policy.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Prefetch {
    /// Nothing.
    Nothing,
    /// The whole aligned unit of this many sectors.
    Unit(u64),
    /// This many sectors behind.
    Ahead(u64),
    /// More behind longer runs, see [`Runs::new`].
    #[allow(missing_docs)]
    Runs { segment: u64, trigger: u64, factor: u64, most: u64 },
}

/// The write buffer, see [`WriteRules`].
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct WriteBufferRules {
    pub blocks: usize,
    pub low: f64,
    pub high: f64,
    pub age_ms: f64,
}

/// Order of service.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// First come, first served.
    Fcfs,
    /// Shortest access time first, less this many times the waiting time.
    Aged(f64),
}

/// An impossible stack.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// One of its numbers is out of range.
    #[error("{0}: expected {1}")]
    Rule(&'static str, &'static str),
    /// The drive is impossible.
    #[error(transparent)]
    Drive(#[from] ParameterError),
    /// A request lies beyond its drives.
    #[error("sector {sector}: expected one below {end}, where the drives end")]
    Beyond {
        /// Its last sector.
        sector: u64,
        /// Sectors of all drives.
        end: u64,
    },
}

impl Rules {
    /// Check that such a stack is possible.
    pub fn check(&self) -> Result<(), RulesError> {
        let need = |holds: bool, key, expected| {
            if holds {
                Ok(())
            } else {
                Err(RulesError::Rule(key, expected))
            }
        };
        need((1..=1024).contains(&self.disks), "disks", "1 to 1024")?;
        need(self.stripe_sectors >= 1, "stripe_sectors", "1 or more")?;
        need(self.read_on_sectors <= 1 << 24, "read_on_sectors", "0 to 16777216")?;
        need(self.depth >= 1, "depth", "1 or more")?;
        let sectors = match self.prefetch {
            Prefetch::Nothing => 1,
            Prefetch::Unit(sectors) => sectors,
            Prefetch::Ahead(sectors) => sectors.max(1),
            Prefetch::Runs { segment, factor, most, .. } => {
                segment.min(1 << 24).min(most) | factor.min(1)
            }
        };
        need((1..=1 << 24).contains(&sectors), "prefetch", "1 to 16777216 sectors")?;
        if let Order::Aged(weight) = self.order {
            need(weight >= 0.0 && weight.is_finite(), "order", "a weight of 0 or more")?;
        }
        let Some(writes) = self.write_buffer else {
            return Ok(());
        };
        let marks = 0.0 <= writes.low && writes.low <= writes.high && writes.high <= 1.0;
        need(marks, "write_buffer", "marks from 0 to 1, the low one not above the high one")?;
        need(writes.age_ms >= 0.0, "write_buffer.age_ms", "0 or more")
    }

    pub(super) fn prefetcher(&self) -> Box<dyn Prefetcher> {
        match self.prefetch {
            Prefetch::Nothing => Box::new(Nothing),
            Prefetch::Unit(sectors) => Box::new(Unit { sectors }),
            Prefetch::Ahead(sectors) => Box::new(Ahead { sectors }),
            Prefetch::Runs { segment, trigger, factor, most } => {
                Box::new(Runs::new(segment, trigger, factor, most))
            }
        }
    }

    /// An empty queue. First come, first served is shortest access time first with depth 1.
    pub(super) fn queue(&self) -> Aged {
        match self.order {
            Order::Fcfs => Aged::new(0.0, 1),
            Order::Aged(weight) => Aged::new(weight, self.depth),
        }
    }

    /// The position of a sector: drive, sector there, and remaining sectors of its unit.
    pub(super) fn place(&self, sector: u64) -> (usize, u64, u64) {
        if self.disks == 1 {
            return (0, sector, u64::MAX);
        }
        let (unit, within) = (sector / self.stripe_sectors, sector % self.stripe_sectors);
        let own = unit / self.disks * self.stripe_sectors + within;
        ((unit % self.disks) as usize, own, self.stripe_sectors - within)
    }
}

impl WriteBufferRules {
    pub(super) fn rules(&self) -> WriteRules {
        WriteRules {
            most: self.blocks,
            low: self.low,
            high: self.high,
            age: (self.age_ms * 1e6).min(2f64.powi(62)) as u64,
        }
    }
}

/// The sectors of a block's run.
pub(super) fn sectors_of(block: u64, blocks: u64) -> (u64, u64) {
    (block * BLOCK, blocks * BLOCK)
}
