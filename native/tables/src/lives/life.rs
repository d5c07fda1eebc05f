//! The state of a file and of its names while they live.

use super::early::Early;
use super::events::NOT_EMITTED;
use super::gaps::{Gaps, Touch};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Bytes that several lives share: a directory's handle, a name.
pub type Bytes = Arc<[u8]>;

/// The bytes of an index entry, including free entries.
const INDEXED: usize = 32;

/// The memory of shared bytes.
pub fn bytes_memory(bytes: &[u8]) -> usize {
    bytes.len() + 24
}

/// The same, but 0 if another holder counts them.
fn shared_memory(bytes: &Bytes) -> usize {
    if Arc::strong_count(bytes) > 2 {
        0
    } else {
        bytes_memory(bytes)
    }
}

/// The kind of a file, numbered as `ftype3` (RFC 1813 section 2.6).
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
    /// The kind for an `ftype3`, if there is one.
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
    /// The operation that caused it.
    pub how: End,
}

/// The caller of an operation.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Caller {
    /// The user, where the call had AUTH_UNIX credentials.
    pub uid: Option<u32>,
    /// The group, likewise.
    pub gid: Option<u32>,
    /// The host, a number in the table of clients.
    pub client: u32,
}

/// An operation's times, server and caller.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The server, a number in the table of servers. Handles mean nothing outside it.
    pub server: u32,
    /// Time of the call: conditions that the reply reports did not hold before it.
    pub time: i64,
    /// Time of the reply.
    pub at: i64,
    /// The caller.
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
    /// The caller that made it.
    pub caller: Caller,
    /// Its number among the emitted births, [`NOT_EMITTED`] if there is none.
    pub number: u64,
}

impl Birth {
    /// A birth by that operation.
    pub fn new(op: &Operation, how: How, mode: Option<u32>) -> Birth {
        Birth { at: op.at, how, mode, caller: op.caller, number: NOT_EMITTED }
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
    /// The directory's own name, if known then.
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
    /// Its last name is gone, but its death was not shown, and it was not seen again since.
    pub doubtful: bool,
    /// The number of its names, as far as known.
    pub nlink: Option<u32>,
    /// Time of the last change of its names: attributes requested earlier may be older.
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
    /// The part of this while it was young.
    pub early: Early,
    /// Whether loss may have touched it.
    pub touch: Touch,
}

impl FileLife {
    /// Returns a life first seen at a time, otherwise unknown.
    pub fn new(at: i64) -> FileLife {
        FileLife { first_seen: at, last_seen: at, links_changed: i64::MIN, ..FileLife::default() }
    }

    /// Records an operation that named it, with the attributes in the reply.
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

    /// Records an operation that named it.
    #[inline]
    pub fn used(&mut self, op: &Operation, gaps: &Gaps) {
        self.operations += 1;
        self.last_seen = self.last_seen.max(op.at);
        self.touch.used(op, gaps);
    }

    /// Records its size at a time.
    pub fn sized(&mut self, at: i64, size: u64) {
        self.early.sized(at, Some(size));
        self.last_size = Some(size);
        self.max_size = self.max_size.max(Some(size));
    }

    /// Records a read.
    pub fn was_read(&mut self, at: i64, bytes: u64) {
        self.early.read(at);
        self.reads += 1;
        self.bytes_read = self.bytes_read.saturating_add(bytes);
    }

    /// Records a write that reached to `end`, after which `shown` was its size.
    pub fn wrote(&mut self, at: i64, bytes: u64, end: Option<u64>, shown: Option<u64>) {
        self.early.wrote(at);
        self.writes += 1;
        self.bytes_written = self.bytes_written.saturating_add(bytes);
        self.reached(at, end, shown);
    }

    /// Records that writes reached to `end`, after which `shown` was its size.
    pub fn reached(&mut self, at: i64, end: Option<u64>, shown: Option<u64>) {
        self.early.sized(at, end);
        self.max_size = self.max_size.max(end);
        if shown.is_none() {
            self.last_size = self.last_size.map(|size| size.max(end.unwrap_or(0)));
        }
    }

