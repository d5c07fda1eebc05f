//! The service of reads, and reading ahead.

use super::{Access, Drive, Feed, Found, Run, Service};

/// Reading ahead: the segment, the limit, and the earliest start of its next sector.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    segment: u64,
    limit: u64,
    at: u64,
}

impl Drive {
    /// Serve a read from time `begin` on.
    pub(super) fn read(&mut self, sector: u64, sectors: u64, begin: u64) -> Service {
        if self.waits(sector, sectors) {
            return self.read_waiting(sectors);
        }
        match self.buffer.find(sector, sectors).or_else(|| self.about_to_read(sector)) {
            Some(found) => self.read_hit(sector, sectors, begin, found),
            None => self.read_miss(sector, sectors, begin),
        }
    }

    /// The segment in which reading ahead has reached a sector: it goes on during the controller's
    /// overhead.
    pub(super) fn about_to_read(&self, sector: u64) -> Option<Found> {
        let segment = self.ahead?.segment;
        (self.buffer.end(segment)? == sector).then_some(Found { segment, sectors: 0 })
    }

    /// Pass on the sectors in the buffer, and read the missing ones behind them.
    fn read_hit(&mut self, sector: u64, sectors: u64, begin: u64, found: Found) -> Service {
        self.hits += 1;
        let overhead = self.overhead(false, true);
        let from = begin + overhead;
        let queue = self.dirty.map_or(0, |dirty| dirty.until.saturating_sub(from));
        let from = from + queue;
        let mut feed = Feed::new(self.per_sector, from);
        feed.held(found.sectors);
        let mut read = from;
        if found.sectors < sectors {
            let rest = (sector + found.sectors, sectors - found.sectors);
            read = self.read_rest(found.segment, rest, begin, &mut feed).max(from);
        }
        self.move_limit(found.segment, sector, sectors);
        Service {
            queue,
            overhead,
            transfer: read - from,
            bus: feed.done() - read,
            ..Service::default()
        }
    }

    /// Read sectors that follow those of a segment; return the time at which the last had passed.
    fn read_rest(
        &mut self,
        segment: u64,
        (sector, sectors): (u64, u64),
        begin: u64,
        feed: &mut Feed,
    ) -> u64 {
        let reading = self.ahead.filter(|ahead| ahead.segment == segment);
        let at = match reading {
            Some(ahead) => ahead.at,
            None => (begin + self.overhead(false, false)).max(self.mechanism.free()),
        };
        let (_, end) = self.read_medium(sector, sectors, at, feed);
        self.keep(segment, sector, sectors, end);
        end
    }

    fn read_miss(&mut self, sector: u64, sectors: u64, begin: u64) -> Service {
        self.ahead = None;
        let overhead = self.overhead(false, false);
        let queue = self.mechanism.free().saturating_sub(begin + overhead);
        let at = begin + overhead + queue;
        let mut feed = Feed::new(self.per_sector, at);
        let segment = self.buffer.stream(sector);
        let (first, end) = self.read_medium(sector, sectors, at, &mut feed);
        self.keep(segment, sector, sectors, end);
        if self.rules.read_passing_sectors {
            let place = self.mechanism.geometry().place(sector);
            let passing = self.mechanism.passing(&place, first.rotation);
            let start = self.mechanism.geometry().passed_before(sector, passing);
            self.buffer.precede(segment, start);
        }
        Service {
            queue,
            overhead,
            seek: first.seek,
            rotation: first.rotation,
            transfer: end - first.start,
            bus: feed.done() - end,
        }
    }

    /// Read sectors from the medium; return the first run, and the time at which the last had
    /// passed.
    fn read_medium(&mut self, sector: u64, sectors: u64, at: u64, feed: &mut Feed) -> (Run, u64) {
        let access = Access { write: false, unordered: self.rules.zero_latency_reads };
        let first = self.mechanism.pass(sector, sectors, at, at, access);
        let mut run = first;
        let mut done = run.sectors;
        feed.read(&run);
        while done < sectors {
            let at = run.end;
            run = self.mechanism.pass(sector + done, sectors - done, at, at, access);
            done += run.sectors;
            feed.read(&run);
        }
        (first, run.end)
    }

    /// Store sectors read until time `at`, and read ahead from there.
    fn keep(&mut self, segment: u64, sector: u64, sectors: u64, at: u64) {
        self.buffer.extend(segment, sector + sectors);
        self.ahead = Some(Ahead { segment, limit: sector + sectors, at });
        self.move_limit(segment, sector, sectors);
    }

    /// Let a read move the limit of reading ahead in its segment, if that is under way.
    fn move_limit(&mut self, segment: u64, sector: u64, sectors: u64) {
        let geometry = self.mechanism.geometry();
        let limit = self.buffer.read_ahead(segment, sector, sectors, geometry);
        if let Some(ahead) = self.ahead.as_mut().filter(|ahead| ahead.segment == segment) {
            ahead.limit = ahead.limit.max(limit);
        }
    }

    /// Read ahead up to time `now`; it ends at its limit.
    pub(super) fn read_on(&mut self, now: u64) {
        while let Some(ahead) = self.ahead {
            let sector = self.buffer.end(ahead.segment).unwrap_or(ahead.limit);
            if sector >= ahead.limit {
                self.ahead = None;
            } else if ahead.at >= now || !self.read_piece(ahead, sector, now) {
                return;
            }
        }
    }

    /// Read ahead over contiguous sectors; return whether all had passed by time `now`.
    fn read_piece(&mut self, ahead: Ahead, sector: u64, now: u64) -> bool {
        let access = Access { write: false, unordered: false };
        let run = self.mechanism.pass(sector, ahead.limit - sector, ahead.at, ahead.at, access);
        let place = self.mechanism.geometry().place(sector);
        let passed = self.mechanism.passing(&place, now.saturating_sub(run.start));
        let read = passed.min(run.sectors);
        self.buffer.extend(ahead.segment, sector + read);
        let at = match read {
            0 => ahead.at + run.seek,
            _ => run.start + self.mechanism.time(&place, read),
        };
        self.mechanism.stop(at);
        self.ahead = Some(Ahead { at, ..ahead });
        read == run.sectors
    }
}
