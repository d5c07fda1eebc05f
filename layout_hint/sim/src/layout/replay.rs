//! One run of a trace: the manifest is built, then operations follow one after the other.

use super::config::{Config, Pace, RegionConfig};
use super::counters::Counters;
use super::device::Device;
use super::names::{refused, Making, Unexpected};
use super::operation::{Operation, Procedure, NONE};
use super::random::Seeded;
use super::system::System;
use super::trace::{Trace, What};
use super::verdicts::Verdicts;
use super::Error;
use crate::disk::Disk;
use crate::ffs::{self, named, Allocator, FileSystem, Geometry, Kernel, Region, ALLOCATORS};
use birthmark_hook::Verdict;
use birthmark_storage::drive::Parameters;
use std::sync::Arc;
use std::time::Instant;

/// Bytes of a write when files are made before the trace.
const PIECE: u64 = 64 * 1024;
/// Operations between checks for signals.
const STEP: usize = 200_000;
/// Start of a partition on its drive: behind the first track's worth of sectors.
const PARTITION: u64 = 63 * 512;

/// A run.
pub struct Replay {
    pub(super) system: System,
    next: usize,
    pub(super) measured: Measured,
    pub(super) began: Instant,
}

/// State at the start of counting.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// Operations before.
    pub operations: usize,
    /// The clock.
    pub now: f64,
    /// Seconds waited for the disk before.
    pub waited: f64,
    /// Whether it has begun.
    pub begun: bool,
}

/// The sizes of a file system in a partition of so many bytes.
pub fn geometry(kernel: Kernel, bytes: f64) -> Result<Geometry, Error> {
    if !(0.0..=(1u64 << 42) as f64).contains(&bytes) {
        return Err(Error::Bytes(bytes));
    }
    Ok(match kernel {
        Kernel::FreeBsd48 => Geometry::freebsd48(bytes as u64),
        Kernel::FreeBsd14 | Kernel::FreeBsd15 => Geometry::freebsd14(bytes as u64),
    }?)
}

/// The first fragment of the blocks that are free behind the journal of a new file system.
pub fn behind_journal(kernel: Kernel, geometry: Geometry) -> Result<u32, Error> {
    let mut fs = FileSystem::new(geometry, kernel, Seeded::new(0))?;
    fs.add_journal()?;
    Ok(fs.volume.first_free_block(0).ok_or(ffs::Error::NoSpace)?)
}

fn allocator(name: &str) -> Result<&'static dyn Allocator, Error> {
    let names = || ALLOCATORS.iter().map(|each| each.name()).collect::<Vec<_>>().join(", ");
    named(name).ok_or_else(|| Error::Allocator(name.into(), names()))
}

impl Replay {
    /// Makes a run ready. Without a disk nothing takes time but the operations.
    pub fn new(
        trace: Arc<Trace>,
        config: Config,
        verdicts: Verdicts,
        disk: Option<&Parameters>,
    ) -> Result<Replay, Error> {
        let geometry = geometry(config.geometry, config.bytes)?;
        let mut drive = disk.map(|disk| Disk::new(disk, PARTITION)).transpose()?;
        let began = Instant::now();
        let mut fs = FileSystem::new(geometry, config.geometry, Seeded::new(config.seed))?;
        if config.journal {
            fs.add_journal()?;
        }
        fs.volume.allocator = config.allocator.as_deref().map(allocator).transpose()?;
        if let Some(RegionConfig { start, length, inodes, mode }) = config.region {
            let region = Region::of(&geometry, start as u64, length as u64, inodes, mode)?;
            if let Some(drive) = drive.as_mut().filter(|_| config.nvram) {
                drive.set_nvram(geometry.extents(start as u64, length as u64, inodes));
            }
            fs.volume.region = Some(region);
        }
        let counters = Counters::new(geometry.bytes(), trace.objects());
        let device = Device::new(drive, geometry.fsize, counters);
        let system = System::new(trace, config, fs, device, verdicts);
        let mut replay = Replay { system, next: 0, measured: Measured::default(), began };
        replay.build();
        Ok(replay)
    }

