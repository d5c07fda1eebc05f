//! Files on a drive, read through a block cache: [`crate::cluster`] says what, an order of the
//! [`crate::queue`] when, and the link between drive and memory carries it, which a network may share.

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

/// What happens in a store.
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
    /// The task.
    pub task: usize,
    /// What it waited for.
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
    /// What drive and network share.
    pub link: Station,
    /// Nanoseconds of it for a block.
    per_block: u64,
}

/// A read of the drive, and who waits for it.
#[derive(Clone, Debug)]
struct Reading {
    brings: Brings,
    came: u64,
    service: Service,
    waiting: Vec<Waiter>,
    /// Blocks of files that can be read, or looked for further, once it is done.
    then: Vec<(u64, Range<u64>)>,
}

/// What a read brings.
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
    /// Whether it is yet to be decided what is read for it, and ahead.
    due: bool,
    /// What it has waited for before.
    parts: Parts,
}

impl Store {
    /// Nothing of these files is in memory. A block takes the link for `per_block` nanoseconds.
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

    /// Let a task ask for a block; whether it is there. If not, the task is told when it is.
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

    /// Let something happen; tasks whose block is there now are added to `ready`.
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
