//! Changes by operations: the log that drives a buffer cache.

use birthmark_hook::Outcome;

/// A change by an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The maps and counts of a cylinder group.
    Group(u32),
    /// An inode: taken, given back, or its size or pointers.
    Inode(u32),
    /// A block of inodes was made; this is its first.
    Made(u32),
    /// An indirect block: new, or one whose pointers changed.
    Indirect {
        /// The file's inode.
        inode: u32,
        /// Where the indirect block is.
        address: u32,
    },
    /// A block of a file has a new place, or more fragments.
    Placed {
        /// The file's inode.
        inode: u32,
        /// Its number in the file.
        lbn: u32,
        /// Where it is now.
        address: u32,
        /// How many fragments it has now.
        fragments: u32,
    },
    /// Fragments that became free.
    Freed {
        /// The first.
        address: u32,
        /// How many.
        fragments: u32,
    },
    /// Outcome of a hint.
    Hint(Outcome),
}

/// The log, which is recorded only on request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub on: bool,
    pub list: Vec<Change>,
}

impl Changes {
    /// Adds a change, but not the same one twice in a row.
    #[inline]
    pub fn push(&mut self, change: Change) {
        if self.on && self.list.last() != Some(&change) {
            self.list.push(change);
        }
    }

    /// Adds the outcome of a hint; every one counts.
    #[inline]
    pub fn hint(&mut self, outcome: Outcome) {
        if self.on {
            self.list.push(Change::Hint(outcome));
        }
    }
}
