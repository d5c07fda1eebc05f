//! An operation of a rewritten trace.

use serde::de::value::{Error, StrDeserializer};
use serde::de::IntoDeserializer;
use serde::Deserialize;

/// No object, name or create.
pub const NONE: u32 = u32::MAX;
/// No size.
pub const NO_SIZE: u64 = u64::MAX;

/// The procedures of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Procedure {
    /// Accesses one inode: getattr, access, and procedures on the whole file system.
    #[serde(alias = "access", alias = "fsstat", alias = "fsinfo", alias = "pathconf")]
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
        let word: StrDeserializer<Error> = word.into_deserializer();
        Procedure::deserialize(word).ok()
    }

    /// Its word.
    pub fn word(self) -> String {
        format!("{self:?}").to_lowercase()
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
    /// The procedure.
    pub procedure: Procedure,
    /// Whether it fails.
    pub failed: bool,
    /// The object, or the directory of the name.
    pub object: u32,
    /// The name.
    pub name: u32,
    /// The object made; rename and link: the other directory.
    pub second: u32,
    /// Bytes; rename: the new name; a procedure that makes an object: its index among the creates.
    pub other: u32,
}
