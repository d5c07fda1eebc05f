//! Parameters of the drive model.

use serde::Deserialize;

/// The parameters of a drive. Times are in milliseconds, as in data sheets, and areas in sectors.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// Its name.
    pub name: String,
    /// Sectors that a host can address.
    pub sectors: u64,
    /// Revolutions per minute.
    pub rpm: f64,
    /// Surfaces, each with a head.
    pub heads: u32,
    /// Cylinders, from the outermost.
    pub cylinders: u32,
    /// The order of the tracks of a cylinder.
    pub mapping: Mapping,
    /// Where spare sectors are.
    pub sparing: Sparing,
    /// To read with another head of the same cylinder.
    pub head_switch_ms: f64,
    /// Additional time to settle before writing, after a seek or a switch of heads.
    pub write_settle_ms: f64,
    /// To pass a sector between drive and host.
    pub bus_ms_per_sector: f64,
    /// The controller's time for a request.
    pub overheads_ms: Overheads,
    /// Its memory.
    pub buffer: BufferParameters,
    /// Memory for several writes that are acknowledged before they are on the medium; none if the
    /// buffer's segments serve.
    #[serde(default)]
    pub write_cache: Option<WriteCacheParameters>,
    /// Cylinders and milliseconds of seeks to read, straight lines between.
    pub seek: Vec<(u32, f64)>,
    /// The same for writes, before settling; none if equal.
    #[serde(default)]
    pub write_seek: Vec<(u32, f64)>,
    /// Its zones, from the outermost. Cylinders between them hold nothing.
    pub zones: Vec<Zone>,
}

/// The order in which sectors fill the tracks of a zone.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Mapping {
    /// In every cylinder from the first head to the last.
    Ascending,
    /// In every second cylinder from the last head to the first, so that the step to the next
    /// cylinder needs no switch of heads. The first cylinder of a zone ascends.
    Serpentine,
}

/// Positions of spare sectors.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Sparing {
    /// The unit at whose end they are.
    pub at_end_of: Spares,
    /// Cylinders of a range.
    pub range_cylinders: u32,
}

/// The unit at whose end spare sectors are.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Spares {
    /// Of the drive: a zone is shorter by the sectors slipped over.
    Disk,
    /// Of each range of cylinders.
    Range,
    /// Of each zone.
    Zone,
}

/// Cylinders with the same number of sectors in a track.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Its outermost cylinder.
    pub first_cylinder: u32,
    /// Its innermost cylinder.
    pub last_cylinder: u32,
    /// Sectors in each track.
    pub sectors: u32,
    /// Sectors from the index mark to its first one.
    pub offset: u32,
    /// Sectors at its beginning that no host can address.
    pub empty: u64,
    /// Sectors by which a track begins later than the one before in the cylinder.
    pub track_skew: u32,
    /// Sectors by which a cylinder begins later than the last track of the one before.
    pub cylinder_skew: u32,
    /// Spare sectors: of each range, or of the zone.
    pub spares: u64,
    /// Bad sectors that were slipped over, counted from the zone's beginning with all sectors.
    pub slips: Vec<u64>,
    /// Bad sectors, each with the one that replaces it, counted like slips.
    pub defects: Vec<(u64, u64)>,
}

/// The controller's time for a request before it moves arm or data, in milliseconds.
///
/// A read hits if its first sector is in the buffer. A write hits if it is done before it is on the
/// medium. The time depends on the kind of the previous request.
/// medium. It differs with what the request before it was.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Overheads {
    pub read_hit_after_read: f64,
    pub read_hit_after_write: f64,
    pub read_miss_after_read: f64,
    pub read_miss_after_write: f64,
    pub write_hit_after_read: f64,
    pub write_hit_after_write: f64,
    pub write_miss_after_read: f64,
    pub write_miss_after_write: f64,
}

/// The drive's memory, and its policies.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct BufferParameters {
    /// Segments, each for a run of sectors.
    pub segments: u32,
    /// Sectors that fit into each.
    pub segment_sectors: u64,
    /// Number of segments that may hold written data.
    pub write_segments: u32,
    /// Whether one segment is for writes alone.
    pub separate_write_segment: bool,
    /// Extent of reading ahead after a read.
    pub read_ahead: ReadAhead,
    /// Sectors to read ahead after a read, unless to the end of a track; they may replace earlier
    /// ones.
    pub read_ahead_sectors: u64,
    /// Whether to keep sectors that pass under the head before the requested ones.
    pub read_passing_sectors: bool,
    /// Whether sectors of a track are read in the order in which they pass.
    pub zero_latency_reads: bool,
    /// Whether sectors of a track are written in the order in which they pass.
    pub zero_latency_writes: bool,
    /// Whether reads hit written data.
    pub read_hits_on_writes: bool,
    /// Whether a sequential write shares the segment of one that waits for the medium.
    pub combine_writes: bool,
    /// Whether a write is done as soon as it is in the buffer.
    pub fast_writes: bool,
}

/// A memory for writes separate from the buffer; it overrides the buffer's `fast_writes`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct WriteCacheParameters {
    /// Sectors that fit in.
    pub sectors: u64,
    /// Most runs of sectors.
    pub runs: u32,
    /// Number of sectors above which it writes whenever the arm is free.
    pub high_sectors: u64,
    /// Number of sectors at which it stops.
    pub low_sectors: u64,
    /// Idle time after which it writes everything, in milliseconds.
    pub idle_ms: f64,
    /// The run to write next.
    pub order: WriteOrder,
}

/// The order in which runs of sectors are written.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum WriteOrder {
    /// The order of arrival.
    Arrival,
    /// First the one whose first sector the head reaches soonest.
    Nearest,
}

/// Extent of reading ahead after a read.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ReadAhead {
    /// Not at all.
    None,
    /// The given number of sectors, if they fit into a segment.
    Most,
    /// To the end of the track, whether it fits or not; to that of the next one, if the segment
    /// began before this one.
    Track,
}
