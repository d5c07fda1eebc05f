//! The contents of each attribute, by its number (RFC 7531, RFC 5662, RFC 7863; the last ones RFC
//! 8275, RFC 8276 and RFC 9754).

use super::fattr;
use super::item::{Item, Item::*};
use super::shapes::*;
use crate::schema::Column::*;

/// `pathname4`.
const PATH: Item = Many(&[SkipBytes]);

const FLAG: &[Item] = &[Skip(4)];
const WORD: &[Item] = &[Skip(4)];
const LONG: &[Item] = &[Skip(8)];
const TIME: &[Item] = &[SKIP_TIME];
const MAP: &[Item] = &[WORDS];

/// `settime4`.
const SET_TIME: &[Item] = &[Union(&[(0, &[]), (1, &[SKIP_TIME])])];

/// `fs_locations4`.
const LOCATIONS: &[Item] = &[PATH, Many(&[PATH, PATH])];

/// `fs_locations_info4`.
const LOCATIONS_INFO: &[Item] =
    &[Skip(8), PATH, Many(&[Many(&[Skip(4), SkipBytes, SkipBytes]), PATH])];

/// `nfsacl41`.
const ACL_41: &[Item] = &[Skip(4), Many(&[ACE])];

/// `fs4_status`.
const FS_STATUS: &[Item] = &[Skip(8), SkipBytes, SkipBytes, Skip(4), SKIP_TIME];

/// `retention_get4`, `retention_set4`.
const RETENTION: &[Item] = &[Skip(8), Many(&[SKIP_TIME])];
const SET_RETENTION: &[Item] = &[Skip(4), Many(&[Skip(8)])];

/// `threshold_item4<>`.
const THRESHOLD: &[Item] = &[Many(&[Skip(4), WORDS, SkipBytes])];

