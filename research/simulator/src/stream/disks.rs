//! Disks over which the records of a file are striped.

use super::{Event, Stream};
use birthmark_storage::events::Events;
use std::collections::BTreeSet;

/// Disks, each of which reads waiting records in one direction, then from the first again.
pub struct Disks {
    each: Vec<Disk>,
    /// Nanoseconds for a record.
    pass: u64,
    position: u64,
    /// Number of times that a disk had to position.
    pub positioned: u64,
}

#[derive(Clone, Default)]
struct Disk {
    waiting: BTreeSet<u64>,
    busy: bool,
    /// Its next record under the head.
    next: u64,
}

impl Disks {
    /// Idle disks at the beginning of the file.
    pub fn new(setup: &Stream) -> Self {
        let pass = setup.record * 1_000_000_000 / setup.disk_rate;
        let each = vec![Disk::default(); setup.disks];
        Self { each, pass, position: setup.position, positioned: 0 }
    }

    /// Request a record.
    pub fn want(&mut self, record: u64, now: u64, events: &mut Events<Event>) {
        let disk = (record % self.each.len() as u64) as usize;
        self.each[disk].waiting.insert(record);
        self.start(disk, now, events);
    }

    /// A disk has read a record.
    pub fn done(&mut self, disk: usize, now: u64, events: &mut Events<Event>) {
        self.each[disk].busy = false;
        self.start(disk, now, events);
    }

    fn start(&mut self, number: usize, now: u64, events: &mut Events<Event>) {
        let stride = self.each.len() as u64;
        let disk = &mut self.each[number];
        if disk.busy {
            return;
        }
        let ahead = disk.waiting.range(disk.next..).next();
        let Some(record) = ahead.or(disk.waiting.first()).copied() else { return };
        disk.waiting.remove(&record);
        // Records a little behind the last one pass sooner than the arm could be elsewhere.
        let passed = record.checked_sub(disk.next).map(|gap| gap / stride * self.pass);
        let wait = passed.map_or(self.position, |passed| passed.min(self.position));
        self.positioned += u64::from(wait == self.position);
        disk.busy = true;
        disk.next = record + stride;
        events.add(now + wait + self.pass, Event::Read { disk: number, record });
    }
}
