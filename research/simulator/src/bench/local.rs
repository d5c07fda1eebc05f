//! Processes that read files of their own machine.

use super::outcome::Busy;
use super::{Outcome, Setup};
use birthmark_storage::cluster::Wanted;
use birthmark_storage::events::Events;
use birthmark_storage::station::Station;
use birthmark_storage::store::{Parts, Ready, Store, StoreEvent};
use rand_xoshiro::rand_core::Rng;
use serde::Deserialize;

/// Greatest stagger of processes, in nanoseconds: they start together, but on one processor.
const START: u64 = 1_000_000;

/// The machine.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// Nanoseconds of its processor for a block, the unit of a process's reads.
    pub processor_per_block: u64,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Store(StoreEvent),
    /// A process requests its next block.
    Ask(usize),
}

impl From<StoreEvent> for Event {
    fn from(event: StoreEvent) -> Self {
        Self::Store(event)
    }
}

/// Processes, each with its current block and its waiting times.
struct Processes<'a> {
    setup: &'a Setup,
    store: Store,
    events: Events<Event>,
    processor: Station,
    work: u64,
    blocks: Vec<u64>,
    outcome: Outcome,
}

/// Let processes read their files.
pub fn run(setup: &Setup, machine: &Local, store: Store) -> Outcome {
    let mut random = setup.random(1);
    let mut events = Events::default();
    for process in 0..setup.readers as usize {
        events.add(random.next_u64() % START, Event::Ask(process));
    }
    let blocks = vec![0; setup.readers as usize];
    let outcome = Outcome::default();
    let (processor, work) = (Station::new(1), machine.processor_per_block);
    Processes { setup, store, events, processor, work, blocks, outcome }.run()
}

impl Processes<'_> {
    fn run(mut self) -> Outcome {
        let mut ready = Vec::new();
        while let Some((now, event)) = self.events.pop() {
            self.outcome.events += 1;
            match event {
                Event::Ask(process) => self.ask(process, now),
                Event::Store(event) => {
                    self.store.happen(now, event, &mut self.events, &mut ready);
                }
            }
            for own in ready.drain(..) {
                self.copy(&own, now);
            }
        }
        self.outcome.busy =
            Busy { link: self.store.link.busy(), server: self.processor.busy(), client: 0 };
        self.outcome
    }

    fn ask(&mut self, process: usize, now: u64) {
        let (setup, block) = (self.setup, self.blocks[process]);
        if block == setup.file_bytes() / setup.cluster.block {
            self.outcome.ends.push(now);
            return;
        }
        // `sequential_heuristic`: 1 when the file is opened, and one more for each piece of 16 KB.
        let count = (block + 2).min(birthmark_storage::readahead::MOST.into());
        let bytes = setup.cluster.block;
        let wanted = Wanted { file: process as u64, block, bytes, count };
        if self.store.ask(now, wanted, process, &mut self.events) {
            self.copy(&Ready { task: process, parts: Parts::default() }, now);
        }
    }

    /// A process copies its block, and requests the next one.
    fn copy(&mut self, ready: &Ready, now: u64) {
        let end = self.processor.take(now, self.work).end;
        self.outcome.calls += 1;
        self.outcome.parts += ready.parts;
        self.outcome.parts.processor += end - now;
        self.blocks[ready.task] += 1;
        self.events.add(end, Event::Ask(ready.task));
    }
}
