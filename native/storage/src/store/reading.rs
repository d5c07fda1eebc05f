//! Reads of the drive: which are made, and who is told when they are done.

use super::{Parts, Place, Reading, Ready, Store, StoreEvent, SECTOR};
use crate::cluster::Wanted;
use crate::drive::{Request, Service};
use crate::events::Events;
use crate::queue::Waiting;
use std::ops::Range;

impl Store {
    /// What a read of a block reads; the read that brings it, if it was not there.
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

    pub(super) fn submit<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        file: u64,
        blocks: Range<u64>,
        events: &mut Events<E>,
    ) -> usize {
        let sectors = self.rules.block / SECTOR;
        let request = Request {
            sector: self.files[file as usize].sector + blocks.start * sectors,
            sectors: (blocks.end - blocks.start) * sectors,
            write: false,
        };
        let number = self.free.pop().unwrap_or(self.reads.len());
        let service = Service::default();
        let reading =
            Reading { file, blocks: blocks.clone(), came: now, service, waiting: Vec::new() };
        if number == self.reads.len() {
            self.reads.push(reading);
        } else {
            let waiting = std::mem::take(&mut self.reads[number].waiting);
            self.reads[number] = Reading { waiting, ..reading };
        }
        for block in blocks {
            self.memory.put(file, block, Place::UnderWay(number));
        }
        self.order.push(Waiting { number, since: now, request });
        self.start(now, events);
        number
    }

    /// Give the drive what is next, if it is idle.
    pub(super) fn start<E: From<StoreEvent>>(&mut self, now: u64, events: &mut Events<E>) {
        if self.busy {
            return;
        }
        let Some(waiting) = self.order.pop(now, self.drive.mechanism()) else { return };
        // That all files are on the drive was checked.
        let mut service = self.drive.serve(waiting.request, now).unwrap_or_default();
        let end = now + service.response();
        let passing = service.transfer + service.bus;
        service.queue += now - waiting.since;
        self.busy = true;
        let reading = &mut self.reads[waiting.number];
        reading.service = service;
        let blocks = reading.blocks.end - reading.blocks.start;
        for left in (0..blocks).rev() {
            let at = end - passing * left / blocks;
            let event = StoreEvent::Block { read: waiting.number, last: left == 0 };
            events.add(at, event.into());
        }
    }

    pub(super) fn here<E: From<StoreEvent>>(
        &mut self,
        now: u64,
        read: usize,
        events: &mut Events<E>,
        ready: &mut Vec<Ready>,
    ) {
        let reading = &mut self.reads[read];
        for block in reading.blocks.clone() {
            self.memory.put(reading.file, block, Place::Here);
        }
        let (came, service) = (reading.came, reading.service);
        let link = now - came - service.response();
        let mut waiting = std::mem::take(&mut reading.waiting);
        for waiter in waiting.drain(..) {
            if let Some(wanted) = waiter.again {
                self.read(now, &wanted, events);
            }
            let parts = Parts::of_read(&service, link, waiter.since - came);
            ready.push(Ready { task: waiter.task, parts });
        }
        self.reads[read].waiting = waiting;
        self.free.push(read);
    }
}
