//! What is kept of a file and of each of its names while they live.

use super::early::Early;
use super::events::UNTOLD;
use super::gaps::{Gaps, Touch};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Bytes that several lives share: a directory's handle, a name.
pub type Bytes = Arc<[u8]>;

/// What a file is, numbered as `ftype3` (RFC 1813 section 2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Kind {
    File = 1,
    Directory,
    Block,
    Character,
    Symlink,
    Socket,
    Fifo,
}

/// The words of a `kind` column, in the order of [`Kind`].
pub const KINDS: [&str; 7] =
    ["file", "directory", "block", "character", "symlink", "socket", "fifo"];

impl Kind {
    /// The kind of that `ftype3`, if there is one.
    pub fn from_ftype(ftype: u8) -> Option<Kind> {
        use Kind::*;
        [File, Directory, Block, Character, Symlink, Socket, Fifo]
            .get(usize::from(ftype).checked_sub(1)?)
            .copied()
    }
}

/// The operation that made a file or a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum How {
    Create,
    Mkdir,
    Symlink,
    Mknod,
    Link,
    Rename,
}

/// The words of a `how_born` column, in the order of [`How`].
pub const BIRTHS: [&str; 6] = ["create", "mkdir", "symlink", "mknod", "link", "rename"];

/// What ended a file or a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum End {
    Remove,
    Rmdir,
    Rename,
    Overwritten,
}

/// The words of a `how_died` column, in the order of [`End`].
pub const ENDS: [&str; 4] = ["remove", "rmdir", "rename", "overwritten"];

/// A death that the trace shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Death {
    /// Time of the reply.
    pub at: i64,
    /// The operation that did it.
    pub how: End,
}

/// Who made a call.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Caller {
    /// The user, where the call had AUTH_UNIX credentials.
    pub uid: Option<u32>,
    /// The group, likewise.
    pub gid: Option<u32>,
    /// The host, a number in the table of clients.
    pub client: u32,
}

/// When an operation was, on which server, and who asked for it.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The server, a number in the table of servers. Handles mean nothing outside it.
    pub server: u32,
    /// Time of the call: what the reply says was not so before it.
    pub time: i64,
    /// Time of the reply.
    pub at: i64,
    /// Who asked.
    pub caller: Caller,
}

/// A birth that the trace shows.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Birth {
    /// Time of the reply.
    pub at: i64,
    /// The operation that made it.
    pub how: How,
    /// Permission bits that a create carried.
    pub mode: Option<u32>,
    /// Who made it.
    pub caller: Caller,
    /// Its number among those that are told, [`UNTOLD`] if it is not.
    pub number: u64,
}

impl Birth {
    /// A birth by that operation.
    pub fn new(op: &Operation, how: How, mode: Option<u32>) -> Birth {
        Birth { at: op.at, how, mode, caller: op.caller, number: UNTOLD }
    }
}

/// The attributes in a reply (`fattr3`, RFC 1813 section 2.6), as far as lives need them.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Attributes {
    pub kind: Option<Kind>,
    pub nlink: Option<u32>,
    pub owner: Option<u32>,
    pub group: Option<u32>,
    pub size: Option<u64>,
    pub atime: Option<i64>,
    pub mtime: Option<i64>,
    pub ctime: Option<i64>,
}

/// The name that a file was born with, or the first one seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The name.
    pub name: Bytes,
    /// The handle of its directory.
    pub dir: Bytes,
    /// The directory's own name, where it was known then.
    pub dir_name: Option<DirName>,
}

/// A directory's own name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DirName {
    /// The name.
    pub name: Bytes,
    /// When the directory was first seen to have it.
    pub seen: i64,
}

/// A file's life so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FileLife {
    /// Its birth, if the trace shows it.
    pub birth: Option<Birth>,
    /// Its first name.
    pub origin: Option<Origin>,
    /// What it is.
    pub kind: Option<Kind>,
    /// The first reply that named it.
    pub first_seen: i64,
    /// The last reply that named it.
    pub last_seen: i64,
    /// Its last name is gone, yet it was not shown to be dead, nor seen again since.
    pub doubtful: bool,
    /// How many names it has, as far as is known.
    pub nlink: Option<u32>,
    /// When a name of it was last made or removed: attributes asked for earlier may be older.
    pub links_changed: i64,
    /// User at birth or when first seen.
    pub owner: Option<u32>,
    /// Group at birth or when first seen.
    pub group: Option<u32>,
    /// Successful operations that named it.
    pub operations: u64,
    /// Successful reads.
    pub reads: u64,
    /// Successful writes.
    pub writes: u64,
    /// Bytes that reads returned.
    pub bytes_read: u64,
    /// Bytes that writes stored.
    pub bytes_written: u64,
    /// Largest size seen.
    pub max_size: Option<u64>,
    /// Size last seen.
    pub last_size: Option<u64>,
    /// Access time last seen.
    pub atime: Option<i64>,
    /// Modification time last seen.
    pub mtime: Option<i64>,
    /// When a client last closed it (version 4).
    pub last_closed: Option<i64>,
    /// What of this was so when it was young.
    pub early: Early,
    /// Whether loss may have touched it.
    pub touch: Touch,
}

