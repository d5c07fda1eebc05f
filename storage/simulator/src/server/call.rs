//! A call of NFS.

/// Classes of calls, by their processor time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Attributes of a file.
    Getattr,
    /// Setting attributes.
    Setattr,
    /// A name in a directory.
    Lookup,
    /// A check of permissions.
    Access,
    /// Data of a file.
    Read,
    /// Data for a file.
    Write,
    /// Making written data stable.
    Commit,
    /// A new name: create, mkdir, symlink, mknod, link.
    Create,
    /// Removing a name: remove, rmdir.
    Remove,
    /// Changing a name.
    Rename,
    /// Listing the names in a directory.
    List,
    /// All others.
    Other,
}

impl Class {
    /// All classes, by number.
    pub const ALL: [Self; 12] = [
        Self::Getattr,
        Self::Setattr,
        Self::Lookup,
        Self::Access,
        Self::Read,
        Self::Write,
        Self::Commit,
        Self::Create,
        Self::Remove,
        Self::Rename,
        Self::List,
        Self::Other,
    ];

    /// Their names, by number.
    pub const NAMES: [&'static str; 12] = [
        "getattr", "setattr", "lookup", "access", "read", "write", "commit", "create", "remove",
        "rename", "list", "other",
    ];

    /// The class of a number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }

    /// Whether it changes names or attributes.
    pub fn changes(self) -> bool {
        matches!(self, Self::Setattr | Self::Create | Self::Remove | Self::Rename)
    }
}

/// The reply time of a call without a reply.
pub const NO_REPLY: u64 = u64::MAX;

/// The length of a file of unknown length.
pub const NO_END: u64 = u64::MAX;

/// A captured call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Arrival, in nanoseconds.
    pub at: u64,
    /// Time of the reply; [`NO_REPLY`]: none was seen.
    pub replied: u64,
    /// Number of client and caller.
    pub stream: u32,
    /// Number of the connection.
    pub connection: u32,
    /// Its class.
    pub class: Class,
    /// The file that it reads, writes or commits, or the directory of its lookup, by number.
    pub file: u32,
    /// The file that it finds or makes by name, or whose last name it removes; 0: none, or unknown.
    pub target: u32,
    /// Whether its target is a directory.
    pub directory: bool,
    /// Hints for a target that it makes: bits of verdicts, and of perfect knowledge.
    pub hints: u8,
    /// The first byte of data.
    pub offset: u64,
    /// Bytes of data in either direction.
    pub bytes: u32,
    /// The file's length afterwards, or its target's if it makes one; [`NO_END`]: unknown, and for
    /// calls that set attributes: no truncation.
    pub end: u64,
    /// Whether a write must be on stable storage when it is answered.
    pub stable: bool,
}

impl Call {
    /// The file that this truncates, and its new end, if any; 0 if it removes it.
    pub fn cut(&self) -> Option<(u32, u64)> {
        match self.class {
            Class::Remove | Class::Rename if self.target != 0 => Some((self.target, 0)),
            Class::Create if self.target != 0 && self.end != NO_END => {
                Some((self.target, self.end))
            }
            Class::Setattr if self.end != NO_END => Some((self.file, self.end)),
            _ => None,
        }
    }

    /// The file whose last name this removes, if any.
    pub fn removed(&self) -> Option<u32> {
        let removes = matches!(self.class, Class::Remove | Class::Rename) && self.target != 0;
        removes.then_some(self.target)
    }

    /// Latency in nanoseconds, if there was a reply.
    pub fn latency(&self) -> Option<u64> {
        (self.replied != NO_REPLY).then(|| self.replied.saturating_sub(self.at))
    }
}