/// By number. Values without a column in the operations table are skipped.
const ATTRIBUTES: [&[Item]; 87] = [
    MAP,                                                       // 0 supported_attrs
    &[Other(fattr::ftype)],                                    // 1 type
    WORD,                                                      // 2 fh_expire_type
    &[Long(Change)],                                           // 3 change
    &[Long(Size)],                                             // 4 size
    FLAG,                                                      // 5 link_support
    FLAG,                                                      // 6 symlink_support
    FLAG,                                                      // 7 named_attr
    &[Long(Fsid), Long(FsidMinor)],                            // 8 fsid
    FLAG,                                                      // 9 unique_handles
    &[Word(FsLeaseTime)],                                      // 10 lease_time
    WORD,                                                      // 11 rdattr_error
    &[Many(&[ACE])],                                           // 12 acl
    WORD,                                                      // 13 aclsupport
    FLAG,                                                      // 14 archive
    FLAG,                                                      // 15 cansettime
    &[Flag(FsCaseInsensitive)],                                // 16 case_insensitive
    &[Flag(FsCasePreserving)],                                 // 17 case_preserving
    &[Flag(FsChownRestricted)],                                // 18 chown_restricted
    &[Handle(NewFh)],                                          // 19 filehandle
    &[Long(Fileid)],                                           // 20 fileid
    &[Long(FsAvailableFiles)],                                 // 21 files_avail
    &[Long(FsFreeFiles)],                                      // 22 files_free
    &[Long(FsTotalFiles)],                                     // 23 files_total
    LOCATIONS,                                                 // 24 fs_locations
    FLAG,                                                      // 25 hidden
    FLAG,                                                      // 26 homogeneous
    &[Long(FsMaxFileSize)],                                    // 27 maxfilesize
    &[Word(FsLinkMax)],                                        // 28 maxlink
    &[Word(FsNameMax)],                                        // 29 maxname
    &[Other(|x, f| fattr::transfer(x, FsReadMax, f))],         // 30 maxread
    &[Other(|x, f| fattr::transfer(x, FsWriteMax, f))],        // 31 maxwrite
    &[SkipBytes],                                              // 32 mimetype
    &[Word(Mode)],                                             // 33 mode
    &[Flag(FsNoTrunc)],                                        // 34 no_trunc
    &[Word(Nlink)],                                            // 35 numlinks
    &[Other(|x, f| fattr::principal(x, Owner, OwnerName, f))], // 36 owner
    &[Other(|x, f| fattr::principal(x, Group, GroupName, f))], // 37 owner_group
    LONG,                                                      // 38 quota_avail_hard
    LONG,                                                      // 39 quota_avail_soft
    LONG,                                                      // 40 quota_used
    &[Word(RdevMajor), Word(RdevMinor)],                       // 41 rawdev
    &[Long(FsAvailableBytes)],                                 // 42 space_avail
    &[Long(FsFreeBytes)],                                      // 43 space_free
    &[Long(FsTotalBytes)],                                     // 44 space_total
    &[Long(Used)],                                             // 45 space_used
    FLAG,                                                      // 46 system
    &[Instant(Atime)],                                         // 47 time_access
    SET_TIME,                                                  // 48 time_access_set
    TIME,                                                      // 49 time_backup
    &[Instant(Btime)],                                         // 50 time_create
    &[Other(fattr::time_delta)],                               // 51 time_delta
    &[Instant(Ctime)],                                         // 52 time_metadata
    &[Instant(Mtime)],                                         // 53 time_modify
    SET_TIME,                                                  // 54 time_modify_set
    &[Long(MountedFileid)],                                    // 55 mounted_on_fileid
    TIME,                                                      // 56 dir_notif_delay
    TIME,                                                      // 57 dirent_notif_delay
    ACL_41,                                                    // 58 dacl
    ACL_41,                                                    // 59 sacl
    &[Skip(16)],                                               // 60 change_policy
    FS_STATUS,                                                 // 61 fs_status
    MAP,                                  // 62 fs_layout_types: numbers, as a map's words
    &[Skip(4), SkipBytes],                // 63 layout_hint
    MAP,                                  // 64 layout_types, likewise
    WORD,                                 // 65 layout_blksize
    WORD,                                 // 66 layout_alignment
    LOCATIONS_INFO,                       // 67 fs_locations_info
    THRESHOLD,                            // 68 mdsthreshold
    RETENTION,                            // 69 retention_get
    SET_RETENTION,                        // 70 retention_set
    RETENTION,                            // 71 retentevt_get
    SET_RETENTION,                        // 72 retentevt_set
    LONG,                                 // 73 retention_hold
    &[Skip(8)],                           // 74 mode_set_masked
    MAP,                                  // 75 suppattr_exclcreat
    WORD,                                 // 76 fs_charset_cap
    WORD,                                 // 77 clone_blksize
    LONG,                                 // 78 space_freed
    WORD,                                 // 79 change_attr_type
    &[Skip(8), SkipBytes],                // 80 sec_label
    &[Skip(8)],                           // 81 mode_umask
    FLAG,                                 // 82 xattr_support
    FLAG,                                 // 83 offline
    TIME,                                 // 84 time_deleg_access
    TIME,                                 // 85 time_deleg_modify
    &[WORDS, WORDS, WORDS, WORDS, WORDS], // 86 open_arguments
];

/// The contents of an attribute, if its number is known.
pub fn attribute(number: u32) -> Option<&'static [Item]> {
    ATTRIBUTES.get(number as usize).copied()
}

/// The contents of an attribute in a call, if the call's value has a separate column.
pub fn set(number: u32) -> Option<&'static [Item]> {
    Some(match number {
        4 => &[Long(SetSize)],
        33 => &[Word(SetMode)],
        36 => &[Other(|x, f| fattr::principal(x, SetOwner, SetOwnerName, f))],
        37 => &[Other(|x, f| fattr::principal(x, SetGroup, SetGroupName, f))],
        48 => &[Other(|x, f| fattr::set_time(x, SetAtimeHow, SetAtime, f))],
        54 => &[Other(|x, f| fattr::set_time(x, SetMtimeHow, SetMtime, f))],
        81 => &[Word(SetMode), Word(SetUmask)],
        _ => return None,
    })
}
