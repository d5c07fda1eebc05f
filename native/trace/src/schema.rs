//! The operations table: one row per NFS call with its reply (`docs/tables.md`).
//!
//! The table is declared once, here, as [`Column`]s, with meanings and units, which Python and the
//! documentation show. Decoders name a column and a value; batches turn them into Arrow arrays. A
//! value that the trace did not show is null, never a guess.

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

impl Column {
    /// Its storage type.
    #[inline]
    pub fn kind(self) -> Kind {
        COLUMNS[self as usize].kind
    }
}

/// The storage type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Boolean.
    Bool,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// Microseconds since the epoch, UTC; the value is an `i64` carried as `u64`.
    Time,
    /// Bytes of any content.
    Bytes,
    /// A word of a small vocabulary, dictionary-encoded; the value is its code.
    Word,
}

impl Kind {
    /// The Arrow type that a column of this kind has.
    pub fn data_type(self) -> DataType {
        match self {
            Kind::Bool => DataType::Boolean,
            Kind::U8 => DataType::UInt8,
            Kind::U16 => DataType::UInt16,
            Kind::U32 => DataType::UInt32,
            Kind::U64 => DataType::UInt64,
            Kind::Time => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Kind::Bytes => DataType::Binary,
            Kind::Word => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        }
    }
}

