//! The file map: the last state seen of each file.

use super::columns::Attributes;
use super::tree::{NodeId, Tree};
use arrow_array::builder::{BinaryBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, UInt32Array, UInt64Array, UInt8Array};
use arrow_schema::ArrowError;
use birthmark_columns::arrays::times;
use birthmark_columns::get;
use birthmark_trace::message::Interner;
use hashbrown::HashMap;
use std::sync::Arc;

/// The known attributes of a file; none if not shown.
#[derive(Clone, Copy, Debug, Default)]
struct File {
    ftype: Option<u8>,
    mode: Option<u32>,
    owner: Option<u32>,
    group: Option<u32>,
    size: Option<u64>,
    times: [Option<i64>; 3],
    seen: i64,
}

/// The files seen since they were last taken.
#[derive(Default)]
pub struct Files {
    files: HashMap<NodeId, File>,
}

impl Files {
    /// The number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Records a sighting of a file.
    pub fn see(&mut self, id: NodeId, at: i64) {
        let file = self.files.entry(id).or_default();
        file.seen = file.seen.max(at);
    }

    /// Records the attributes of a file.
    pub fn learn(&mut self, id: NodeId, at: i64, shown: &Attributes, row: usize) {
        let file = self.files.entry(id).or_default();
        file.ftype = get(shown.ftype, row).or(file.ftype);
        file.mode = get(shown.mode, row).or(file.mode);
        file.owner = get(shown.owner, row).or(file.owner);
        file.group = get(shown.group, row).or(file.group);
        file.size = get(shown.size, row).or(file.size);
        for (known, time) in file.times.iter_mut().zip(shown.times) {
            *known = get(time, row).or(*known);
        }
        file.seen = file.seen.max(at);
    }

    /// Takes the files, with their numbers.
    pub fn take(&mut self, tree: &Tree, hosts: &Interner) -> Result<RecordBatch, ArrowError> {
        let mut files: Vec<(NodeId, File)> = self.files.drain().collect();
        files.sort_unstable_by_key(|(id, _)| *id);
        let mut servers = StringBuilder::new();
        let mut handles = BinaryBuilder::new();
        for (id, _) in &files {
            servers.append_value(&hosts.names()[tree.server(*id) as usize]);
            handles.append_value(tree.handle(*id));
        }
        let numbers = |of: fn(&File) -> Option<u32>| -> ArrayRef {
            Arc::new(files.iter().map(|(_, file)| of(file)).collect::<UInt32Array>())
        };
        let time = |which: usize| times(files.iter().map(|(_, file)| file.times[which]));
        let ids: UInt32Array = files.iter().map(|(id, _)| Some(*id)).collect();
        let ftypes: UInt8Array = files.iter().map(|(_, file)| file.ftype).collect();
        let sizes: UInt64Array = files.iter().map(|(_, file)| file.size).collect();
        RecordBatch::try_from_iter_with_nullable([
            ("id", Arc::new(ids) as ArrayRef, false),
            ("server", Arc::new(servers.finish()), false),
            ("fh", Arc::new(handles.finish()), false),
            ("ftype", Arc::new(ftypes), true),
            ("mode", numbers(|file| file.mode), true),
            ("owner", numbers(|file| file.owner), true),
            ("group", numbers(|file| file.group), true),
            ("size", Arc::new(sizes), true),
            ("atime", time(0), true),
            ("mtime", time(1), true),
            ("ctime", time(2), true),
            ("seen", times(files.iter().map(|(_, file)| file.seen)), false),
        ])
    }
}
