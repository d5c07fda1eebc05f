//! Arrival of requests.

use super::disk::Disk;
use super::outcome::{Answer, Outcome};
use crate::cache::Written;
use birthmark_storage::drive::Service;
use birthmark_storage::queue::{Aged, Order, Waiting};

impl Disk {
    /// Accept a request at time `now`, or answer it from memory.
    pub fn arrive(&mut self, own: Waiting, now: u64, answer: &mut Answer<'_>) {
        let (sector, sectors) = (own.request.sector, own.request.sectors);
        if self.doing.is_none() {
            self.read_on(now);
        }
        if own.request.write {
            self.overwrite(sector, sectors);
            if self.writes.is_none() {
                self.queue.push(own);
            } else if !self.held.is_empty() || !self.buffer(own, now, answer) {
                self.held.push_back(own);
            }
            return;
        }
        self.prefetcher.seen(&(sector..sector + sectors));
        if self.missing(sector, sectors).is_some() {
            self.queue.push(own);
        } else {
            answer(own.number, self.remember(own, now));
        }
    }

    /// Put a write into the write buffer and answer it, if there is room.
    fn buffer(&mut self, own: Waiting, now: u64, answer: &mut Answer<'_>) -> bool {
        let (sector, sectors) = (own.request.sector, own.request.sectors);
        let written = self.writes.as_mut().map(|writes| writes.write(sector, sectors, now));
        let Some(missed) = written.filter(|own| *own != Written::NoRoom) else {
            return false;
        };
        answer(
            own.number,
            Outcome { missed: missed == Written::New, ..self.serve_from_memory(own, now) },
        );
        true
    }

    /// Admit waiting writes to the write buffer.
    pub fn admit_writes(&mut self, now: u64, answer: &mut Answer<'_>) {
        while let Some(&own) = self.held.front() {
            if !self.buffer(own, now, answer) {
                return;
            }
            self.held.pop_front();
        }
    }

    /// Answer waiting reads that are in memory by now: they pass those before them.
    pub fn pass_hits(&mut self, now: u64, answer: &mut Answer<'_>) {
        if self.queue.is_empty() {
            return;
        }
        let mut queue = std::mem::replace(&mut self.queue, Aged::new(0.0, 1));
        let hits = queue.take_where(|own| {
            let Waiting { request, .. } = *own;
            !request.write && self.missing(request.sector, request.sectors).is_none()
        });
        self.queue = queue;
        for own in hits {
            answer(own.number, self.remember(own, now));
        }
    }

    /// Answer a read from memory.
    pub fn remember(&mut self, own: Waiting, now: u64) -> Outcome {
        self.hit(own.request.sector, own.request.sectors);
        self.serve_from_memory(own, now)
    }

    /// The outcome without the arm.
    fn serve_from_memory(&self, own: Waiting, now: u64) -> Outcome {
        let service = Service {
            queue: now - own.since,
            overhead: self.times.hit,
            bus: own.request.sectors * self.times.bus,
            ..Service::default()
        };
        Outcome { at: own.since + service.response(), service, busy: 0, missed: false }
    }
}