macro_rules! columns {
    ($(#[$meta:meta])* $name:ident, $table:ident:
        $($(#[doc = $doc:literal])* $variant:ident $text:literal $kind:ident $($required:ident)?,)+
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name { $($(#[doc = $doc])* $variant,)+ }

        impl $name {
            /// All of them, in order.
            pub const ALL: &[$name] = &[$($name::$variant),+];
        }

        /// What is declared of each, in the same order.
        pub const $table: &[Declared] = &[$(Declared {
            name: $text,
            kind: Kind::$kind,
            required: columns!(@required $($required)?),
            doc: concat!($($doc),*),
        }),+];
    };
    (@required required) => { true };
    (@required) => { false };
}

/// What is declared of a column.
pub struct Declared {
    /// Its name.
    pub name: &'static str,
    /// Its storage type.
    pub kind: Kind,
    /// Whether it is never null.
    pub required: bool,
    /// Its meaning and unit, after a space.
    pub doc: &'static str,
}

impl Declared {
    /// Its Arrow field, with the meaning in the metadata under `doc`, if there is one.
    fn field(&self) -> Field {
        documented(Field::new(self.name, self.kind.data_type(), !self.required), self.doc)
    }
}

fn documented(field: Field, doc: &str) -> Field {
    match doc.trim() {
        "" => field,
        doc => field.with_metadata(HashMap::from([("doc".to_owned(), doc.to_owned())])),
    }
}

columns! {
    /// A column of the operations table. `Entries` and `Gids`, which are lists, stand apart.
    Column, COLUMNS:
    /// time of the call
    Time "time" Time required,
    /// time of the reply; null: none was seen
    ReplyTime "reply_time" Time,
    /// the server, as the trace writes it: an address, or the number that stands for one
    Server "server" Word required,
    /// its port
    ServerPort "server_port" U16 required,
    /// the client, written likewise
    Client "client" Word required,
    /// its port
    ClientPort "client_port" U16 required,
    /// udp or tcp
    Transport "transport" Word required,
    /// version of NFS: 2, 3 or 4
    Version "version" U8 required,
    /// RPC transaction id; from nfsdump text as it is printed there
    Xid "xid" U32 required,
    /// the procedure, or in v4 the operation: v3's name in lower case, readdirplus in full; v2 and
    /// v4 mapped to it where they mean the same
    Op "op" Word required,
    /// NFS status of the reply, 0: OK; null: none seen; 65536 and more: refused by RPC
    Status "status" U32,
    /// how often the call was sent again
    Retransmits "retransmits" U32 required,
    /// how often the reply was sent again
    DuplicateReplies "duplicate_replies" U32 required,
    /// whether the call or the reply was cut, damaged or encrypted, so that fields may be missing
    Short "short" Bool required,
    // the caller (AUTH_UNIX)
    /// the caller's effective user (AUTH_UNIX)
    Uid "uid" U32,
    /// the caller's effective group (AUTH_UNIX)
    Gid "gid" U32,
    /// the caller's machine name (AUTH_UNIX)
    Machine "machine" Bytes,
    // the call
    /// handle of the file, or of the directory of name
    Fh "fh" Bytes,
    /// the name in that directory
    Name "name" Bytes,
    /// second handle: the directory of name2; in link the directory of name; in copy and clone the
    /// source
    Fh2 "fh2" Bytes,
    /// the second name, in rename
    Name2 "name2" Bytes,
    /// handle of the object found or made
    NewFh "new_fh" Bytes,
    /// first byte to read, write or commit
    Offset "offset" U64,
    /// bytes asked for; in readdirplus bytes of names (dircount)
    Count "count" U32,
    /// v2 write: beginoffset
    BeginOffset "begin_offset" U32,
    /// v2 read and write: totalcount
    TotalCount "total_count" U32,
    /// readdirplus: bytes of reply allowed
    MaxCount "max_count" U32,
    /// readdir: where to go on
    Cookie "cookie" U64,
    /// readdir: verifier of the cookie, in the call
    CookieVerifier "cookie_verifier" Bytes,
    /// write: 0 unstable, 1 data sync, 2 file sync
    Stable "stable" U8,
    /// create, and open that creates: 0 unchecked, 1 guarded, 2 exclusive, 3 exclusive with
    /// attributes (v4.1)
    How "how" U8,
    /// exclusive create: verifier
    CreateVerifier "create_verifier" Bytes,
    /// access: bits asked for (1 read, 2 lookup, 4 modify, 8 extend, 16 delete, 32 execute)
    Access "access" U32,
    /// symlink: the path it holds; readlink: the path returned
    Target "target" Bytes,
    /// setattr: only if this is the change time
    GuardCtime "guard_ctime" Time,
    /// mknod, and in v4 mkdir and symlink: file type, as ftype
    SetFtype "set_ftype" U8,
    /// mknod: major device number
    SetRdevMajor "set_rdev_major" U32,
    /// mknod: minor device number
    SetRdevMinor "set_rdev_minor" U32,
    /// mode that the call sets; exclusive create carries none
    SetMode "set_mode" U32,
    /// owner that the call sets
    SetOwner "set_owner" U32,
    /// group that the call sets
    SetGroup "set_group" U32,
    /// size that the call sets, bytes
    SetSize "set_size" U64,
    /// access time that the call sets
    SetAtime "set_atime" Time,
    /// 1: to the server's time, 2: to set_atime; null: not set
    SetAtimeHow "set_atime_how" U8,
    /// modification time that the call sets
    SetMtime "set_mtime" Time,
    /// 1: to the server's time, 2: to set_mtime; null: not set
    SetMtimeHow "set_mtime_how" U8,
    // the reply: results
    /// bytes read or written
    ReplyCount "reply_count" U32,
    /// read, readdir: whether the end was reached
    Eof "eof" Bool,
    /// write: how it was committed, as stable
    ReplyStable "reply_stable" U8,
    /// write, commit, readdir: verifier in the reply
    ReplyVerifier "reply_verifier" Bytes,
    /// access: bits granted
    ReplyAccess "reply_access" U32,
    // the reply: attributes of the object (new_fh where there is one, else fh)
    /// 1 file, 2 directory, 3 block, 4 character, 5 symlink, 6 socket, 7 fifo; v4: 8 directory of
    /// named attributes, 9 named attribute
    Ftype "ftype" U8,
    /// mode bits
    Mode "mode" U32,
    /// links
    Nlink "nlink" U32,
    /// owner
    Owner "owner" U32,
    /// group
    Group "group" U32,
    /// size, bytes
    Size "size" U64,
    /// space used, bytes
    Used "used" U64,
    /// device: major number (v2: rdev)
    RdevMajor "rdev_major" U32,
    /// device: minor number
    RdevMinor "rdev_minor" U32,
    /// file system id
    Fsid "fsid" U64,
    /// inode number
    Fileid "fileid" U64,
    /// access time
    Atime "atime" Time,
    /// modification time
    Mtime "mtime" Time,
    /// change time
    Ctime "ctime" Time,
    /// v2: block size, bytes
    Blksize "blksize" U32,
    /// v2: blocks of 512 bytes
    Blocks "blocks" U32,
    /// size before, bytes
    PreSize "pre_size" U64,
    /// modification time before
    PreMtime "pre_mtime" Time,
    /// change time before
    PreCtime "pre_ctime" Time,
    // the reply: attributes of the directory (the one of name)
    /// the directory of name: 1 file, 2 directory, 3 block, 4 character, 5 symlink, 6 socket, 7
    /// fifo; v4: 8 directory of named attributes, 9 named attribute
    DirFtype "dir_ftype" U8,
    /// the directory of name: mode bits
    DirMode "dir_mode" U32,
    /// the directory of name: links
    DirNlink "dir_nlink" U32,
    /// the directory of name: owner
    DirOwner "dir_owner" U32,
    /// the directory of name: group
    DirGroup "dir_group" U32,
    /// the directory of name: size, bytes
    DirSize "dir_size" U64,
    /// the directory of name: space used, bytes
    DirUsed "dir_used" U64,
    /// the directory of name: device: major number (v2: rdev)
    DirRdevMajor "dir_rdev_major" U32,
    /// the directory of name: device: minor number
    DirRdevMinor "dir_rdev_minor" U32,
    /// the directory of name: file system id
    DirFsid "dir_fsid" U64,
    /// the directory of name: inode number
    DirFileid "dir_fileid" U64,
    /// the directory of name: access time
    DirAtime "dir_atime" Time,
    /// the directory of name: modification time
    DirMtime "dir_mtime" Time,
    /// the directory of name: change time
    DirCtime "dir_ctime" Time,
    /// the directory of name: v2: block size, bytes
    DirBlksize "dir_blksize" U32,
    /// the directory of name: v2: blocks of 512 bytes
    DirBlocks "dir_blocks" U32,
    /// the directory of name: size before, bytes
    DirPreSize "dir_pre_size" U64,
    /// the directory of name: modification time before
    DirPreMtime "dir_pre_mtime" Time,
    /// the directory of name: change time before
    DirPreCtime "dir_pre_ctime" Time,
    // the reply: attributes of the second directory (the one of name2, in rename)
    /// the directory of name2: 1 file, 2 directory, 3 block, 4 character, 5 symlink, 6 socket, 7
    /// fifo; v4: 8 directory of named attributes, 9 named attribute
    Dir2Ftype "dir2_ftype" U8,
    /// the directory of name2: mode bits
    Dir2Mode "dir2_mode" U32,
    /// the directory of name2: links
    Dir2Nlink "dir2_nlink" U32,
    /// the directory of name2: owner
    Dir2Owner "dir2_owner" U32,
    /// the directory of name2: group
    Dir2Group "dir2_group" U32,
    /// the directory of name2: size, bytes
    Dir2Size "dir2_size" U64,
    /// the directory of name2: space used, bytes
    Dir2Used "dir2_used" U64,
    /// the directory of name2: device: major number (v2: rdev)
    Dir2RdevMajor "dir2_rdev_major" U32,
    /// the directory of name2: device: minor number
    Dir2RdevMinor "dir2_rdev_minor" U32,
    /// the directory of name2: file system id
    Dir2Fsid "dir2_fsid" U64,
    /// the directory of name2: inode number
    Dir2Fileid "dir2_fileid" U64,
    /// the directory of name2: access time
    Dir2Atime "dir2_atime" Time,
    /// the directory of name2: modification time
    Dir2Mtime "dir2_mtime" Time,
    /// the directory of name2: change time
    Dir2Ctime "dir2_ctime" Time,
    /// the directory of name2: v2: block size, bytes
    Dir2Blksize "dir2_blksize" U32,
    /// the directory of name2: v2: blocks of 512 bytes
    Dir2Blocks "dir2_blocks" U32,
    /// the directory of name2: size before, bytes
    Dir2PreSize "dir2_pre_size" U64,
    /// the directory of name2: modification time before
    Dir2PreMtime "dir2_pre_mtime" Time,
    /// the directory of name2: change time before
    Dir2PreCtime "dir2_pre_ctime" Time,
    // the reply: the file system (fsstat, fsinfo, pathconf; statfs of v2)
    /// fsstat: tbytes
    FsTotalBytes "fs_total_bytes" U64,
    /// fsstat: fbytes
    FsFreeBytes "fs_free_bytes" U64,
    /// fsstat: abytes
    FsAvailableBytes "fs_available_bytes" U64,
    /// fsstat: tfiles
    FsTotalFiles "fs_total_files" U64,
    /// fsstat: ffiles
    FsFreeFiles "fs_free_files" U64,
    /// fsstat: afiles
    FsAvailableFiles "fs_available_files" U64,
    /// fsstat: invarsec, seconds
    FsInvariantSeconds "fs_invariant_seconds" U32,
    /// v2 statfs: tsize, bytes
    FsTransferSize "fs_transfer_size" U32,
    /// v2 statfs: bsize, bytes
    FsBlockSize "fs_block_size" U32,
    /// v2 statfs: blocks
    FsBlocks "fs_blocks" U32,
    /// v2 statfs: bfree
    FsFreeBlocks "fs_free_blocks" U32,
    /// v2 statfs: bavail
    FsAvailableBlocks "fs_available_blocks" U32,
    /// fsinfo: rtmax, bytes
    FsReadMax "fs_read_max" U32,
    /// fsinfo: rtpref, bytes
    FsReadPreferred "fs_read_preferred" U32,
    /// fsinfo: rtmult, bytes
    FsReadMultiple "fs_read_multiple" U32,
    /// fsinfo: wtmax, bytes
    FsWriteMax "fs_write_max" U32,
    /// fsinfo: wtpref, bytes
    FsWritePreferred "fs_write_preferred" U32,
    /// fsinfo: wtmult, bytes
    FsWriteMultiple "fs_write_multiple" U32,
    /// fsinfo: dtpref, bytes
    FsReaddirPreferred "fs_readdir_preferred" U32,
    /// fsinfo: maxfilesize, bytes
    FsMaxFileSize "fs_max_file_size" U64,
    /// fsinfo: time_delta, nanoseconds
    FsTimeDelta "fs_time_delta" U64,
    /// fsinfo: properties, bits
    FsProperties "fs_properties" U32,
    /// pathconf: linkmax
    FsLinkMax "fs_link_max" U32,
    /// pathconf: name_max, bytes
    FsNameMax "fs_name_max" U32,
    /// pathconf: no_trunc
    FsNoTrunc "fs_no_trunc" Bool,
    /// pathconf: chown_restricted
    FsChownRestricted "fs_chown_restricted" Bool,
    /// pathconf: case_insensitive
    FsCaseInsensitive "fs_case_insensitive" Bool,
    /// pathconf: case_preserving
    FsCasePreserving "fs_case_preserving" Bool,
    // v2 traces: the word that stands where a status should be
    /// v2 text: the word printed as nfsstat, where it is no status
    RawStatus "raw_status" U32,
    // version 4: the compound and the operation in it
    /// v4: minor version
    MinorVersion "minor_version" U32,
    /// v4: the operation's place in its compound, from 0
    CompoundIndex "compound_index" U32,
    /// v4: status of the whole compound
    CompoundStatus "compound_status" U32,
    /// v4: the operation's number; null: a compound not taken apart
    Opcode "opcode" U32,
    /// v4: the compound's tag; null: empty
    Tag "tag" Bytes,
    // version 4: clients, sessions and state
    /// v4: the client, as the server numbers it
    ClientId "client_id" U64,
    /// v4: open or lock owner, or the client's own id
    StateOwner "state_owner" Bytes,
    /// v4.1: session
    Session "session" Bytes,
    /// v4.1 sequence: slot of the session
    SlotNumber "slot" U32,
    /// v4: sequence number of the owner, session or slot
    Sequence "sequence" U32,
    /// v4: state that the call names; copy, clone: the target's
    Stateid "stateid" Bytes,
    /// v4: state that the reply gives
    ReplyStateid "reply_stateid" Bytes,
    /// v4 open: 0 by name, 1 reclaimed, 2 and 3 by name with a delegation, 4 by handle, 5 and 6 by
    /// handle with a delegation
    OpenClaim "open_claim" U8,
    /// v4 open: 1 read, 2 write, 3 both; higher bits as sent
    ShareAccess "share_access" U32,
    /// v4 open: what others may not, as share_access
    ShareDeny "share_deny" U32,
    /// v4 open: flags in the reply (2: confirm, 4: Posix locks)
    OpenFlags "open_flags" U32,
    /// v4 open: delegation given, 0 none, 1 read, 2 write, 3 none with a reason
    Delegation "delegation" U8,
    /// v4 lock: 1 read, 2 write; 3 and 4 the same, waiting
    LockType "lock_type" U32,
    /// v4.1 layouts: kind of layout or device
    LayoutType "layout_type" U32,
    /// v4.1 layouts: 1 read, 2 read and write, 3 any
    LayoutMode "layout_mode" U32,
    /// v4.1 layoutget: bytes of a stripe; of a file layout with flags in its lowest six bits (1
    /// dense, 2 commit through the metadata server)
    StripeUnit "stripe_unit" U64,
    /// v4.1 layoutcommit: last byte written
    LastOffset "last_offset" U64,
    // version 4: ranges that version 3 does not have
    /// v4: bytes from offset on that are locked, copied, allocated, …
    Length "length" U64,
    /// v4.2 copy, clone: first byte of the source
    Offset2 "offset2" U64,
    /// v4: offset in the reply of seek or layoutget
    ReplyOffset "reply_offset" U64,
    /// v4: bytes copied or written over, or of the layout given
    ReplyLength "reply_length" U64,
    // version 4: attributes that version 3 does not have
    /// v4: bit map of attributes asked for, words of 4 bytes
    AskedAttributes "asked_attributes" Bytes,
    /// v4: bit map of attributes that the reply says were set
    AttributesSet "attributes_set" Bytes,
    /// v4.2: umask to apply to set_mode
    SetUmask "set_umask" U32,
    /// v4: owner that the call sets, where it is no number
    SetOwnerName "set_owner_name" Bytes,
    /// v4: group that the call sets, where it is no number
    SetGroupName "set_group_name" Bytes,
    /// v4: owner, where it is no number: user@domain
    OwnerName "owner_name" Bytes,
    /// v4: group, where it is no number
    GroupName "group_name" Bytes,
    /// v4: file system id, second half
    FsidMinor "fsid_minor" U64,
    /// v4: inode number of the directory mounted on
    MountedFileid "mounted_fileid" U64,
    /// v4: time of creation
    Btime "btime" Time,
    /// v4: the object's change attribute
    Change "change" U64,
    /// v4: whether the two that follow enclose only this
    DirChangeAtomic "dir_change_atomic" Bool,
    /// v4: the directory of name: change attribute before
    DirPreChange "dir_pre_change" U64,
    /// v4: the directory of name: change attribute after
    DirChange "dir_change" U64,
    /// v4: as dir_change_atomic
    Dir2ChangeAtomic "dir2_change_atomic" Bool,
    /// v4: the directory of name2: change attribute before
    Dir2PreChange "dir2_pre_change" U64,
    /// v4: the directory of name2: change attribute after
    Dir2Change "dir2_change" U64,
    /// v4.2: name of an extended attribute
    Xattr "xattr" Bytes,
    /// v4: lease time, seconds
    FsLeaseTime "fs_lease_time" U32,
    // nfsdump text: how the two lines were printed
    /// text: how the call's line was printed, as bits (native/trace/src/form.rs)
    CallForm "call_form" U16,
    /// text: the number con at the end of the call
    CallCon "call_con" U32,
    /// text: the number len at the end of the call
    CallLen "call_len" U32,
    /// text: the call's line itself, where the other columns do not give it
    CallText "call_text" Bytes,
    /// text: how the reply's line was printed, as bits (native/trace/src/form.rs)
    ReplyForm "reply_form" U16,
    /// text: the number con at the end of the reply
    ReplyCon "reply_con" U32,
    /// text: the number len at the end of the reply
    ReplyLen "reply_len" U32,
    /// text: the reply's line itself, where the other columns do not give it
    ReplyText "reply_text" Bytes,
}

columns! {
    /// A field of one directory entry in a readdir or readdirplus reply; its name is as in the
    /// operations table.
    #[allow(missing_docs)]
    EntryColumn, ENTRY_COLUMNS:
    Name "name" Bytes,
    Fileid "fileid" U64,
    Cookie "cookie" U64,
    Fh "fh" Bytes,
    Ftype "ftype" U8,
    Mode "mode" U32,
    Nlink "nlink" U32,
    Owner "owner" U32,
    Group "group" U32,
    Size "size" U64,
    Used "used" U64,
    RdevMajor "rdev_major" U32,
    RdevMinor "rdev_minor" U32,
    Fsid "fsid" U64,
    Atime "atime" Time,
    Mtime "mtime" Time,
    Ctime "ctime" Time,
}

/// The Arrow fields of one directory entry.
pub fn entry_fields() -> Fields {
    ENTRY_COLUMNS.iter().map(Declared::field).collect()
}

/// The Arrow field that holds an entry in the `entries` list.
pub fn entry_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Struct(entry_fields()), false))
}

/// The Arrow field that holds a group in the `gids` list.
pub fn gid_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::UInt32, false))
}