    /// Adds the life before its handle was known, from `at` on.
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

    /// Whether it became known only during a call that may have made it.
    pub fn appeared_during(&self, op: &Operation) -> bool {
        self.birth.is_none() && self.first_seen >= op.time
    }

    /// The heap bytes.
    pub fn memory(&self) -> usize {
        let own = |origin: &Origin| {
            let dir_name = origin.dir_name.as_ref().map_or(0, |own| shared_memory(&own.name));
            shared_memory(&origin.name) + shared_memory(&origin.dir) + dir_name
        };
        self.origin.as_ref().map_or(0, own) + self.touch.memory()
    }

    /// The clients in use.
    pub fn clients(&self) -> impl Iterator<Item = u32> + '_ {
        self.birth.map(|birth| birth.caller.client).into_iter().chain(self.touch.clients())
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
    /// Returns the life of a name first seen with an operation.
    pub fn new(op: &Operation, dir: Bytes, name: Bytes, birth: Option<Birth>) -> NameLife {
        NameLife { dir, name, birth, first_seen: op.at, last_seen: op.at }
    }

    /// The bytes, including its index entry.
    pub fn memory(&self) -> usize {
        size_of::<NameLife>() + INDEXED + bytes_memory(&self.name) + shared_memory(&self.dir)
    }

    /// Whether it became known only during a call that may have made it.
    pub fn appeared_during(&self, op: &Operation) -> bool {
        self.birth.is_none() && self.first_seen >= op.time
    }
}

/// A file with its names. Its handle may be unknown: the reply to a create need not have it (RFC
/// 1813 section 3.3.8), and a file renamed before any lookup has shown none.
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
    /// The handles used by data servers.
    pub data: Vec<DataHandle>,
}

/// A handle by which data servers of pNFS know a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DataHandle {
    /// The handle.
    pub handle: Bytes,
    /// The writes to it that count as the file's.
    pub writes: Writes,
    /// Whether offsets on the data server equal those in the file.
    pub sparse: bool,
}

impl DataHandle {
    /// The bytes, including its index entry.
    pub fn memory(&self) -> usize {
        size_of::<DataHandle>() + INDEXED + bytes_memory(&self.handle)
    }
}

/// The writes to a data-server handle that count: a client writes to every mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Writes {
    /// All.
    All,
    /// None: this mirror is not the first.
    None,
    /// Those to the first server that got a write: several mirrors share this handle.
    OneServer(Option<u32>),
}

impl Writes {
    /// Whether a write on that server counts.
    pub fn count(&mut self, server: u32) -> bool {
        match self {
            Writes::All => true,
            Writes::None => false,
            Writes::OneServer(first) => *first.get_or_insert(server) == server,
        }
    }
}

impl Inode {
    /// Returns a file known by its handle at most.
    pub fn new(op: &Operation, handle: Option<Bytes>) -> Inode {
        let (life, names) = (FileLife::new(op.at), Vec::with_capacity(1));
        Inode { server: op.server, handle, life, names, data: Vec::new() }
    }

    /// The bytes, including its index entries.
    pub fn memory(&self) -> usize {
        let handle = self.handle.as_deref().map_or(0, bytes_memory);
        let names: usize = self.names.iter().map(NameLife::memory).sum();
        let data: usize = self.data.iter().map(DataHandle::memory).sum();
        size_of::<Inode>() + INDEXED + handle + self.life.memory() + names + data
    }

    /// The server and the clients in use.
    pub fn hosts(&self) -> (u32, impl Iterator<Item = u32> + '_) {
        let named = self.names.iter().filter_map(|name| name.birth);
        (self.server, self.life.clients().chain(named.map(|birth| birth.caller.client)))
    }

    /// The number of lives it stands for.
    pub fn lives(&self) -> usize {
        1 + self.names.len() + self.data.len()
    }
}
