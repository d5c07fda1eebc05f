//! The operations table: one row per NFS call with its reply (`docs/tables.md`).
//!
//! The table is defined once, here, as [`Column`]s. Decoders name a column and a value; batches
//! turn them into Arrow arrays. Meanings and units are documented in `data/schema.py`, and a test
//! compares the two.

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use std::sync::Arc;

impl Column {
    /// Its storage type.
    #[inline]
    pub fn kind(self) -> Kind {
        COLUMNS[self as usize].2
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
    ($(#[$meta:meta])* $name:ident, $table:ident: $($variant:ident $text:literal $kind:ident $($required:ident)?,)+) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        #[allow(missing_docs)] // data/schema.py says what each one means
        pub enum $name { $($variant,)+ }

        /// Name, kind and whether the column is never null, in the order of the enum.
        pub const $table: &[($name, &str, Kind, bool)] =
            &[$(($name::$variant, $text, Kind::$kind, columns!(@required $($required)?)),)+];
    };
    (@required required) => { true };
    (@required) => { false };
}

columns! {
    /// A column of the operations table. `Entries` and `Gids`, which are lists, stand apart.
    Column, COLUMNS:
    Time "time" Time required,
    ReplyTime "reply_time" Time,
    Server "server" Word required,
    ServerPort "server_port" U16 required,
    Client "client" Word required,
    ClientPort "client_port" U16 required,
    Transport "transport" Word required,
    Version "version" U8 required,
    Xid "xid" U32 required,
    Op "op" Word required,
    Status "status" U32,
    Retransmits "retransmits" U32 required,
    DuplicateReplies "duplicate_replies" U32 required,
    Short "short" Bool required,
    // the caller (AUTH_UNIX)
    Uid "uid" U32,
    Gid "gid" U32,
    Machine "machine" Bytes,
    // the call
    Fh "fh" Bytes,
    Name "name" Bytes,
    Fh2 "fh2" Bytes,
    Name2 "name2" Bytes,
    NewFh "new_fh" Bytes,
    Offset "offset" U64,
    Count "count" U32,
    BeginOffset "begin_offset" U32,
    TotalCount "total_count" U32,
    MaxCount "max_count" U32,
    Cookie "cookie" U64,
    CookieVerifier "cookie_verifier" Bytes,
    Stable "stable" U8,
    How "how" U8,
    CreateVerifier "create_verifier" Bytes,
    Access "access" U32,
    Target "target" Bytes,
    GuardCtime "guard_ctime" Time,
    SetFtype "set_ftype" U8,
    SetRdevMajor "set_rdev_major" U32,
    SetRdevMinor "set_rdev_minor" U32,
    SetMode "set_mode" U32,
    SetOwner "set_owner" U32,
    SetGroup "set_group" U32,
    SetSize "set_size" U64,
    SetAtime "set_atime" Time,
    SetAtimeHow "set_atime_how" U8,
    SetMtime "set_mtime" Time,
    SetMtimeHow "set_mtime_how" U8,
    // the reply: results
    ReplyCount "reply_count" U32,
    Eof "eof" Bool,
    ReplyStable "reply_stable" U8,
    ReplyVerifier "reply_verifier" Bytes,
    ReplyAccess "reply_access" U32,
    // the reply: attributes of the object (new_fh where there is one, else fh)
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
    Fileid "fileid" U64,
    Atime "atime" Time,
    Mtime "mtime" Time,
    Ctime "ctime" Time,
    Blksize "blksize" U32,
    Blocks "blocks" U32,
    PreSize "pre_size" U64,
    PreMtime "pre_mtime" Time,
    PreCtime "pre_ctime" Time,
    // the reply: attributes of the directory (the one of name)
    DirFtype "dir_ftype" U8,
    DirMode "dir_mode" U32,
    DirNlink "dir_nlink" U32,
    DirOwner "dir_owner" U32,
    DirGroup "dir_group" U32,
    DirSize "dir_size" U64,
    DirUsed "dir_used" U64,
    DirRdevMajor "dir_rdev_major" U32,
    DirRdevMinor "dir_rdev_minor" U32,
    DirFsid "dir_fsid" U64,
    DirFileid "dir_fileid" U64,
    DirAtime "dir_atime" Time,
    DirMtime "dir_mtime" Time,
    DirCtime "dir_ctime" Time,
    DirBlksize "dir_blksize" U32,
    DirBlocks "dir_blocks" U32,
    DirPreSize "dir_pre_size" U64,
    DirPreMtime "dir_pre_mtime" Time,
    DirPreCtime "dir_pre_ctime" Time,
    // the reply: attributes of the second directory (the one of name2, in rename)
    Dir2Ftype "dir2_ftype" U8,
    Dir2Mode "dir2_mode" U32,
    Dir2Nlink "dir2_nlink" U32,
    Dir2Owner "dir2_owner" U32,
    Dir2Group "dir2_group" U32,
    Dir2Size "dir2_size" U64,
    Dir2Used "dir2_used" U64,
    Dir2RdevMajor "dir2_rdev_major" U32,
    Dir2RdevMinor "dir2_rdev_minor" U32,
    Dir2Fsid "dir2_fsid" U64,
    Dir2Fileid "dir2_fileid" U64,
    Dir2Atime "dir2_atime" Time,
    Dir2Mtime "dir2_mtime" Time,
    Dir2Ctime "dir2_ctime" Time,
    Dir2Blksize "dir2_blksize" U32,
    Dir2Blocks "dir2_blocks" U32,
    Dir2PreSize "dir2_pre_size" U64,
    Dir2PreMtime "dir2_pre_mtime" Time,
    Dir2PreCtime "dir2_pre_ctime" Time,
    // the reply: the file system (fsstat, fsinfo, pathconf; statfs of v2)
    FsTotalBytes "fs_total_bytes" U64,
    FsFreeBytes "fs_free_bytes" U64,
    FsAvailableBytes "fs_available_bytes" U64,
    FsTotalFiles "fs_total_files" U64,
    FsFreeFiles "fs_free_files" U64,
    FsAvailableFiles "fs_available_files" U64,
    FsInvariantSeconds "fs_invariant_seconds" U32,
    FsTransferSize "fs_transfer_size" U32,
    FsBlockSize "fs_block_size" U32,
    FsBlocks "fs_blocks" U32,
    FsFreeBlocks "fs_free_blocks" U32,
    FsAvailableBlocks "fs_available_blocks" U32,
    FsReadMax "fs_read_max" U32,
    FsReadPreferred "fs_read_preferred" U32,
    FsReadMultiple "fs_read_multiple" U32,
    FsWriteMax "fs_write_max" U32,
    FsWritePreferred "fs_write_preferred" U32,
    FsWriteMultiple "fs_write_multiple" U32,
    FsReaddirPreferred "fs_readdir_preferred" U32,
    FsMaxFileSize "fs_max_file_size" U64,
    FsTimeDelta "fs_time_delta" U64,
    FsProperties "fs_properties" U32,
    FsLinkMax "fs_link_max" U32,
    FsNameMax "fs_name_max" U32,
    FsNoTrunc "fs_no_trunc" Bool,
    FsChownRestricted "fs_chown_restricted" Bool,
    FsCaseInsensitive "fs_case_insensitive" Bool,
    FsCasePreserving "fs_case_preserving" Bool,
    // v2 traces: the word that stands where a status should be
    RawStatus "raw_status" U32,
    // version 4: the compound and the operation in it
    MinorVersion "minor_version" U32,
    CompoundIndex "compound_index" U32,
    CompoundStatus "compound_status" U32,
    Opcode "opcode" U32,
    Tag "tag" Bytes,
    // version 4: clients, sessions and state
    ClientId "client_id" U64,
    StateOwner "state_owner" Bytes,
    Session "session" Bytes,
    SlotNumber "slot" U32,
    Sequence "sequence" U32,
    Stateid "stateid" Bytes,
    ReplyStateid "reply_stateid" Bytes,
    OpenClaim "open_claim" U8,
    ShareAccess "share_access" U32,
    ShareDeny "share_deny" U32,
    OpenFlags "open_flags" U32,
    Delegation "delegation" U8,
    LockType "lock_type" U32,
    LayoutType "layout_type" U32,
    LayoutMode "layout_mode" U32,
    StripeUnit "stripe_unit" U64,
    LastOffset "last_offset" U64,
    // version 4: ranges that version 3 does not have
    Length "length" U64,
    Offset2 "offset2" U64,
    ReplyOffset "reply_offset" U64,
    ReplyLength "reply_length" U64,
    // version 4: attributes that version 3 does not have
    AskedAttributes "asked_attributes" Bytes,
    AttributesSet "attributes_set" Bytes,
    SetUmask "set_umask" U32,
    SetOwnerName "set_owner_name" Bytes,
    SetGroupName "set_group_name" Bytes,
    OwnerName "owner_name" Bytes,
    GroupName "group_name" Bytes,
    FsidMinor "fsid_minor" U64,
    MountedFileid "mounted_fileid" U64,
    Btime "btime" Time,
    Change "change" U64,
    DirChangeAtomic "dir_change_atomic" Bool,
    DirPreChange "dir_pre_change" U64,
    DirChange "dir_change" U64,
    Dir2ChangeAtomic "dir2_change_atomic" Bool,
    Dir2PreChange "dir2_pre_change" U64,
    Dir2Change "dir2_change" U64,
    Xattr "xattr" Bytes,
    FsLeaseTime "fs_lease_time" U32,
    // nfsdump text: how the two lines were printed
    CallForm "call_form" U16,
    CallCon "call_con" U32,
    CallLen "call_len" U32,
    CallText "call_text" Bytes,
    ReplyForm "reply_form" U16,
    ReplyCon "reply_con" U32,
    ReplyLen "reply_len" U32,
    ReplyText "reply_text" Bytes,
}

columns! {
    /// A field of one directory entry in a readdir or readdirplus reply.
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
    ENTRY_COLUMNS
        .iter()
        .map(|(_, name, kind, required)| Field::new(*name, kind.data_type(), !required))
        .collect()
}

/// The Arrow field that holds an entry in the `entries` list.
pub fn entry_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Struct(entry_fields()), false))
}

/// The Arrow field that holds a group in the `gids` list.
pub fn gid_item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::UInt32, false))
}

/// The Arrow schema of the operations table.
pub fn operations() -> Arc<Schema> {
    let mut fields: Vec<Field> = COLUMNS
        .iter()
        .map(|(_, name, kind, required)| Field::new(*name, kind.data_type(), !required))
        .collect();
    fields.push(Field::new("gids", DataType::List(gid_item()), true));
    fields.push(Field::new("entries", DataType::List(entry_item()), true));
    Arc::new(Schema::new(fields))
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