/// The meaning of `gids` and of `entries`.
const GIDS: &str = "the caller's further groups (AUTH_UNIX)";
const ENTRIES: &str =
    "readdir and readdirplus: the entries; layoutget: the handles of data servers, in fh, \
    each with the number of its mirror in cookie";

/// The Arrow schema of the operations table.
pub fn operations() -> Arc<Schema> {
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        let lists = [("gids", gid_item(), GIDS), ("entries", entry_item(), ENTRIES)];
        let lists = lists
            .into_iter()
            .map(|(name, item, doc)| documented(Field::new(name, DataType::List(item), true), doc));
        Arc::new(Schema::new(COLUMNS.iter().map(Declared::field).chain(lists).collect::<Vec<_>>()))
    });
    SCHEMA.clone()
}

macro_rules! ops {
    ($($name:ident $word:literal $(v2 $v2:literal)? $(v4 $v4:literal)?,)+) => {
        /// The procedures and operations of the operations table: v3's names in lower case, v2
        /// and v4 mapped to them where they mean the same, else their own.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[allow(missing_docs)] // the words are those of RFC 1813, RFC 1094 and NFS version 4's
        pub enum Op { $($name,)+ }

        /// The words of the `op` column, in the order of [`Op`].
        pub const OPS: [&str; Op::ALL.len()] = [$($word,)+];

        impl Op {
            /// All of them, in order.
            pub const ALL: &[Op] = &[$(Op::$name,)+];

            /// The procedure of that number in NFS version 2 (RFC 1094 section 2.2).
            pub fn from_v2(procedure: u32) -> Option<Op> {
                match procedure {
                    $($($v2 => Some(Op::$name),)?)+
                    _ => None,
                }
            }

            /// The operation of that number in NFS version 4 (RFC 7531, RFC 5662, RFC 7863, RFC
            /// 8276). CREATE makes objects other than regular files: [`Op::Mknod`] stands for all
            /// of them.
            pub fn from_v4(opcode: u32) -> Option<Op> {
                match opcode {
                    $($($v4 => Some(Op::$name),)?)+
                    _ => None,
                }
            }
        }
    };
}

