//! The drive's memory for reads: after each it reads on, and what comes next may be there already.

use super::Mechanism;

/// Segments of memory, each for a run of sectors; the one used least lately makes room.
///
/// After a read from the medium the drive reads on, over the ends of tracks, until the segment is
/// full or the next request needs the arm; reads that go on from there move the segment along.
#[derive(Clone, Debug)]
pub struct Buffer {
    segments: Vec<Segment>,
    number: usize,
    capacity: u64,
    uses: u64,
    ahead: Option<Ahead>,
}

#[derive(Clone, Debug)]
struct Segment {
    start: u64,
    end: u64,
    used: u64,
}

/// Reading on: into which segment, up to which sector, and when its next sector may begin.
#[derive(Clone, Debug)]
struct Ahead {
    segment: usize,
    limit: u64,
    at: f64,
}

impl Buffer {
    /// A buffer of segments with room for so many sectors each.
    pub fn new(number: u32, capacity: u64) -> Self {
        Self { segments: Vec::new(), number: number as usize, capacity, uses: 0, ahead: None }
    }

    /// Read on up to time `now`.
    pub fn fill(&mut self, mechanism: &mut Mechanism, now: f64) {
        let Some(ahead) = &mut self.ahead else { return };
        let segment = &mut self.segments[ahead.segment];
        while segment.end < ahead.limit && ahead.at < now {
            let place = mechanism.layout().place(segment.end);
            ahead.at = mechanism.reach(&place, ahead.at, false);
            let left = place.left.min(ahead.limit - segment.end);
            let passed = ((now - ahead.at) / place.sector_time).max(0.0) as u64;
            let read = left.min(passed);
            segment.end += read;
            ahead.at += read as f64 * place.sector_time;
            if read < left {
                break;
            }
        }
        segment.start = segment.start.max(segment.end.saturating_sub(self.capacity));
    }

    /// Answer a read at time `now`, up to which it was filled: when its last sector is in memory.
    ///
    /// None if it has to be read anew: it is not in one segment, nor in what is being read.
    pub fn read(
        &mut self,
        mechanism: &mut Mechanism,
        sector: u64,
        sectors: u64,
        now: f64,
    ) -> Option<f64> {
        let end = sector + sectors;
        let ahead = self.ahead.as_ref().map(|ahead| ahead.segment);
        let found = self.segments.iter().enumerate().position(|(number, segment)| {
            let reaches = if ahead == Some(number) { sector } else { end };
            segment.start <= sector && reaches <= segment.end
        })?;
        self.uses += 1;
        self.segments[found].used = self.uses;
        if ahead == Some(found) {
            self.read_on(mechanism, sector, end, now)
        } else {
            Some(now)
        }
    }

    /// Move the segment being filled along to a read from it; return when it holds the read's end.
    fn read_on(&mut self, mechanism: &mut Mechanism, from: u64, to: u64, now: f64) -> Option<f64> {
        let ahead = self.ahead.as_mut()?;
        let segment = &mut self.segments[ahead.segment];
        if segment.end >= ahead.limit {
            ahead.at = ahead.at.max(now); // it was full, and reads on only from now
        }
        ahead.limit = ahead.limit.max(from + self.capacity).max(to);
        if to <= segment.end {
            return Some(now);
        }
        ahead.at = mechanism.transfer(segment.end, to - segment.end, ahead.at, false);
        segment.end = to;
        Some(ahead.at.max(now))
    }

    /// Keep what was read from the medium until time `at`, and read on from there.
    pub fn keep(&mut self, sector: u64, sectors: u64, at: f64) {
        self.ahead = None;
        if self.number == 0 {
            return;
        }
        self.uses += 1;
        let segment = Segment { start: sector, end: sector + sectors, used: self.uses };
        let number = if self.segments.len() < self.number {
            self.segments.push(segment);
            self.segments.len() - 1
        } else {
            let oldest = self.segments.iter().enumerate().min_by_key(|(_, segment)| segment.used);
            let oldest = oldest.map_or(0, |(number, _)| number);
            self.segments[oldest] = segment;
            oldest
        };
        let limit = sector + self.capacity.max(sectors);
        self.ahead = Some(Ahead { segment: number, limit, at });
    }

    /// Sectors are written: stop reading on, and forget segments that hold any of them.
    pub fn write(&mut self, sector: u64, sectors: u64) {
        self.ahead = None;
        self.segments.retain(|held| held.end <= sector || sector + sectors <= held.start);
    }
}
