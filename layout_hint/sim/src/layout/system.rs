//! State of a run: the file system, the cache, the syncer and the disk.

use super::cache::Cache;
use super::config::Config;
use super::delayed::Delayed;
use super::device::{Device, Writer};
use super::directory::Directory;
use super::object::Object;
use super::random::Seeded;
use super::reading;
use super::syncer::{self, Syncer};
use super::trace::{Trace, What};
use super::verdicts::Verdicts;
use crate::ffs::{FileSystem, Geometry, Kernel, ROOT};
use birthmark_hook::Outcome;
use birthmark_storage::cluster::ClusterRules;
use birthmark_storage::readahead::Heuristic;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Position of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// What it leads to.
    pub object: u32,
    /// The directory's block that has it.
    pub block: u32,
}

/// A file system with all layers between it and its users.
pub struct System {
    pub trace: Arc<Trace>,
    pub config: Config,
    pub fs: FileSystem<Seeded>,
    pub geometry: Geometry,
    pub cache: Cache,
    pub syncer: Syncer,
    pub device: Device,
    pub delayed: Delayed,
    pub objects: Vec<Object>,
    pub directories: Vec<Directory>,
    pub names: HashMap<u64, Found>,
    /// The owner of blocks that belong to no file.
    pub own: u32,
    /// Counter of operations and writes, which orders them.
    pub stamp: u32,
    /// Whether nothing goes through the cache yet.
    pub building: bool,
    /// Whether the superblock was written since it changed.
    pub modified: bool,
    /// Dirty buffers at which the buffer daemon begins to write (`hidirtybuffers`): a quarter of all,
    /// and 20.
    pub most_dirty: u32,
    /// The heuristic for sequential reads, and the rules of reading ahead.
    pub heuristic: Box<dyn Heuristic + Send>,
    pub clusters: ClusterRules,
    /// Room for what is to be read ahead.
    pub(super) ahead: Vec<Range<u64>>,
    pub hits: u64,
    pub misses: u64,
    /// Counts of unexpected failures.
    pub unexpected: BTreeMap<String, u64>,
    /// Source of verdicts.
    pub verdicts: Verdicts,
    /// Verdicts that were followed: requested, and hot.
    pub hinted: [u64; 2],
    /// Outcomes of hints.
    pub outcomes: [u64; 7],
}

impl System {
    /// A system with only the root directory.
    pub fn new(
        trace: Arc<Trace>,
        config: Config,
        mut fs: FileSystem<Seeded>,
        device: Device,
        verdicts: Verdicts,
    ) -> System {
        let (geometry, own) = (fs.volume.geometry, trace.objects() as u32);
        let (owners, cache_bytes) = (trace.objects() + 1, config.cache_bytes as u64);
        let (kernel, buffers) = (config.geometry, buffers(cache_bytes));
        fs.log_changes();
        let mut objects = vec![Object::default(); trace.objects()];
        let root = &mut objects[0];
        (root.inode, root.what, root.links) = (ROOT, What::Directory, 1);
        System {
            heuristic: reading::heuristic(kernel, geometry.bsize, config.seed),
            clusters: reading::clusters(kernel, geometry.bsize, buffers),
            ahead: Vec::new(),
            config,
            fs,
            geometry,
            cache: Cache::new(cache_bytes / u64::from(geometry.fsize), owners),
            syncer: Syncer::new(owners),
            device,
            delayed: Delayed::default(),
            objects,
            directories: vec![Directory::new()],
            names: HashMap::new(),
            own,
            stamp: 1,
            building: false,
            modified: false,
            most_dirty: (buffers / 4 + 20).min(1 << 20) as u32,
            hits: 0,
            misses: 0,
            unexpected: BTreeMap::new(),
            verdicts,
            hinted: [0; 2],
            outcomes: [0; 7],
            trace,
        }
    }

    /// Counts an unexpected failure.
    pub fn count_unexpected(&mut self, what: &str, why: &str) {
        *self.unexpected.entry(format!("{what}: {why}")).or_default() += 1;
    }

    /// An existing object with a name.
    #[inline]
    pub fn live(&self, object: u32) -> Option<&Object> {
        self.objects.get(object as usize).filter(|object| object.inode != 0 && object.links > 0)
    }

    /// Its bytes.
    #[inline]
    pub fn size(&self, object: u32) -> u64 {
        let inode = self.objects[object as usize].inode;
        self.fs.file(inode).map_or(0, |file| file.size)
    }

    /// The address of a block of an object, and its number of fragments.
    #[inline]
    pub fn place(&self, object: u32, lbn: u32) -> Option<(u32, u32)> {
        let file = self.fs.file(self.objects[object as usize].inode)?;
        let fragments = file.fragments(lbn, &self.geometry);
        file.block(lbn).map(|address| (address, fragments)).filter(|_| fragments > 0)
    }

    /// Advances to the next second: writes due buffers, and does the work that waited for them.
    pub fn tick(&mut self) {
        let second = self.syncer.second();
        self.device.now = self.device.now.max(second as f64);
        let mut due = self.syncer.tick();
        if second.is_multiple_of(syncer::ROUND) {
            self.write_superblock();
            // until FreeBSD 8 `ffs_sync` wrote all that was delayed
            if self.config.geometry == Kernel::FreeBsd48 {
                due.extend(self.syncer.take_all(self.own));
            }
        }
        for owner in due {
            self.flush(owner, Writer::Daemon);
        }
        self.work();
    }

    pub(super) fn count_outcome(&mut self, outcome: Outcome) {
        self.verdicts.outcome(outcome);
        if let Some(count) = self.outcomes.get_mut(outcome as usize) {
            *count += 1;
        }
    }
}

/// FreeBSD 4.8's default number of buffers for an amount of memory (`nbuf`).
fn buffers(bytes: u64) -> u64 {
    let pages = bytes / 4096;
    let few = (pages.saturating_sub(1024) / 16).min(1024);
    let many = pages.saturating_sub(16384) * 2 / 80;
    50 + few + many
}
