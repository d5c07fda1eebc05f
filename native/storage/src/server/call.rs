//! A call of NFS, as a server is asked it.

/// What a call asks for. Calls of a class take the processor for about as long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// Attributes of a file.
    Getattr,
    /// To set them.
    Setattr,
    /// A name in a directory.
    Lookup,
    /// What a caller may do.
    Access,
    /// Data of a file.
    Read,
    /// Data for a file.
    Write,
    /// That what was written be on stable storage.
    Commit,
    /// A new name: create, mkdir, symlink, mknod, link.
    Create,
    /// A name less: remove, rmdir.
    Remove,
    /// Another name.
    Rename,
    /// The names in a directory.
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

    /// What they are called, by number.
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

/// The reply of a call that has none.
pub const NO_REPLY: u64 = u64::MAX;

/// The length of a file of which none was told.
pub const NO_END: u64 = u64::MAX;

/// A call that was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// When it came, in nanoseconds.
    pub at: u64,
    /// When it was answered; [`NO_REPLY`]: no answer was seen.
    pub replied: u64,
    /// Of which client and caller.
    pub stream: u32,
    /// On which connection it came.
    pub connection: u32,
    /// What it asks for.
    pub class: Class,
    /// The file that it reads, writes or commits, or the directory that it looks into, by number.
    pub file: u32,
    /// The file that it finds or makes by its name, or whose last name it takes away; 0: none, or
    /// not told.
    pub target: u32,
    /// Whether its target is a directory.
    pub directory: bool,
    /// What is said of a target that it makes: bits of verdicts, and of perfect knowledge.
    pub hints: u8,
    /// The first byte of data.
    pub offset: u64,
    /// Bytes of data that it brings or gets.
    pub bytes: u32,
    /// How long the file is then, or its target if it makes one; [`NO_END`]: not told, and for what
    /// sets attributes: that it does not cut the file.
    pub end: u64,
    /// Whether a write must be on stable storage when it is answered.
    pub stable: bool,
}

impl Call {
    /// The file of which this leaves only the bytes before an end, if it does: 0 if it removes it.
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

    /// The file whose last name this takes away, if it does.
    pub fn removed(&self) -> Option<u32> {
        let removes = matches!(self.class, Class::Remove | Class::Rename) && self.target != 0;
        removes.then_some(self.target)
    }

    /// How long it took, in nanoseconds, if an answer was seen.
    pub fn latency(&self) -> Option<u64> {
        (self.replied != NO_REPLY).then(|| self.replied.saturating_sub(self.at))
    }
}
