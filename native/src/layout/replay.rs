//! One run of a trace: what was there is made, then operation after operation is done.

use super::config::{Config, Pace, System as Kernel};
use super::counters::Counters;
use super::device::{Device, Writer};
use super::names::{refused, Making, Unexpected, NO_OBJECT};
use super::operation::{Operation, Procedure, NONE, NO_SIZE};
use super::random::Seeded;
use super::results::Results;
use super::syncer;
use super::system::{Settings, System};
use super::trace::{Trace, What};
use super::Error;
use crate::disk::{Drive, Parameters};
use crate::ffs::{FileSystem, FreeBsd48, Geometry, Policy, Region};
use std::sync::Arc;
use std::time::Instant;

/// Bits of a verdict.
const HOT_NAME: u8 = 1;
const HOT_DIRECTORY: u8 = 2;
const HOT_WRITE: u8 = 4;
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
    verdicts: Vec<u8>,
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

impl Replay<FreeBsd48> {
    /// Makes a run ready: `verdicts` are of the creates, in order; where there are none, nothing
    /// is hot.
    pub fn ready(
        trace: Arc<Trace>,
        config: Config,
        verdicts: Vec<u8>,
        disk: Option<&Parameters>,
    ) -> Result<Box<dyn Running>, Error> {
        let began = Instant::now();
        let wrong = |error: &dyn std::fmt::Display| Error::Config(error.to_string());
        let geometry = geometry(&config)?;
        let drive = disk.map(|disk| Drive::new(disk, PARTITION)).transpose();
        let mut drive = drive.map_err(|error| wrong(&error))?;
        let random = Seeded(config.seed);
        let mut fs = FileSystem::new(geometry, FreeBsd48, random).map_err(|error| wrong(&error))?;
        if let Some(region) = config.region {
            let (start, length) = (region.start as u64, region.length as u64);
            let made = Region::of(&geometry, start, length, region.reserved);
            fs.set_region(Some(made.map_err(|error| wrong(&error))?));
            if let Some(drive) = drive.as_mut().filter(|_| config.nvram) {
                drive.set_nvram(start..start.saturating_add(length));
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
        let system = System::new(trace, settings, fs, device, config.cache_bytes as u64);
        let mut replay =
            Replay { system, config, verdicts, next: 0, measured: Measured::default(), began };
        replay.build();
        Ok(Box::new(replay))
    }
}

fn geometry(config: &Config) -> Result<Geometry, Error> {
    let wrong = |what: &str| Err(Error::Config(what.to_owned()));
    if !(config.bytes >= 0.0 && config.bytes <= (1u64 << 39) as f64) {
        return wrong("bytes: expected at most 512 GB");
    }
    let geometry = Geometry::new((config.bytes as u64 / 2048) as u32, 91136, 22400);
    geometry.check().map_err(|error| Error::Config(error.to_string()))?;
    Ok(geometry)
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
    fn is_hot(&self, place: u32) -> bool {
        let Some(create) = self.system.trace.creates.get(place as usize) else { return false };
        let verdict = self.verdicts.get(place as usize).copied().unwrap_or(0);
        let which = if create.directory { HOT_DIRECTORY } else { HOT_NAME | HOT_WRITE };
        verdict & self.config.policy & which != 0
    }

    /// Goes on to an operation's time; writes what is due on the way.
    fn come_to(&mut self, operation: &Operation, first: i64) {
        let time = operation.time.saturating_sub(first) as f64 / 1e6;
        if !self.measured.begun && time >= self.config.warmup_seconds {
            self.begin_to_count();
        }
        if self.config.pace == Pace::Trace {
            while (self.system.syncer.second() as f64) < time {
                self.system.device.advance(self.system.syncer.second() as f64);
                self.system.tick();
            }
            self.system.device.advance(time);
        }
        while self.system.syncer.second() as f64 <= self.system.device.now {
            self.system.tick();
        }
        self.system.device.pump();
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
        let hot = self.is_hot(operation.other);
        let system = &mut self.system;
        if operation.failed {
            system.fail(operation);
            return Ok(());
        }
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

impl<P: Policy> System<P> {
    /// Goes on to the next second: writes what is due, and does what waited for writes.
    pub fn tick(&mut self) {
        let second = self.syncer.second();
        self.device.now = self.device.now.max(second as f64);
        let mut due = self.syncer.tick();
        if second.is_multiple_of(syncer::ROUND) {
            self.write_superblock();
            if self.settings.rounds {
                due.extend(self.syncer.take_all(self.own));
            }
        }
        for owner in due {
            self.flush(owner, Writer::Daemon);
        }
        self.work();
    }

    /// What an operation that fails does: it looks for its name, or at its object.
    fn fail(&mut self, operation: &Operation) {
        match operation.procedure.is_named() {
            true => {
                let directory = match operation.procedure {
                    Procedure::Link => operation.second,
                    _ => operation.object,
                };
                self.find(directory, operation.name);
            }
            false => {
                let inode = self.live(operation.object).map_or(0, |live| live.inode);
                self.inode_block(inode, false);
            }
        }
    }

    fn setattr(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        self.touch(operation.object, true)?;
        if operation.offset == NO_SIZE {
            return Ok(());
        }
        match self.live(operation.object).map(|live| live.what) {
            Some(What::File) => self.truncate(operation.object, operation.offset).map_err(refused),
            _ => Err("it is no file"),
        }
    }

    fn read_file(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        let live = *self.live(operation.object).ok_or(NO_OBJECT)?;
        let (offset, count) = match operation.procedure {
            Procedure::Readlink => (0, u64::MAX),
            _ => (operation.offset, operation.other.into()),
        };
        match (live.what, operation.procedure) {
            (What::File, Procedure::Read) | (What::Symlink(_), Procedure::Readlink) => {}
            _ => return Err("it cannot be read"),
        }
        self.inode_block(live.inode, self.settings.atime);
        self.read(operation.object, offset, count);
        Ok(())
    }

    fn write_file(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        let live = *self.live(operation.object).ok_or(NO_OBJECT)?;
        if live.what != What::File {
            return Err("it is no file");
        }
        self.inode_block(live.inode, true);
        let end = operation.offset + u64::from(operation.other);
        self.write(operation.object, operation.offset, end).map_err(refused)?;
        if self.settings.flush {
            self.fsync(operation.object);
        }
        Ok(())
    }

    fn commit(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        self.touch(operation.object, false)?;
        if self.settings.flush {
            self.fsync(operation.object);
        }
        Ok(())
    }

    fn readdir(&mut self, operation: &Operation) -> Result<(), Unexpected> {
        let atime = self.settings.atime;
        self.touch(operation.object, atime)?;
        if operation.offset != 0 {
            return Ok(()); // the listing was read when it began
        }
        self.directory(operation.object).ok_or(super::names::NO_DIRECTORY)?;
        let objects = self.list(operation.object);
        if operation.procedure == Procedure::Readdirplus {
            for object in objects {
                self.touch(object, false)?;
            }
        }
        Ok(())
    }
}
