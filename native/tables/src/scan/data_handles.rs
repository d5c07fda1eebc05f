//! The handles by which data servers of pNFS know files (RFC 8881 section 12).

use super::tree::{NodeId, NONE};
use hashbrown::HashMap;

/// Files by data-server handle, for any data server.
#[derive(Default)]
pub struct DataHandles(HashMap<Box<[u8]>, NodeId>);

impl DataHandles {
    /// Records that a layout named a handle for a file.
    pub fn add(&mut self, handle: &[u8], id: NodeId) {
        self.0.insert(handle.into(), id);
    }

    /// The file whose data has a handle.
    #[inline]
    pub fn file(&self, handle: &[u8]) -> Option<NodeId> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(handle).copied()
    }

    /// The number of handles.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Renumbers files; handles of files without a new number are dropped.
    pub fn renumber(&mut self, numbers: &[NodeId]) {
        self.0.retain(|_, id| {
            *id = numbers.get(*id as usize).copied().unwrap_or(NONE);
            *id != NONE
        });
        self.0.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_follow_their_files_numbers_and_are_dropped_with_them() {
        let mut handles = DataHandles::default();
        assert_eq!(handles.file(b"D"), None);
        handles.add(b"D", 0);
        handles.add(b"E", 2);
        handles.renumber(&[NONE, 0, 1]);
        assert_eq!((handles.file(b"D"), handles.file(b"E"), handles.len()), (None, Some(1), 1));
    }
}
