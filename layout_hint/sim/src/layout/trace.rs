//! A build, decoded once for many runs.

use super::creates::{self, Create};
use super::intern::Names;
use super::operation::{Operation, NONE, NO_SIZE};
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use hashbrown::HashMap;

/// Kind of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum What {
    /// A file, which has data.
    #[default]
    File,
    /// A directory.
    Directory,
    /// A symbolic link, whose target has so many bytes.
    Symlink(u32),
    /// A device, socket or FIFO: an inode alone.
    Node,
}

/// A name that exists before the trace.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The object.
    pub object: u32,
    /// The directory.
    pub parent: u32,
    /// The number of the name.
    pub name: u32,
    /// What it is.
    pub what: What,
    /// Bytes.
    pub size: u64,
    /// Its index among the creates; none for a further name of the same object.
    pub place: u32,
}

/// A build: the manifest and the operations.
#[derive(Debug)]
pub struct Trace {
    /// All names.
    pub names: Names,
    /// Names that exist before the trace, directories before their contents.
    pub manifest: Vec<Entry>,
    /// The operations, in order.
    pub operations: Vec<Operation>,
    /// Inputs of the hook, in order.
    pub creates: Vec<Create>,
    /// The stable identifiers of the objects; the first is the root's.
    pub ids: Vec<i64>,
    pub(super) numbers: HashMap<i64, u32>,
}

impl Default for Trace {
    fn default() -> Trace {
        Trace {
            names: Names::default(),
            manifest: Vec::new(),
            operations: Vec::new(),
            creates: Vec::new(),
            ids: vec![0],
            numbers: HashMap::from_iter([(0, 0)]),
        }
    }
}

impl Trace {
    /// How many objects there are, the root among them.
    pub fn objects(&self) -> usize {
        self.ids.len()
    }

    /// A row for each create, in the order of the hook's inputs.
    pub fn creates(&self) -> Result<RecordBatch, ArrowError> {
        creates::table(&self.creates, &self.names, &self.ids)
    }

    /// The number of a known object.
    pub(super) fn known(&self, id: Option<i64>) -> u32 {
        id.and_then(|id| self.numbers.get(&id).copied()).unwrap_or(NONE)
    }

    /// The number of a new object.
    pub(super) fn add(&mut self, id: i64) -> Option<u32> {
        let number = u32::try_from(self.ids.len()).ok().filter(|&number| number < NONE - 1)?;
        self.ids.push(id);
        self.numbers.insert(id, number);
        Some(number)
    }

    /// Adds a create; returns its index.
    pub(super) fn ask(&mut self, create: Create) -> u32 {
        self.creates.push(create);
        (self.creates.len() - 1) as u32
    }
}

/// Whether bytes end within the greatest length of a file.
pub(super) fn fits(offset: u64, count: u64) -> bool {
    offset == NO_SIZE || offset.checked_add(count).is_some_and(|end| i64::try_from(end).is_ok())
}
