//! The arm's next work.

use super::disk::{Disk, Doing};
use super::outcome::{Answer, Moved, Outcome};
use super::rules::{sectors_of, Rules};
use crate::cache::{Group, BLOCK};
use birthmark_storage::drive::{Access, ReadOn, Request, Run, Service};
use birthmark_storage::queue::{Order, Waiting};

/// The number of work without a request: writing back.
const NOBODY: usize = usize::MAX;

/// The work that the arm has begun.
pub struct Begun {
    /// Its end.
    pub free: u64,
    /// Where it went, and how long it took.
    pub moved: Moved,
}

impl Disk {
    /// Begin the arm's next work at time `now`, if it is free and anything waits.
    pub fn begin(&mut self, rules: &Rules, now: u64, answer: &mut Answer<'_>) -> Option<Begun> {
        self.choose_leaving(rules, now);
        while let Some(own) = self.queue.pop(now, &self.mechanism) {
            if own.number == NOBODY {
                return Some(self.leave(own, now));
            }
            if own.request.write {
                return Some(self.write_through(own, now, answer));
            }
            if let Some(begun) = self.read(own, rules, now, answer) {
                return Some(begun);
            }
        }
        self.read_on(now);
        if self.ahead.is_some() {
            return None;
        }
        let own = self.leaving.pop(now, &self.mechanism)?;
        Some(self.leave(own, now))
    }

    /// Queue blocks that have to leave the write buffer; together with reads, if writes wait for
    /// their room.
    fn choose_leaving(&mut self, rules: &Rules, now: u64) {
        while self.under_way < rules.depth {
            let Some(group) = self.writes.as_mut().and_then(|writes| writes.leave(now)) else {
                break;
            };
            let (sector, sectors) = sectors_of(group.block, group.blocks);
            let request = Request { sector, sectors, write: true };
            self.under_way += 1;
            self.leaving.push(Waiting { number: NOBODY, since: now, request });
        }
        if !self.held.is_empty() {
            for own in self.leaving.take_where(|_| true) {
                self.queue.push(own);
            }
        }
    }

    /// Read from the medium, unless it is in memory by now.
    fn read(
        &mut self,
        own: Waiting,
        rules: &Rules,
        now: u64,
        answer: &mut Answer<'_>,
    ) -> Option<Begun> {
        let (sector, sectors) = (own.request.sector, own.request.sectors);
        let mut at = now.max(own.since + self.times.read);
        if self.ahead.is_some() {
            if rules.just_in_time {
                at += self.mechanism.slack(sector, at);
            }
            self.read_on(at);
            self.ahead = None;
        }
        let Some(missing) = self.missing(sector, sectors) else {
            answer(own.number, self.remember(own, at));
            return None;
        };
        let mut fetch = self.prefetcher.fetch(&missing);
        fetch.sectors.end = fetch.sectors.end.min(self.end());
        fetch.until = fetch.until.min(self.end());
        let at = at.max(self.mechanism.free());
        let first = fetch.sectors.start;
        let (run, until, end) =
            self.pass(first, fetch.until, fetch.sectors.end, at, rules.any_free);
        let fetched = fetch.sectors.end - first - (missing.end - missing.start);
        let limit = fetch.sectors.end + rules.read_on_sectors.saturating_sub(fetched);
        let free = if rules.any_free {
            self.mechanism.passed_over(first, run.rotation)
        } else {
            [0..0, 0..0]
        };
        let service = service(own, self.times.read, (at, until), &run, self.times.bus);
        self.doing =
            Some(Doing::Read { sectors: fetch.sectors, free, limit: limit.min(self.end()) });
        let moved = Moved::new(&run, end, false);
        let busy = moved.busy();
        let done = own.since + service.response();
        answer(own.number, Outcome { at: done, service, busy, missed: true });
        Some(Begun { free: end, moved })
    }

    /// Write a request's data directly to the medium.
    fn write_through(&mut self, own: Waiting, now: u64, answer: &mut Answer<'_>) -> Begun {
        let at = now.max(own.since + self.times.write);
        let (run, end) = self.write(own.request, at);
        let service = service(own, self.times.write, (at, end), &run, self.times.bus);
        let moved = Moved::new(&run, end, true);
        let (at, busy) = (own.since + service.response(), moved.busy());
        answer(own.number, Outcome { at, service, busy, missed: true });
        self.doing = Some(Doing::Write);
        Begun { free: end, moved }
    }

