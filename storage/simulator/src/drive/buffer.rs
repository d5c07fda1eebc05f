//! The drive's memory: segments, and their contents.

use super::{BufferParameters, Geometry, ReadAhead};

/// Segments of memory, each for a run of sectors; the least recently used is replaced.
#[derive(Clone, Debug)]
pub struct Buffer {
    rules: BufferParameters,
    segments: Vec<Segment>,
    uses: u64,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    number: u64,
    start: u64,
    end: u64,
    used: u64,
    written: bool,
}

/// The part of a read that is in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The segment.
    pub segment: u64,
    /// Number of its sectors, from the first on.
    pub sectors: u64,
}

impl Buffer {
    /// An empty buffer.
    pub fn new(rules: BufferParameters) -> Self {
        Self { rules, segments: Vec::new(), uses: 0 }
    }

    /// The part of sectors that it holds, from the first on, in the segment with most of them.
    pub fn find(&mut self, sector: u64, sectors: u64) -> Option<Found> {
        let readable = |segment: &&mut Segment| !segment.written || self.rules.read_hits_on_writes;
        let held = |segment: &Segment| segment.held(sector, sectors);
        let segments = self.segments.iter_mut().filter(readable);
        let best = segments.max_by_key(|segment| (held(segment), segment.used))?;
        let found = Found { segment: best.number, sectors: best.held(sector, sectors) };
        if found.sectors == 0 {
            return None;
        }
        self.uses += 1;
        best.used = self.uses;
        Some(found)
    }

    /// Whether a read would hit a sector.
    pub fn holds(&self, sector: u64) -> bool {
        let readable = |own: &Segment| !own.written || self.rules.read_hits_on_writes;
        self.segments.iter().any(|own| readable(own) && own.held(sector, 1) == 1)
    }

    /// A segment for a read that misses; a sequential read continues in the same one.
    pub fn stream(&mut self, sector: u64) -> u64 {
        let ends = |segment: &&mut Segment| segment.end == sector && !segment.written;
        self.uses += 1;
        if let Some(segment) = self.segments.iter_mut().find(ends) {
            segment.used = self.uses;
            return segment.number;
        }
        self.leave_for_read();
        self.open(sector, sector, false)
    }

    /// Append written sectors to a segment, and drop them from all others.
    pub fn write_behind(&mut self, number: u64, sectors: u64) {
        if let Some(sector) = self.end(number) {
            let own = |held: &Segment| held.number == number;
            self.segments.retain(|held| own(held) || !held.overlaps(sector, sector + sectors));
            self.extend(number, sector + sectors);
        }
    }

    /// A segment for written sectors, which are dropped from all others.
    pub fn write(&mut self, sector: u64, sectors: u64) -> u64 {
        let end = sector + sectors;
        self.forget(sector, end);
        self.leave_for_write();
        let start = sector.max(end.saturating_sub(self.rules.segment_sectors));
        self.open(start, end, true)
    }

    /// Drop sectors from all segments.
    pub fn forget(&mut self, sector: u64, end: u64) {
        self.segments.retain(|held| !held.overlaps(sector, end));
    }

    /// Extend a segment to a sector, if it is still there; its first sectors make room.
    pub fn extend(&mut self, number: u64, end: u64) {
        let room = self.rules.segment_sectors;
        if let Some(segment) = self.segments.iter_mut().find(|segment| segment.number == number) {
            segment.end = segment.end.max(end);
            segment.start = segment.start.max(segment.end.saturating_sub(room));
        }
    }

    /// Let a segment begin with an earlier sector, as far as there is room.
    pub fn precede(&mut self, number: u64, start: u64) {
        let room = self.rules.segment_sectors;
        if let Some(segment) = self.segments.iter_mut().find(|segment| segment.number == number) {
            segment.start = segment.start.min(start.max(segment.end.saturating_sub(room)));
        }
    }

    /// The end of a segment; none if it is gone.
    pub fn end(&self, number: u64) -> Option<u64> {
        self.segments.iter().find(|segment| segment.number == number).map(|segment| segment.end)
    }

    /// The limit of reading ahead in a segment, after a read of sectors.
    pub fn read_ahead(&self, number: u64, sector: u64, sectors: u64, geometry: &Geometry) -> u64 {
        let end = sector + sectors;
        let start = self.segments.iter().find(|segment| segment.number == number);
        let start = start.map_or(sector, |segment| segment.start);
        let limit = match self.rules.read_ahead {
            ReadAhead::None => end,
            ReadAhead::Most => end + self.rules.read_ahead_sectors.min(self.rules.segment_sectors),
            ReadAhead::Track => track_ahead(start, end, geometry),
        };
        limit.min(geometry.sectors())
    }

    fn leave_for_read(&mut self) {
        let separate = self.rules.separate_write_segment;
        let number = self.rules.segments as usize - usize::from(separate);
        self.leave(number, |segment| !separate || !segment.written);
    }

    fn leave_for_write(&mut self) {
        let separate = self.rules.separate_write_segment;
        let most = if separate { 1 } else { self.rules.write_segments as usize };
        self.leave(most, |segment| segment.written);
        if !separate {
            self.leave(self.rules.segments as usize, |_| true);
        }
    }

    /// Make room for one more segment of a kind, with at most `most` of them.
    fn leave(&mut self, most: usize, kind: impl Fn(&Segment) -> bool) {
        let of_kind = self.segments.iter().enumerate().filter(|(_, segment)| kind(segment));
        if of_kind.clone().count() < most {
            return;
        }
        if let Some((oldest, _)) = of_kind.min_by_key(|(_, segment)| segment.used) {
            self.segments.swap_remove(oldest);
        }
    }

    fn open(&mut self, start: u64, end: u64, written: bool) -> u64 {
        self.uses += 1;
        self.segments.push(Segment { number: self.uses, start, end, used: self.uses, written });
        self.uses
    }
}

impl Segment {
    /// Whether it holds any of the sectors up to `end`.
    fn overlaps(&self, sector: u64, end: u64) -> bool {
        self.start < end && sector < self.end
    }

    /// The number of these sectors that it holds, from the first on.
    fn held(&self, sector: u64, sectors: u64) -> u64 {
        if sector < self.start {
            return 0;
        }
        self.end.saturating_sub(sector).min(sectors)
    }
}

/// The end of the track with the sector before `end`; of the next, if the segment began earlier.
fn track_ahead(start: u64, end: u64, geometry: &Geometry) -> u64 {
    let track = geometry.track(end - 1);
    if start < track.start && track.end < geometry.sectors() {
        geometry.track(track.end).end
    } else {
        track.end
    }
}
