//! Checks of a drive's parameters.

use super::parameters::{BufferParameters, Overheads, Parameters, WriteCacheParameters, Zone};

/// An impossible parameter.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: expected {expected}")]
pub struct ParameterError {
    /// The parameter.
    pub key: String,
    /// What it should be.
    pub expected: String,
}

/// Milliseconds beyond any time of a drive; it keeps every sum in range.
pub const LONGEST: f64 = 1e5;

impl Parameters {
    /// Check the parameters, except those that depend on the geometry.
    pub fn check(&self) -> Result<(), ParameterError> {
        let rpm = self.rpm.is_finite() && (1.0..=1e6).contains(&self.rpm);
        need(rpm, "rpm", "1 to 1000000")?;
        need((1..=1024).contains(&self.heads), "heads", "1 to 1024")?;
        need((1..=1 << 22).contains(&self.cylinders), "cylinders", "1 to 4194304")?;
        let range = self.sparing.range_cylinders;
        let ranges = format!("1 to its {} cylinders", self.cylinders);
        need((1..=self.cylinders).contains(&range), "sparing.range_cylinders", &ranges)?;
        time(self.head_switch_ms, "head_switch_ms")?;
        time(self.write_settle_ms, "write_settle_ms")?;
        time(self.bus_ms_per_sector, "bus_ms_per_sector")?;
        self.overheads_ms.check()?;
        self.buffer.check()?;
        self.write_cache.map_or(Ok(()), |cache| cache.check())?;
        check_seek(&self.seek, self.cylinders, "seek")?;
        if !self.write_seek.is_empty() {
            check_seek(&self.write_seek, self.cylinders, "write_seek")?;
        }
        self.check_zones()
    }

    fn check_zones(&self) -> Result<(), ParameterError> {
        need(!self.zones.is_empty(), "zones", "at least one")?;
        let mut least = 0;
        for (number, zone) in self.zones.iter().enumerate() {
            let (first, last) = (zone.first_cylinder, zone.last_cylinder);
            let inside = least <= first && first <= last && last < self.cylinders;
            let cylinders = format!("rising cylinders below {}", self.cylinders);
            need(inside, &format!("zones.{number}"), &cylinders)?;
            zone.check(number)?;
            least = last + 1;
        }
        Ok(())
    }
}

impl Zone {
    fn check(&self, number: usize) -> Result<(), ParameterError> {
        let key = |member: &str| format!("zones.{number}.{member}");
        need((1..=1 << 20).contains(&self.sectors), &key("sectors"), "1 to 1048576")?;
        let turn = self.offset.max(self.track_skew).max(self.cylinder_skew);
        let below = format!("offset and skews below its {} sectors", self.sectors);
        need(turn < self.sectors, &format!("zones.{number}"), &below)
    }
}

impl Overheads {
    fn check(&self) -> Result<(), ParameterError> {
        time(self.read_hit_after_read, "overheads_ms.read_hit_after_read")?;
        time(self.read_hit_after_write, "overheads_ms.read_hit_after_write")?;
        time(self.read_miss_after_read, "overheads_ms.read_miss_after_read")?;
        time(self.read_miss_after_write, "overheads_ms.read_miss_after_write")?;
        time(self.write_hit_after_read, "overheads_ms.write_hit_after_read")?;
        time(self.write_hit_after_write, "overheads_ms.write_hit_after_write")?;
        time(self.write_miss_after_read, "overheads_ms.write_miss_after_read")?;
        time(self.write_miss_after_write, "overheads_ms.write_miss_after_write")
    }
}

impl BufferParameters {
    fn check(&self) -> Result<(), ParameterError> {
        need((1..=1024).contains(&self.segments), "buffer.segments", "1 to 1024")?;
        let sectors = (1..=1 << 24).contains(&self.segment_sectors);
        need(sectors, "buffer.segment_sectors", "1 to 16777216")?;
        let writes = (1..=self.segments).contains(&self.write_segments);
        need(writes, "buffer.write_segments", "1 to as many as there are segments")?;
        let reads = !self.separate_write_segment || self.segments > 1;
        need(reads, "buffer.segments", "2 or more where one is for writes alone")?;
        need(self.read_ahead_sectors <= 1 << 24, "buffer.read_ahead_sectors", "0 to 16777216")
    }
}

impl WriteCacheParameters {
    fn check(&self) -> Result<(), ParameterError> {
        need((1..=1 << 24).contains(&self.sectors), "write_cache.sectors", "1 to 16777216")?;
        need((1..=1 << 16).contains(&self.runs), "write_cache.runs", "1 to 65536")?;
        let high = self.high_sectors <= self.sectors;
        need(high, "write_cache.high_sectors", "no more than its sectors")?;
        let low = self.low_sectors <= self.high_sectors;
        need(low, "write_cache.low_sectors", "no more than high_sectors")?;
        time(self.idle_ms, "write_cache.idle_ms")
    }
}

fn check_seek(points: &[(u32, f64)], cylinders: u32, key: &str) -> Result<(), ParameterError> {
    let first = points.first().is_some_and(|point| point.0 == 1);
    need(first, key, "points for distances that rise from 1")?;
    for (place, pair) in points.windows(2).enumerate() {
        let key = format!("{key}.{}", place + 1);
        need(pair[0].0 < pair[1].0, &key, &format!("a distance of more than {}", pair[0].0))?;
        need(pair[1].0 < cylinders, &key, &format!("a distance within its {cylinders} cylinders"))?;
    }
    points.iter().try_for_each(|point| time(point.1, key))
}

fn time(value: f64, key: &str) -> Result<(), ParameterError> {
    need((0.0..=LONGEST).contains(&value), key, "0 to 100000 milliseconds")
}

/// Return an error for a parameter unless `holds`.
pub fn need(holds: bool, key: &str, expected: &str) -> Result<(), ParameterError> {
    if holds {
        return Ok(());
    }
    Err(ParameterError { key: key.into(), expected: expected.into() })
}