    /// Builds objects older than the trace, and the manifest, with files written whole.
    fn build(&mut self) {
        self.system.building = true;
        if let Some(age) = self.system.config.age {
            self.system.age(&age);
        }
        let trace = Arc::clone(&self.system.trace);
        for entry in &trace.manifest {
            let (directory, name, object) = (entry.parent, entry.name, entry.object);
            let hot = self.is_hot(entry.place);
            let made = match entry.place {
                NONE => self.system.enter(directory, name, object).map_err(refused),
                _ => self
                    .system
                    .make(Making { directory, name, object, what: entry.what, hot })
                    .and_then(|()| self.fill(object, entry.what, entry.size)),
            };
            if let Err(why) = made {
                self.system.count_unexpected("manifest", why);
            }
        }
        self.system.building = false;
        self.system.modified = false;
    }

    fn fill(&mut self, object: u32, what: What, size: u64) -> Result<(), Unexpected> {
        let mut at = 0;
        while what == What::File && at < size {
            let end = size.min(at + PIECE);
            self.system.write(object, at, end).map_err(refused)?;
            at = end;
        }
        Ok(())
    }

    /// Whether the policy follows the hint for a create.
    fn is_hot(&mut self, place: u32) -> bool {
        let system = &mut self.system;
        let Some(create) = system.trace.creates.get(place as usize) else { return false };
        let verdict = system.verdicts.of(place, create, system.trace.names.get(create.name));
        let which = match create.directory {
            true => Verdict::DIR,
            false => Verdict(Verdict::NAME.0 | Verdict::WRITE.0),
        };
        let hot = Verdict(verdict.0 & system.config.policy).any(which);
        system.hinted[0] += 1;
        system.hinted[1] += u64::from(hot);
        hot
    }

    /// Advances to an operation's time, with the writes due on the way.
    fn come_to(&mut self, operation: &Operation, first: i64) {
        let time = operation.time.saturating_sub(first) as f64 / 1e6;
        if !self.measured.begun && time >= self.system.config.warmup_seconds {
            self.rest_until(self.system.config.warmup_seconds);
            self.begin_to_count();
        }
        self.rest_until(time);
        while self.system.syncer.second() as f64 <= self.system.device.now {
            self.system.tick();
        }
        self.system.device.pump();
    }

    /// Lets time pass, unless operations follow at once.
    fn rest_until(&mut self, time: f64) {
        if self.system.config.pace == Pace::Fast {
            return;
        }
        while (self.system.syncer.second() as f64) < time {
            self.system.device.advance(self.system.syncer.second() as f64);
            self.system.tick();
        }
        self.system.device.advance(time);
    }

    fn begin_to_count(&mut self) {
        let system = &mut self.system;
        system.device.counters = Counters::new(system.geometry.bytes(), system.objects.len());
        (system.hits, system.misses) = (0, 0);
        let (now, waited) = (system.device.now, system.device.waited);
        self.measured = Measured { operations: self.next, now, waited, begun: true };
    }

    fn perform(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        if operation.failed {
            self.system.fail(operation);
            return Ok(());
        }
        let hot = operation.procedure.makes() && self.is_hot(operation.other);
        let system = &mut self.system;
        match operation.procedure {
            Procedure::Getattr => system.touch(operation.object, false),
            Procedure::Setattr => system.setattr(operation),
            Procedure::Lookup => system.lookup(operation),
            Procedure::Readlink | Procedure::Read => system.read_file(operation),
            Procedure::Write => system.write_file(operation),
            Procedure::Create | Procedure::Mkdir | Procedure::Symlink | Procedure::Mknod => {
                system.create(operation, hot)
            }
            Procedure::Remove | Procedure::Rmdir => system.remove(operation),
            Procedure::Rename => system.rename(operation),
            Procedure::Link => system.link(operation),
            Procedure::Readdir | Procedure::Readdirplus => system.readdir(operation),
            Procedure::Commit => system.commit(operation),
        }
    }

    /// Runs some more operations. Returns whether there are more.
    pub fn step(&mut self) -> bool {
        let trace = Arc::clone(&self.system.trace);
        let Some(first) = trace.operations.first() else { return false };
        let end = (self.next + STEP).min(trace.operations.len());
        for operation in &trace.operations[self.next..end] {
            self.system.stamp += 1;
            self.come_to(operation, first.time);
            if let Err(why) = self.perform(operation) {
                self.system.count_unexpected(&operation.procedure.word(), why);
            }
            self.system.relieve();
            self.system.device.now += self.system.config.operation_us / 1e6;
            self.next += 1;
        }
        end < trace.operations.len()
    }
}
