//! One run of a trace: what was there is made, then operation after operation is done.

use super::config::{Config, Pace, RegionConfig, System as Kernel};
use super::counters::Counters;
use super::device::Device;
use super::names::{refused, Making, Unexpected};
use super::operation::{Operation, Procedure, NONE};
use super::random::Seeded;
use super::results::Results;
use super::system::{Settings, System};
use super::trace::{Trace, What};
use super::verdicts::Verdicts;
use super::Error;
use crate::disk::{Drive, Parameters};
use crate::ffs::{FileSystem, FreeBsd14, FreeBsd48, Geometry, Policy, Region};
use birthmark_hook::Verdict;
use std::sync::Arc;
use std::time::Instant;

/// Bytes written at once when files are made before the trace.
const PIECE: u64 = 64 * 1024;
/// Where a partition begins on its drive: behind the first track's worth of sectors.
const PARTITION: u64 = 63 * 512;

/// A run under way.
pub trait Running: Send {
    /// Does some more. Returns whether there is more to do.
    fn step(&mut self) -> bool;

    /// What came of it.
    fn results(self: Box<Self>) -> Results;
}

/// A run.
#[derive(Debug)]
pub struct Replay<P> {
    pub(super) system: System<P>,
    pub(super) config: Config,
    next: usize,
    pub(super) measured: Measured,
    pub(super) began: Instant,
}

/// Where counting began.
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

/// Makes a run ready. Without a disk nothing takes time but the operations.
pub fn ready(
    trace: Arc<Trace>,
    config: Config,
    verdicts: Verdicts,
    disk: Option<&Parameters>,
) -> Result<Box<dyn Running>, Error> {
    let geometry = geometry(config.geometry, config.bytes)?;
    let drive = disk.map(|disk| Drive::new(disk, PARTITION)).transpose()?;
    match config.geometry {
        Kernel::FreeBsd48 => Replay::on(FreeBsd48, geometry, trace, config, verdicts, drive),
        Kernel::FreeBsd14 => Replay::on(FreeBsd14, geometry, trace, config, verdicts, drive),
    }
}

/// The sizes of a file system in a partition of so many bytes.
pub fn geometry(kernel: Kernel, bytes: f64) -> Result<Geometry, Error> {
    if !(0.0..=(1u64 << 42) as f64).contains(&bytes) {
        return Err(Error::Bytes(bytes));
    }
    Ok(match kernel {
        Kernel::FreeBsd48 => Geometry::freebsd48(bytes as u64),
        Kernel::FreeBsd14 => Geometry::freebsd14(bytes as u64),
    }?)
}

/// The region of a configuration.
pub fn region(geometry: &Geometry, config: &RegionConfig) -> Result<Region, Error> {
    let (start, length) = (config.start as u64, config.length as u64);
    Ok(Region::of(geometry, start, length, config.mode)?)
}

impl<P: Policy + Send + 'static> Replay<P> {
    fn on(
        policy: P,
        geometry: Geometry,
        trace: Arc<Trace>,
        config: Config,
        verdicts: Verdicts,
        mut drive: Option<Drive>,
    ) -> Result<Box<dyn Running>, Error> {
        let began = Instant::now();
        let mut fs = FileSystem::new(geometry, policy, Seeded::new(config.seed))?;
        if let Some(place) = config.region {
            fs.set_region(Some(region(&geometry, &place)?));
            if let Some(drive) = drive.as_mut().filter(|_| config.nvram) {
                let start = place.start as u64;
                drive.set_nvram(start..start.saturating_add(place.length as u64));
            }
        }
        let bytes = u64::from(geometry.size) * u64::from(geometry.fsize);
        let counters = Counters::new(bytes, trace.objects());
        let device = Device::new(drive, geometry.fsize, counters);
        let settings = Settings {
            atime: config.atime,
            flush: config.flush,
            rounds: config.geometry == Kernel::FreeBsd48,
        };
        let cache = config.cache_bytes as u64;
        let system = System::new(trace, settings, fs, device, cache, verdicts);
        let mut replay = Replay { system, config, next: 0, measured: Measured::default(), began };
        replay.build();
        Ok(Box::new(replay))
    }
}

impl<P: Policy> Replay<P> {
    /// Makes what is older than the trace, and the manifest, files written whole.
    fn build(&mut self) {
        self.system.building = true;
        if let Some(age) = self.config.age {
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

    /// Whether the policy follows what a hint says of a create.
    fn is_hot(&mut self, place: u32) -> bool {
        let system = &mut self.system;
        let Some(create) = system.trace.creates.get(place as usize) else { return false };
        let verdict = system.verdicts.of(place, create, system.trace.names.get(create.name));
        let which = match create.directory {
            true => Verdict::DIR,
            false => Verdict(Verdict::NAME.0 | Verdict::WRITE.0),
        };
        let hot = Verdict(verdict.0 & self.config.policy).any(which);
        system.hinted[0] += 1;
        system.hinted[1] += u64::from(hot);
        hot
    }

    /// Goes on to an operation's time; writes what is due on the way.
    fn come_to(&mut self, operation: &Operation, first: i64) {
        let time = operation.time.saturating_sub(first) as f64 / 1e6;
        if !self.measured.begun && time >= self.config.warmup_seconds {
            self.rest_until(self.config.warmup_seconds);
            self.begin_to_count();
        }
        self.rest_until(time);
        while self.system.syncer.second() as f64 <= self.system.device.now {
            self.system.tick();
        }
        self.system.device.pump();
    }

    /// Lets time go by, if operations are not to follow at once.
    fn rest_until(&mut self, time: f64) {
        if self.config.pace == Pace::Fast {
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
        let bytes = u64::from(system.geometry.size) * u64::from(system.geometry.fsize);
        system.device.counters = Counters::new(bytes, system.objects.len());
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
}

impl<P: Policy + Send> Running for Replay<P> {
    fn step(&mut self) -> bool {
        let trace = Arc::clone(&self.system.trace);
        let Some(first) = trace.operations.first() else { return false };
        let end = (self.next + STEP).min(trace.operations.len());
        for operation in &trace.operations[self.next..end] {
            self.system.stamp += 1;
            self.come_to(operation, first.time);
            if let Err(why) = self.perform(operation) {
                self.system.count_unexpected(operation.procedure.word(), why);
            }
            self.system.relieve();
            self.system.device.now += self.config.operation_us / 1e6;
            self.next += 1;
        }
        end < trace.operations.len()
    }

    fn results(self: Box<Self>) -> Results {
        Results::of(*self)
    }
}

/// Operations between looks for signals.
const STEP: usize = 200_000;