    /// Write back blocks of the write buffer.
    fn leave(&mut self, own: Waiting, now: u64) -> Begun {
        let (run, end) = self.write(own.request, now.max(own.since + self.times.write));
        let Request { sector, sectors, .. } = own.request;
        self.doing = Some(Doing::Leave { block: sector / BLOCK, blocks: sectors / BLOCK });
        Begun { free: end, moved: Moved::new(&run, end, true) }
    }

    fn write(&mut self, request: Request, at: u64) -> (Run, u64) {
        self.read_on(at);
        self.ahead = None;
        let Request { sector, sectors, .. } = request;
        let last = (sector + sectors).min(self.end());
        let access = Access { write: true, unordered: false };
        let at = at.max(self.mechanism.free());
        let first = self.mechanism.pass(sector, last - sector, at, at, access);
        let end = self.pass_rest(sector + first.sectors, last, first.end, access);
        (first, end)
    }

    /// Read up to sector `end`; return the first run, the time at which all before sector `until`
    /// had passed, and the end.
    fn pass(&mut self, sector: u64, until: u64, end: u64, at: u64, any: bool) -> (Run, u64, u64) {
        let access = Access { write: false, unordered: any };
        let place = self.mechanism.geometry().place(sector);
        let first = self.mechanism.pass(sector, end - sector, at, at, access);
        let behind = sector + first.sectors;
        let in_order = (until.min(behind) - sector).min(first.sectors - first.early);
        let mut answered = first.start + self.mechanism.time(&place, in_order);
        let access = Access { write: false, unordered: false };
        if until > behind {
            answered = self.pass_rest(behind, until, first.end, access);
        }
        let from = until.max(behind);
        let done = self.pass_rest(from, end, answered.max(first.end), access);
        (first, answered, done)
    }

    /// Pass over sectors up to `end`, from time `at` on; return the end.
    fn pass_rest(&mut self, mut sector: u64, end: u64, mut at: u64, access: Access) -> u64 {
        while sector < end {
            let run = self.mechanism.pass(sector, end - sector, at, at, access);
            sector += run.sectors;
            at = run.end;
        }
        at
    }

    /// Finish the arm's work at time `now`.
    pub fn end_doing(&mut self, now: u64) {
        match self.doing.take() {
            Some(Doing::Read { sectors, free, limit }) => {
                self.cache.fill(sectors.start, sectors.end - sectors.start);
                free.iter().filter(|own| !own.is_empty()).for_each(|own| self.keep(own));
                let next = sectors.end;
                let ahead = ReadOn { next, limit, at: now };
                self.ahead = Some(ahead).filter(|ahead| !ahead.is_over());
            }
            Some(Doing::Leave { block, blocks }) => {
                self.under_way -= 1;
                if let Some(writes) = &mut self.writes {
                    writes.there(Group { block, blocks });
                }
            }
            Some(Doing::Write) | None => {}
        }
    }

    /// Time of the next check without arrivals: the end of reading ahead, or the age limit of
    /// written blocks.
    pub fn due(&mut self, now: u64) -> Option<u64> {
        if self.doing.is_some() {
            return None;
        }
        let place = |ahead: &ReadOn| {
            let place = self.mechanism.geometry().place(ahead.next);
            now.max(ahead.at) + self.mechanism.time(&place, ahead.limit - ahead.next) + 1_000
        };
        let read_on = self.ahead.as_ref().filter(|_| !self.leaving.is_empty()).map(place);
        let aged = self.writes.as_mut().and_then(|writes| writes.due());
        // Overdue blocks leave when others have left.
        let aged = aged.filter(|due| *due > now);
        read_on.into_iter().chain(aged).min()
    }
}

/// The parts of a request's time, between the start and end of the arm's work.
fn service(own: Waiting, overhead: u64, (at, end): (u64, u64), run: &Run, bus: u64) -> Service {
    Service {
        queue: at - own.since - overhead,
        overhead,
        seek: run.seek,
        rotation: run.rotation,
        transfer: end - at - run.seek - run.rotation,
        bus,
    }
}
