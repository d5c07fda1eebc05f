//! Files packed together, regardless of their directories.

use birthmark_sim::ffs::{Allocator, Volume, Wanted};

/// All files at the beginning of the partition: each block behind the one before, and the first
/// block in the first group with a free one.
pub struct Packed;

impl Allocator for Packed {
    fn name(&self) -> &'static str {
        "packed"
    }

    fn block(&self, volume: &Volume, wanted: &Wanted) -> Option<u32> {
        let geometry = &volume.geometry;
        if let Some(previous) = wanted.previous {
            return Some(previous + geometry.frag());
        }
        let cg = volume.groups.iter().position(|group| group.summary.nbfree > 0)?;
        Some(geometry.fpg * cg as u32 + geometry.frag())
    }
}