// Words, and numbers in versions 2 and 4. Append: the first 22 are numbered as NFS version 3's
// procedures (RFC 1813 section 3).
ops! {
    Null "null" v2 0,
    Getattr "getattr" v2 1 v4 9,
    Setattr "setattr" v2 2 v4 34,
    Lookup "lookup" v2 4 v4 15,
    Access "access" v4 3,
    Readlink "readlink" v2 5 v4 27,
    Read "read" v2 6 v4 25,
    Write "write" v2 8 v4 38,
    Create "create" v2 9,
    Mkdir "mkdir" v2 14,
    Symlink "symlink" v2 13,
    Mknod "mknod" v4 6,
    Remove "remove" v2 10 v4 28,
    Rmdir "rmdir" v2 15,
    Rename "rename" v2 11 v4 29,
    Link "link" v2 12 v4 11,
    Readdir "readdir" v2 16 v4 26,
    Readdirplus "readdirplus",
    Fsstat "fsstat" v2 17,
    Fsinfo "fsinfo",
    Pathconf "pathconf",
    Commit "commit" v4 5,
    Root "root" v2 3,
    Writecache "writecache" v2 7,
    Compound "compound",
    // NFS version 4.0 (RFC 7530 section 16)
    Close "close" v4 4,
    Delegpurge "delegpurge" v4 7,
    Delegreturn "delegreturn" v4 8,
    Getfh "getfh" v4 10,
    Lock "lock" v4 12,
    Lockt "lockt" v4 13,
    Locku "locku" v4 14,
    Lookupp "lookupp" v4 16,
    Nverify "nverify" v4 17,
    Open "open" v4 18,
    Openattr "openattr" v4 19,
    OpenConfirm "open_confirm" v4 20,
    OpenDowngrade "open_downgrade" v4 21,
    Putfh "putfh" v4 22,
    Putpubfh "putpubfh" v4 23,
    Putrootfh "putrootfh" v4 24,
    Renew "renew" v4 30,
    Restorefh "restorefh" v4 31,
    Savefh "savefh" v4 32,
    Secinfo "secinfo" v4 33,
    Setclientid "setclientid" v4 35,
    SetclientidConfirm "setclientid_confirm" v4 36,
    Verify "verify" v4 37,
    ReleaseLockowner "release_lockowner" v4 39,
    // 4.1 (RFC 8881 section 18)
    BackchannelCtl "backchannel_ctl" v4 40,
    BindConnToSession "bind_conn_to_session" v4 41,
    ExchangeId "exchange_id" v4 42,
    CreateSession "create_session" v4 43,
    DestroySession "destroy_session" v4 44,
    FreeStateid "free_stateid" v4 45,
    GetDirDelegation "get_dir_delegation" v4 46,
    Getdeviceinfo "getdeviceinfo" v4 47,
    Getdevicelist "getdevicelist" v4 48,
    Layoutcommit "layoutcommit" v4 49,
    Layoutget "layoutget" v4 50,
    Layoutreturn "layoutreturn" v4 51,
    SecinfoNoName "secinfo_no_name" v4 52,
    Sequence "sequence" v4 53,
    SetSsv "set_ssv" v4 54,
    TestStateid "test_stateid" v4 55,
    WantDelegation "want_delegation" v4 56,
    DestroyClientid "destroy_clientid" v4 57,
    ReclaimComplete "reclaim_complete" v4 58,
    // 4.2 (RFC 7862 section 15, RFC 8276)
    Allocate "allocate" v4 59,
    Copy "copy" v4 60,
    CopyNotify "copy_notify" v4 61,
    Deallocate "deallocate" v4 62,
    IoAdvise "io_advise" v4 63,
    Layouterror "layouterror" v4 64,
    Layoutstats "layoutstats" v4 65,
    OffloadCancel "offload_cancel" v4 66,
    OffloadStatus "offload_status" v4 67,
    ReadPlus "read_plus" v4 68,
    Seek "seek" v4 69,
    WriteSame "write_same" v4 70,
    Clone "clone" v4 71,
    Getxattr "getxattr" v4 72,
    Setxattr "setxattr" v4 73,
    Listxattrs "listxattrs" v4 74,
    Removexattr "removexattr" v4 75,
    // the server's answer to an unknown operation
    Illegal "illegal" v4 10_044,
}

impl Op {
    /// The word in the `op` column.
    pub fn word(self) -> &'static str {
        OPS[self as usize]
    }

    /// The one with this word.
    pub fn of(word: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.word() == word)
    }

    /// The procedure of that number in NFS version 3 (RFC 1813 section 3.3).
    pub fn from_v3(procedure: u32) -> Option<Op> {
        (procedure <= 21).then(|| Op::ALL[procedure as usize])
    }
}
