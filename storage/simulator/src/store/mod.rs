//! Files on a drive, read through a block cache: [`crate::cluster`] decides what to read, an order
//! of [`crate::queue`] when, over a link that a network may share.

mod file;
mod memory;
mod parts;
mod reading;
#[cfg(test)]
mod tests;

pub use file::{Extent, File, Map};
pub use memory::{Memory, Place};
pub use parts::Parts;

use crate::cluster::{ClusterRules, Wanted};
use crate::drive::{Drive, OutsideError, Service};
use crate::events::Events;
use crate::queue::Order;
use crate::station::Station;
use std::ops::Range;

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// Events of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreEvent {
    /// A block of a read has come from the drive.
    Block {
        /// The read.
        read: usize,
        /// Whether it is the last one.
        last: bool,
    },
    /// All blocks of a read are in memory.
    Here(usize),
}

/// A task whose block is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The index of the task.
    pub task: usize,
    /// Its waiting times.
    pub parts: Parts,
}

/// Files, a cache and a drive.
pub struct Store {
    files: Vec<File>,
    memory: Memory,
    rules: ClusterRules,
    order: Box<dyn Order>,
    drive: Drive,
    busy: bool,
    reads: Vec<Reading>,
    free: Vec<usize>,
    ahead: Vec<Range<u64>>,
    /// The link that drive and network share.
    pub link: Station,
    /// Its nanoseconds for a block.
    per_block: u64,
}

/// A read of the drive, and the tasks that wait for it.
#[derive(Clone, Debug)]
struct Reading {
    brings: Brings,
    came: u64,
    service: Service,
    waiting: Vec<Waiter>,
    /// Blocks of files to read, or to look up further, once it is done.
    then: Vec<(u64, Range<u64>)>,
}

/// The data of a read.
#[derive(Clone, Debug)]
enum Brings {
    /// Blocks of a file.
    Data(u64, Range<u64>),
    /// The block of metadata that begins with a sector.
    Map(u64),
}

#[derive(Clone, Copy, Debug)]
struct Waiter {
    task: usize,
    since: u64,
    wanted: Wanted,
    /// Whether its reads, and those ahead, are yet to be decided.
    due: bool,
    /// Its earlier waiting times.
    parts: Parts,
}

impl Store {
    /// Empty memory for these files. A block takes the link `per_block` nanoseconds.
    pub fn new(
        files: Vec<File>,
        rules: ClusterRules,
        order: Box<dyn Order>,
        drive: Drive,
        per_block: u64,
    ) -> Result<Self, OutsideError> {
        let end = drive.mechanism().geometry().sectors();
        files.iter().try_for_each(|file| file.check(rules.block, end))?;
        Ok(Self {
            memory: Memory::new(&files),
            files,
            rules,
            order,
            drive,
            busy: false,
            reads: Vec::new(),
            free: Vec::new(),
            ahead: Vec::new(),
            link: Station::new(1),
            per_block,
        })
    }

    /// Let a task request a block; return whether it is there. If not, the task is notified when it
    /// is.
    pub fn ask<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        wanted: Wanted,
        task: usize,
        events: &mut Events<E>,
    ) -> bool {
        let waiter = Waiter { task, since: now, wanted, due: true, parts: Parts::default() };
        self.ask_for(now, waiter, events).is_some()
    }

    /// Process an event; add tasks whose block is there now to `ready`.
    pub fn happen<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        event: StoreEvent,
        events: &mut Events<E>,
        ready: &mut Vec<Ready>,
    ) {
        match event {
            StoreEvent::Block { read, last } => {
                let turn = self.link.take(now, self.per_block);
                if last {
                    events.add(turn.end, StoreEvent::Here(read).into());
                    self.busy = false;
                    self.start(now, events);
                }
            }
            StoreEvent::Here(read) => self.here(now, read, events, ready),
        }
    }
}
