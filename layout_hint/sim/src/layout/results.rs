//! Results of a run.

use super::counters::Touched;
use super::replay::Replay;
use super::summary::Summary;
use super::trace::Trace;
use arrow_array::{ArrayRef, Int64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::ArrowError;
use std::sync::Arc;

/// Results of a run.
#[derive(Debug)]
pub struct Results {
    /// The figures.
    pub summary: Summary,
    trace: Arc<Trace>,
    blocks: Touched,
    objects: Touched,
    fragments: Vec<u64>,
}

impl Results {
    /// The results of a finished run.
    pub fn of(mut replay: Replay) -> Results {
        let consistent = replay.system.check();
        let summary = Summary::of(&replay, consistent);
        let fsize = u64::from(replay.system.geometry.fsize);
        let most = replay.system.objects.iter().map(|object| object.most.div_ceil(fsize));
        let fragments = most.collect();
        let counters = replay.system.device.counters;
        let (blocks, objects) = (counters.blocks, counters.objects);
        Results { summary, trace: replay.system.trace, blocks, objects, fragments }
    }

    /// A row for each 4 KB of the partition that was touched.
    pub fn counts(&self) -> Result<RecordBatch, ArrowError> {
        let all = 0..self.blocks.reads.len();
        let touched: Vec<usize> = all.filter(|&at| self.blocks.get(at) != (0, 0)).collect();
        let each = || touched.iter().map(|&at| (at, self.blocks.get(at)));
        let block = each().map(|(at, _)| at as i64);
        let (reads, writes) = (each().map(|(_, (reads, _))| reads), each().map(|(_, (_, w))| w));
        let columns: [(&str, ArrayRef); 3] = [
            ("block", Arc::new(Int64Array::from_iter_values(block))),
            ("reads", Arc::new(UInt32Array::from_iter_values(reads))),
            ("writes", Arc::new(UInt32Array::from_iter_values(writes))),
        ];
        RecordBatch::try_from_iter(columns)
    }

    /// A row for each create, with the disk traffic of the object's own blocks.
    pub fn objects(&self) -> Result<RecordBatch, ArrowError> {
        let creates = || (0i64..).zip(&self.trace.creates).map(|(place, c)| (place, c.object));
        let of = |object: u32| self.objects.get(object as usize);
        let id = creates().map(|(_, object)| self.trace.ids[object as usize]);
        let reads = creates().map(|(_, object)| of(object).0.into());
        let writes = creates().map(|(_, object)| of(object).1.into());
        let fragments = creates().map(|(_, object)| self.fragments[object as usize]);
        let columns: [(&str, ArrayRef); 5] = [
            ("id", Arc::new(Int64Array::from_iter_values(id))),
            ("place", Arc::new(Int64Array::from_iter_values(creates().map(|(place, _)| place)))),
            ("reads", Arc::new(UInt64Array::from_iter_values(reads))),
            ("writes", Arc::new(UInt64Array::from_iter_values(writes))),
            ("fragments", Arc::new(UInt64Array::from_iter_values(fragments))),
        ];
        RecordBatch::try_from_iter(columns)
    }
}
