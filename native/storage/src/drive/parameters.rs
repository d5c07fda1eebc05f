//! What a drive is: the parameters of its model.

use serde::Deserialize;

/// The parameters of a drive. Times are in milliseconds, as in data sheets, and areas in sectors.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// What it is called.
    pub name: String,
    /// Sectors that a host can address.
    pub sectors: u64,
    /// Revolutions per minute.
    pub rpm: f64,
    /// Surfaces, each with a head.
    pub heads: u32,
    /// Cylinders, from the outermost.
    pub cylinders: u32,
    /// In which order the tracks of a cylinder are used.
    pub mapping: Mapping,
    /// Where spare sectors are.
    pub sparing: Sparing,
    /// To read with another head of the same cylinder.
    pub head_switch_ms: f64,
    /// How much longer it takes to settle, after a seek or a switch of heads, before writing.
    pub write_settle_ms: f64,
    /// To pass a sector between drive and host.
    pub bus_ms_per_sector: f64,
    /// What the controller takes for a request.
    pub overheads_ms: Overheads,
    /// Its memory.
    pub buffer: BufferParameters,
    /// Memory for many writes that are done before they are on the medium; none if the buffer's
    /// segments take them.
    #[serde(default)]
    pub write_cache: Option<WriteCacheParameters>,
    /// Cylinders and milliseconds of seeks to read, straight lines between.
    pub seek: Vec<(u32, f64)>,
    /// The same to write, before settling; none if they take as long as to read.
    #[serde(default)]
    pub write_seek: Vec<(u32, f64)>,
    /// Its zones, from the outermost. Cylinders between them hold nothing.
    pub zones: Vec<Zone>,
}

/// In which order sectors fill the tracks of a zone.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Mapping {
    /// In every cylinder from the first head to the last.
    Ascending,
    /// In every second cylinder from the last head to the first, so that no switch of heads comes
    /// with the step to the next cylinder. The first cylinder of a zone ascends.
    Serpentine,
}

/// Where spare sectors are.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Sparing {
    /// At the end of what.
    pub at_end_of: Spares,
    /// Cylinders of a range.
    pub range_cylinders: u32,
}

/// At the end of what spare sectors are.
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
    /// By how many sectors its first one begins later than the index mark.
    pub offset: u32,
    /// Sectors at its beginning that no host can address.
    pub empty: u64,
    /// By how many sectors a track begins later than the one before in the cylinder.
    pub track_skew: u32,
    /// By how many sectors a cylinder begins later than the last track of the one before.
    pub cylinder_skew: u32,
    /// Spare sectors: of each range, or of the zone.
    pub spares: u64,
    /// Bad sectors that were slipped over, counted from the zone's beginning with all sectors.
    pub slips: Vec<u64>,
    /// Bad sectors, each with the one that replaces it, counted like slips.
    pub defects: Vec<(u64, u64)>,
}

/// What the controller takes for a request before it moves arm or data, in milliseconds.
///
/// A read hits if its first sector is in the buffer. A write hits if it is done before it is on the
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

/// The drive's memory, and what it does with it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct BufferParameters {
    /// Segments, each for a run of sectors.
    pub segments: u32,
    /// Sectors that fit into each.
    pub segment_sectors: u64,
    /// How many of the segments may hold what was written.
    pub write_segments: u32,
    /// Whether one segment is for writes alone.
    pub separate_write_segment: bool,
    /// How far it reads on after a read.
    pub read_ahead: ReadAhead,
    /// Sectors behind a read that are read on, unless to the end of a track; they may take the room
    /// of those before.
    pub read_ahead_sectors: u64,
    /// Whether sectors before those asked for are kept if they pass under the head first.
    pub read_passing_sectors: bool,
    /// Whether sectors of a track are read in the order in which they pass.
    pub zero_latency_reads: bool,
    /// Whether sectors of a track are written in the order in which they pass.
    pub zero_latency_writes: bool,
    /// Whether reads find what was written.
    pub read_hits_on_writes: bool,
    /// Whether a write that goes on where one waits for the medium shares its segment.
    pub combine_writes: bool,
    /// Whether a write is done as soon as it is in the buffer.
    pub fast_writes: bool,
}

/// A memory for writes apart from the buffer, whose `fast_writes` then do not count.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct WriteCacheParameters {
    /// Sectors that fit in.
    pub sectors: u64,
    /// Runs of sectors that it can tell apart.
    pub runs: u32,
    /// With more sectors than these, it begins to write whenever the arm is free.
    pub high_sectors: u64,
    /// With so many, it stops.
    pub low_sectors: u64,
    /// After so long without a request it writes all it has, in milliseconds.
    pub idle_ms: f64,
    /// Which run is written next.
    pub order: WriteOrder,
}

/// In which order runs of sectors are written.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum WriteOrder {
    /// That in which they came.
    Arrival,
    /// First the one whose first sector the head reaches soonest.
    Nearest,
}

/// How far a drive reads on after a read.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ReadAhead {
    /// Not at all.
    None,
    /// As many sectors as are given, if they fit into a segment.
    Most,
    /// To the end of the track, whatever fits in; to that of the next one, if the segment began
    /// before this one.
    Track,
}
