//! Reads of the drive, and the notification of tasks.

use super::{Brings, Parts, Place, Reading, Ready, Store, StoreEvent, Waiter, SECTOR};
use crate::cluster::Wanted;
use crate::drive::{Request, Service};
use crate::events::Events;
use crate::queue::Waiting;
use std::ops::Range;

impl Store {
    /// Read for a demanded block; return the read that brings it, if it was not there.
    pub(super) fn read<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        wanted: &Wanted,
        events: &mut Events<E>,
    ) -> Option<usize> {
        if self.memory.is_last(wanted.file, wanted.block) {
            // `ffs_read` reads a file's last block by itself.
            let own = wanted.block..wanted.block + 1;
            let missing = self.memory.place(wanted.file, wanted.block) == Place::Drive;
            return missing.then(|| self.submit(now, wanted.file, own, events));
        }
        let mut ahead = std::mem::take(&mut self.ahead);
        let waited = self.rules.read(wanted, &mut self.memory, &mut ahead);
        let read = waited.map(|blocks| self.submit(now, wanted.file, blocks, events));
        for blocks in ahead.drain(..) {
            self.submit(now, wanted.file, blocks, events);
        }
        self.ahead = ahead;
        read
    }

    /// Read contiguous blocks, or first the metadata that locates them; return the first read.
    fn submit<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        file: u64,
        blocks: Range<u64>,
        events: &mut Events<E>,
    ) -> usize {
        let read = match self.unmapped(file, blocks.start) {
            None => {
                // The caller has checked that the block exists.
                let per_block = self.rules.block / SECTOR;
                let found = self.files[file as usize].find(blocks.start, per_block);
                let sectors = (blocks.end - blocks.start) * per_block;
                let sector = found.map_or(0, |(sector, _)| sector);
                self.begin(now, Brings::Data(file, blocks.clone()), (sector, sectors), events)
            }
            Some(sector) => {
                let read = match self.memory.map(sector) {
                    Place::UnderWay(read) => read,
                    _ => {
                        let sectors = self.rules.block / SECTOR;
                        let read = self.begin(now, Brings::Map(sector), (sector, sectors), events);
                        self.memory.put_map(sector, Place::UnderWay(read));
                        read
                    }
                };
                self.reads[read].then.push((file, blocks.clone()));
                read
            }
        };
        for block in blocks {
            self.memory.put(file, block, Place::UnderWay(read));
        }
        read
    }

    /// The sector of the missing metadata needed to find a block.
    fn unmapped(&self, file: u64, block: u64) -> Option<u64> {
        let maps = self.files[file as usize].maps.iter();
        let mut needed = maps.filter(|map| map.blocks.contains(&block)).map(|map| map.sector);
        needed.find(|sector| self.memory.map(*sector) != Place::Here)
    }

    /// Queue a read at the drive.
    fn begin<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        brings: Brings,
        (sector, sectors): (u64, u64),
        events: &mut Events<E>,
    ) -> usize {
        let number = self.free.pop().unwrap_or(self.reads.len());
        let service = Service::default();
        let (waiting, then) = (Vec::new(), Vec::new());
        let reading = Reading { brings, came: now, service, waiting, then };
        if number == self.reads.len() {
            self.reads.push(reading);
        } else {
            self.reads[number] = reading;
        }
        let request = Request { sector, sectors, write: false };
        self.order.push(Waiting { number, since: now, request });
        self.start(now, events);
        number
    }

    /// Give the drive the next read, if it is idle.
    pub(super) fn start<E: From<StoreEvent>>(&mut self, now: u64, events: &mut Events<E>) {
        if self.busy {
            return;
        }
        self.drive.catch_up(now);
        let Some(waiting) = self.order.pop(now, &self.drive) else { return };
        // All files have been checked to be on the drive.
        let mut service = self.drive.serve(waiting.request, now).unwrap_or_default();
        let end = now + service.response();
        let passing = service.transfer + service.bus;
        service.queue += now - waiting.since;
        self.busy = true;
        let reading = &mut self.reads[waiting.number];
        reading.service = service;
        let blocks = waiting.request.sectors * SECTOR / self.rules.block;
        for left in (0..blocks).rev() {
            let at = end - passing * left / blocks;
            let event = StoreEvent::Block { read: waiting.number, last: left == 0 };
            events.add(at, event.into());
        }
    }

    /// Finish a read: waiting tasks go on, and so do reads that depended on it.
    pub(super) fn here<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        read: usize,
        events: &mut Events<E>,
        ready: &mut Vec<Ready>,
    ) {
        match self.reads[read].brings.clone() {
            Brings::Data(file, blocks) => {
                blocks.for_each(|block| self.memory.put(file, block, Place::Here))
            }
            Brings::Map(sector) => self.memory.put_map(sector, Place::Here),
        }
        let reading = &mut self.reads[read];
        let (came, service) = (reading.came, reading.service);
        let link = now - came - service.response();
        let waiting = std::mem::take(&mut reading.waiting);
        for (file, blocks) in std::mem::take(&mut reading.then) {
            self.submit(now, file, blocks, events);
        }
        for waiter in waiting {
            let parts = waiter.parts + Parts::of_read(&service, link, waiter.since - came);
            let waiter = Waiter { since: now, parts, ..waiter };
            ready.extend(self.ask_for(now, waiter, events));
        }
        self.free.push(read);
    }

    /// Let a task request a block; return its waiting times, if it is there.
    pub(super) fn ask_for<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        waiter: Waiter,
        events: &mut Events<E>,
    ) -> Option<Ready> {
        let Waiter { task, wanted, due, parts, .. } = waiter;
        let (read, due) = match self.memory.place(wanted.file, wanted.block) {
            Place::UnderWay(read) => (read, due),
            Place::Here if !due => return Some(Ready { task, parts }),
            _ => match self.read(now, &wanted, events) {
                Some(read) => (read, false),
                None => return Some(Ready { task, parts }),
            },
        };
        self.reads[read].waiting.push(Waiter { due, ..waiter });
        None
    }
}
