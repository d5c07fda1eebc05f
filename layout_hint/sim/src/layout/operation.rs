//! An operation of a rewritten trace, as a run needs it.

/// No object, name or create.
pub const NONE: u32 = u32::MAX;
/// No size.
pub const NO_SIZE: u64 = u64::MAX;

/// The procedures that a build has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// Of one object, of which the inode is looked at: getattr, access, and those of the whole
    /// file system.
    Getattr,
    /// See RFC 1813.
    Setattr,
    /// See RFC 1813.
    Lookup,
    /// See RFC 1813.
    Readlink,
    /// See RFC 1813.
    Read,
    /// See RFC 1813.
    Write,
    /// See RFC 1813.
    Create,
    /// See RFC 1813.
    Mkdir,
    /// See RFC 1813.
    Symlink,
    /// See RFC 1813.
    Mknod,
    /// See RFC 1813.
    Remove,
    /// See RFC 1813.
    Rmdir,
    /// See RFC 1813.
    Rename,
    /// See RFC 1813.
    Link,
    /// See RFC 1813.
    Readdir,
    /// See RFC 1813.
    Readdirplus,
    /// See RFC 1813.
    Commit,
}

impl Procedure {
    /// That of a word of the operations table.
    pub fn of(word: &str) -> Option<Procedure> {
        Some(match word {
            "getattr" | "access" | "fsstat" | "fsinfo" | "pathconf" => Procedure::Getattr,
            "setattr" => Procedure::Setattr,
            "lookup" => Procedure::Lookup,
            "readlink" => Procedure::Readlink,
            "read" => Procedure::Read,
            "write" => Procedure::Write,
            "create" => Procedure::Create,
            "mkdir" => Procedure::Mkdir,
            "symlink" => Procedure::Symlink,
            "mknod" => Procedure::Mknod,
            "remove" => Procedure::Remove,
            "rmdir" => Procedure::Rmdir,
            "rename" => Procedure::Rename,
            "link" => Procedure::Link,
            "readdir" => Procedure::Readdir,
            "readdirplus" => Procedure::Readdirplus,
            "commit" => Procedure::Commit,
            _ => return None,
        })
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Procedure::Getattr => "getattr",
            Procedure::Setattr => "setattr",
            Procedure::Lookup => "lookup",
            Procedure::Readlink => "readlink",
            Procedure::Read => "read",
            Procedure::Write => "write",
            Procedure::Create => "create",
            Procedure::Mkdir => "mkdir",
            Procedure::Symlink => "symlink",
            Procedure::Mknod => "mknod",
            Procedure::Remove => "remove",
            Procedure::Rmdir => "rmdir",
            Procedure::Rename => "rename",
            Procedure::Link => "link",
            Procedure::Readdir => "readdir",
            Procedure::Readdirplus => "readdirplus",
            Procedure::Commit => "commit",
        }
    }

    /// Whether it has a name.
    pub fn is_named(self) -> bool {
        use Procedure::*;
        matches!(self, Lookup | Create | Mkdir | Symlink | Mknod | Remove | Rmdir | Rename | Link)
    }

    /// Whether it makes an object.
    pub fn makes(self) -> bool {
        matches!(self, Procedure::Create | Procedure::Mkdir | Procedure::Symlink | Procedure::Mknod)
    }
}

/// An operation. Objects and names are numbers of the trace's.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Microseconds.
    pub time: i64,
    /// Where to read or write; setattr and create: the size to set; symlink: the target's bytes;
    /// readdir: the cookie.
    pub offset: u64,
    /// What is done.
    pub procedure: Procedure,
    /// Whether it fails.
    pub failed: bool,
    /// The object, or the directory of the name.
    pub object: u32,
    /// The name.
    pub name: u32,
    /// The object made; rename and link: the other directory.
    pub second: u32,
    /// Bytes; rename: the new name; what makes an object: its place among the creates.
    pub other: u32,
}