impl FileLife {
    /// A life first seen at that time, of which nothing else is known.
    pub fn new(at: i64) -> FileLife {
        FileLife { first_seen: at, last_seen: at, links_changed: i64::MIN, ..FileLife::default() }
    }

    /// Notes that an operation named it, and what the reply told of it.
    #[inline]
    pub fn named(&mut self, op: &Operation, attributes: &Attributes, gaps: &Gaps) {
        self.used(op, gaps);
        self.doubtful = false;
        self.kind = self.kind.or(attributes.kind);
        self.owner = self.owner.or(attributes.owner);
        self.group = self.group.or(attributes.group);
        self.atime = attributes.atime.or(self.atime);
        self.mtime = attributes.mtime.or(self.mtime);
        if attributes.nlink.is_some() && op.time >= self.links_changed {
            self.nlink = attributes.nlink;
        }
        if let Some(size) = attributes.size {
            self.sized(op.at, size);
        }
        self.early.shown(op.at, attributes);
    }

    /// Notes that an operation named it.
    #[inline]
    pub fn used(&mut self, op: &Operation, gaps: &Gaps) {
        self.operations += 1;
        self.last_seen = self.last_seen.max(op.at);
        self.touch.used(op, gaps);
    }

    /// Notes the size that it has at a time.
    pub fn sized(&mut self, at: i64, size: u64) {
        self.early.sized(at, Some(size));
        self.last_size = Some(size);
        self.max_size = self.max_size.max(Some(size));
    }

    /// Notes a write that reached to `end`, after which `shown` was its size.
    pub fn wrote(&mut self, at: i64, bytes: u64, end: Option<u64>, shown: Option<u64>) {
        self.early.wrote(at);
        self.early.sized(at, end);
        self.writes += 1;
        self.bytes_written = self.bytes_written.saturating_add(bytes);
        self.max_size = self.max_size.max(end);
        if shown.is_none() {
            self.last_size = self.last_size.map(|size| size.max(end.unwrap_or(0)));
        }
    }

    /// Adds what was known of it before its handle was, from `at` on.
    pub fn continue_from(&mut self, earlier: FileLife, at: i64) {
        if self.birth.is_none() {
            self.early.continue_from(earlier.early, at);
        }
        self.birth = self.birth.or(earlier.birth);
        self.origin = self.origin.take().or(earlier.origin);
        self.kind = self.kind.or(earlier.kind);
        self.first_seen = self.first_seen.min(earlier.first_seen);
        self.nlink = self.nlink.or(earlier.nlink);
        self.links_changed = self.links_changed.max(earlier.links_changed);
        self.owner = earlier.owner.or(self.owner);
        self.group = earlier.group.or(self.group);
        self.operations += earlier.operations;
        self.max_size = self.max_size.max(earlier.max_size);
        self.last_size = self.last_size.or(earlier.last_size);
        self.atime = self.atime.or(earlier.atime);
        self.mtime = self.mtime.or(earlier.mtime);
        self.last_closed = self.last_closed.max(earlier.last_closed);
        self.touch.join(earlier.touch);
    }

    /// Whether it came to be known only while a call was under way that may have made it.
    pub fn appeared_during(&self, op: &Operation) -> bool {
        self.birth.is_none() && self.first_seen >= op.time
    }
}

/// A name's life so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NameLife {
    /// The handle of its directory.
    pub dir: Bytes,
    /// The name.
    pub name: Bytes,
    /// Its birth, if the trace shows it.
    pub birth: Option<Birth>,
    /// The first reply that named it.
    pub first_seen: i64,
    /// The last reply that showed it to be there.
    pub last_seen: i64,
}

impl NameLife {
    /// The life of a name that was first seen with that operation.
    pub fn new(op: &Operation, dir: Bytes, name: Bytes, birth: Option<Birth>) -> NameLife {
        NameLife { dir, name, birth, first_seen: op.at, last_seen: op.at }
    }

    /// Whether it came to be known only while a call was under way that may have made it.
    pub fn appeared_during(&self, op: &Operation) -> bool {
        self.birth.is_none() && self.first_seen >= op.time
    }
}

/// A file with its names. Its handle may not be known yet: the reply to a create need not give it
/// (RFC 1813 section 3.3.8), and a file that is renamed before it was looked up has shown none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Inode {
    /// The server.
    pub server: u32,
    /// The handle.
    pub handle: Option<Bytes>,
    /// The file's life.
    pub life: FileLife,
    /// The names it is known to have.
    pub names: Vec<NameLife>,
}

impl Inode {
    /// A file of which only the handle, if that, is known.
    pub fn new(op: &Operation, handle: Option<Bytes>) -> Inode {
        let (life, names) = (FileLife::new(op.at), Vec::with_capacity(1));
        Inode { server: op.server, handle, life, names }
    }

    /// How many lives it stands for.
    pub fn lives(&self) -> usize {
        1 + self.names.len()
    }
}
