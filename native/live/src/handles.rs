//! The inodes of NFS file handles: handles are opaque to clients, but their server's format is known.
//!
//! | server | a handle is | source |
//! | --- | --- | --- |
//! | FreeBSD | `fhandle_t`: the file system's `fsid_t`, then a `struct fid` of the file system | `sys/mount.h`; UFS: `sys/ufs/ufs/inode.h` (`struct ufid`); ZFS: `zfs_vfsops_os.h` (`zfid_short_t`) |
//! | Linux, knfsd | a word of types, who the file system is, and which file | `fs/nfsd/nfsfh.h`, `include/linux/exportfs.h` (`enum fid_type`), `fs/xfs/xfs_export.h`, `fs/btrfs/export.h`, `mm/shmem.c` (`shmem_encode_fh`) |
//! | nfs-ganesha, on Linux | its own header, who the file system is, and the kernel's handle | `src/include/nfs_fh.h`, `src/FSAL/FSAL_VFS/os/linux/handle_syscalls.c` |
//!
//! Numbers are in the server's byte order: little-endian is expected. Other handles map to nothing,
//! nor do those of FUSE and overlayfs, which contain no inodes. Inodes of different btrfs subvolumes
//! are distinct only if the subvolumes are exported as separate file systems.

/// A file's identity in its server's kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inode<'a> {
    /// The file system's identifier in the handle: FreeBSD's `fsid_t`; Linux: the UUID, or an
    /// exported substitute (`fsid=`, a device); nfs-ganesha: `f_fsid` of `statfs`.
    pub system: &'a [u8],
    /// Its number there.
    pub fileid: u64,
}

/// The position of a number: its first byte, and its length.
type Number = (usize, usize);

/// knfsd's identifiers of file systems, by `fh_fsid_type`: the length, the position of the file
/// system in it, and that of the export's inode, if it has one.
const SYSTEMS: [(usize, Number, Option<Number>); 8] = [
    (8, (0, 4), Some((4, 4))),   // FSID_DEV
    (4, (0, 4), None),           // FSID_NUM
    (12, (0, 8), Some((8, 4))),  // FSID_MAJOR_MINOR
    (8, (0, 4), Some((4, 4))),   // FSID_ENCODE_DEV
    (8, (4, 4), Some((0, 4))),   // FSID_UUID4_INUM
    (8, (0, 8), None),           // FSID_UUID8
    (16, (0, 16), None),         // FSID_UUID16
    (24, (8, 16), Some((0, 8))), // FSID_UUID16_INUM
];

/// Linux's identifiers of files: the type, the length, and the position of the inode.
const FILES: [(u32, usize, Number); 9] = [
    (0x01, 8, (0, 4)),  // FILEID_INO32_GEN: ext4, XFS with small numbers
    (0x01, 12, (4, 8)), // the same of tmpfs, which puts the generation first
    (0x02, 12, (0, 4)), // FILEID_INO32_GEN_PARENT
    (0x02, 16, (0, 4)), // the same with the parent's generation
    (0x81, 12, (0, 8)), // the first of XFS with large numbers (XFS_FILEID_TYPE_64FLAG)
    (0x82, 24, (0, 8)), // and with the parent
    (0x4d, 20, (0, 8)), // FILEID_BTRFS_WITHOUT_PARENT
    (0x4e, 32, (0, 8)), // FILEID_BTRFS_WITH_PARENT
    (0x4f, 40, (0, 8)), // FILEID_BTRFS_WITH_PARENT_ROOT
];
const FILEID_ROOT: u32 = 0;

/// FreeBSD's identifiers of files: `fid_len`, and the position of the inode in the `struct fid`.
const FIDS: [(u16, Number); 2] = [
    (12, (4, 4)), // UFS: ufid_ino
    (10, (2, 6)), // ZFS: zf_object
];
const FSID: usize = 8;
const FHANDLE: usize = 28;
/// NFS version 2 has handles of one length (RFC 1094 section 2.3.3): servers fill it with zeros.
const VERSION_2: usize = 32;
/// Greatest length of knfsd's file system identifiers in version 2: whole UUIDs occur only in later
/// versions (`set_version_and_fsid_type`), so that 32 bytes with one are not a padded handle.
const VERSION_2_SYSTEM: usize = 12;

/// The length of nfs-ganesha's identifiers of file systems, by `fsid_type`.
const GANESHA_SYSTEMS: [usize; 6] = [0, 8, 8, 16, 8, 8];
const GANESHA: u8 = 0x43;

/// The inode of a handle, if its server's format is known.
pub fn inode(handle: &[u8]) -> Option<Inode<'_>> {
    knfsd(handle).or_else(|| ganesha(handle)).or_else(|| freebsd(handle))
}

fn knfsd(handle: &[u8]) -> Option<Inode<'_>> {
    let (&[version, auth, system, file], rest) = handle.split_first_chunk()?;
    if (version, auth) != (1, 0) {
        return None;
    }
    let &(length, name, exported) = SYSTEMS.get(usize::from(system))?;
    let (fsid, fid) = rest.split_at_checked(length)?;
    let system = part(fsid, name)?;
    let fileid = match u32::from(file) {
        FILEID_ROOT if is_zero(fid) => number(fsid, exported?)?,
        file => linux_file(file, fid, length <= VERSION_2_SYSTEM && handle.len() == VERSION_2)?,
    };
    Some(Inode { system, fileid })
}

/// The inode of a Linux handle (`struct file_handle`), by its type.
pub fn linux_inode(kind: i32, fid: &[u8]) -> Option<u64> {
    linux_file(u32::try_from(kind).ok()?, fid, false)
}

/// The same; `padded` allows trailing zeros, unless the length fits a handle without.
fn linux_file(kind: u32, fid: &[u8], padded: bool) -> Option<u64> {
    let find = |fits: &dyn Fn(usize) -> bool| {
        FILES.iter().find(|(file, length, _)| *file == kind && fits(*length))
    };
    let zeros_follow = |length| padded && fid.get(length..).is_some_and(is_zero);
    let (.., place) = find(&|length| fid.len() == length).or_else(|| find(&zeros_follow))?;
    let inode = number(fid, *place)?;
    // FUSE has the halves of a private number, not an inode, in the other order.
    let is_fuse = matches!(kind, 0x81 | 0x82) && inode as u32 == 0;
    (!is_fuse).then_some(inode)
}

fn ganesha(handle: &[u8]) -> Option<Inode<'_>> {
    let (&[version, flags, _, _, length, how], rest) = handle.split_first_chunk()?;
    // Handles of data servers, or in the other byte order, do not match.
    if (version, flags) != (GANESHA, 0) || how & 0x20 != 0 {
        return None;
    }
    // NFS version 3 pads it to whole words; the length gives the bytes that count.
    let rest = rest.get(..usize::from(length).checked_sub(1)?)?;
    let &system = GANESHA_SYSTEMS.get(usize::from(how & 0x1f))?;
    let kind = match how >> 6 {
        0 => return None,
        3 => 4,
        kind => usize::from(kind),
    };
    let (system, rest) = rest.split_at_checked(system)?;
    let (kind, fid) = rest.split_at_checked(kind)?;
    let kind = number(kind, (0, kind.len()))? as u32;
    Some(Inode { system, fileid: linux_file(kind, fid, false)? })
}

fn freebsd(handle: &[u8]) -> Option<Inode<'_>> {
    let (handle, padding) = handle.split_at_checked(FHANDLE)?;
    if !padding.is_empty() && (FHANDLE + padding.len() != VERSION_2 || !is_zero(padding)) {
        return None;
    }
    let (system, fid) = handle.split_at(FSID);
    let length = u16::from_le_bytes([fid[0], fid[1]]);
    let (_, place) = FIDS.iter().find(|(fid, _)| *fid == length)?;
    Some(Inode { system, fileid: number(fid, *place)? })
}

fn part(bytes: &[u8], (start, length): Number) -> Option<&[u8]> {
    bytes.get(start..start + length)
}

fn number(bytes: &[u8], place: Number) -> Option<u64> {
    let bytes = part(bytes, place)?.iter().rev();
    Some(bytes.fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: [u8; 16] = *b"0123456789abcdef";

    fn found(parts: &[&[u8]]) -> Option<(Vec<u8>, u64)> {
        inode(&parts.concat()).map(|inode| (inode.system.to_vec(), inode.fileid))
    }

    #[test]
    fn handles_of_knfsd_on_ext4_tell_system_and_inode() {
        let file = [7, 0, 0, 0, 9, 9, 9, 9];
        let systems: [(u8, &[u8], &[u8]); 8] = [
            (0, &[0, 8, 0, 1, 2, 0, 0, 0], &[0, 8, 0, 1]),
            (1, &[5, 0, 0, 0], &[5, 0, 0, 0]),
            (2, &[0, 0, 0, 8, 0, 0, 0, 1, 2, 0, 0, 0], &[0, 0, 0, 8, 0, 0, 0, 1]),
            (3, &[1, 8, 0, 0, 2, 0, 0, 0], &[1, 8, 0, 0]),
            (4, &[2, 0, 0, 0, 6, 6, 6, 6], &[6, 6, 6, 6]),
            (5, &UUID[..8], &UUID[..8]),
            (6, &UUID, &UUID),
            (7, &[&[2, 0, 0, 0, 0, 0, 0, 0], &UUID[..]].concat(), &UUID),
        ];
        for (kind, fsid, system) in systems {
            let expected = Some((system.to_vec(), 7));
            assert_eq!(found(&[&[1, 0, kind, 1], fsid, &file]), expected, "fsid type {kind}");
            let root = found(&[&[1, 0, kind, 0], fsid]);
            let exported = ![1, 5, 6].contains(&kind);
            assert_eq!(root, exported.then(|| (system.to_vec(), 2)), "root of fsid type {kind}");
        }
        assert_eq!(found(&[&[1, 0, 8, 1], &UUID, &file]), None);
    }

    #[test]
    fn handles_of_knfsd_on_other_file_systems_tell_the_inode() {
        let inode = |kind: u8, fid: &[u8]| found(&[&[1, 0, 6, kind], &UUID, fid]).map(|it| it.1);
        let number = (7_u64 << 32 | 5).to_le_bytes();
        let behind = |length: usize| [&number[..], &vec![9; length - 8]].concat();
        assert_eq!(inode(1, &[&[9; 4], &number[..]].concat()), Some(7 << 32 | 5), "tmpfs");
        assert_eq!(inode(2, &[5, 0, 0, 0, 9, 9, 9, 9, 3, 0, 0, 0]), Some(5));
        assert_eq!(inode(2, &[5, 0, 0, 0, 9, 9, 9, 9, 3, 0, 0, 0, 9, 9, 9, 9]), Some(5));
        for (kind, length) in [(0x81, 12), (0x82, 24), (0x4d, 20), (0x4e, 32), (0x4f, 40)] {
            assert_eq!(inode(kind, &behind(length)), Some(7 << 32 | 5), "type {kind:#x}");
            assert_eq!(inode(kind, &behind(length + 1)), None, "type {kind:#x}, too long");
        }
        assert_eq!(inode(0xff, &behind(12)), None);
    }

    /// As `name_to_handle_at` tells of files in a Linux 6.18, and the inodes that `stat` does.
    #[test]
    fn a_handle_of_tmpfs_is_no_shorter_one_that_was_filled_up_to_32_bytes() {
        let tmpfs: [([u8; 12], u64); 2] = [
            ([135, 4, 104, 188, 1, 0, 0, 0, 0, 0, 0, 0], 1),
            ([248, 239, 68, 217, 2, 0, 0, 0, 0, 0, 0, 0], 2),
        ];
        for (fid, own) in tmpfs {
            assert_eq!(linux_inode(1, &fid), Some(own));
            let handle = [&[1, 0, 6, 1], &UUID[..], &fid].concat();
            assert_eq!(handle.len(), VERSION_2);
            assert_eq!(inode(&handle).map(|found| found.fileid), Some(own));
        }
    }

    #[test]
    fn handles_of_file_systems_without_inodes_of_their_own_tell_none() {
        let inode = |kind: u8, fid: &[u8]| found(&[&[1, 0, 6, kind], &UUID, fid]);
        let nodeid = [0, 0, 0, 0, 7, 0, 0, 0];
        assert_eq!(inode(0x81, &[&nodeid[..], &[9; 4]].concat()), None, "FUSE");
        assert_eq!(inode(0x82, &[&nodeid[..], &[9; 16]].concat()), None, "FUSE, with the parent");
        for kind in [0xf8, 0xfb] {
            assert_eq!(inode(kind, &[9; 32]), None, "overlayfs (OVL_FILEID_V0, OVL_FILEID_V1)");
        }
    }

    #[test]
    fn handles_of_freebsd_tell_system_and_inode() {
        let (ufs, zfs) =
            ([12, 0, 0, 0, 7, 0, 0, 0, 9, 9, 9, 9], [10, 0, 7, 0, 0, 0, 0, 1, 9, 9, 9, 9]);
        let expected = |fileid| Some((UUID[..8].to_vec(), fileid));
        assert_eq!(found(&[&UUID[..8], &ufs, &[0; 8]]), expected(7));
        assert_eq!(found(&[&UUID[..8], &zfs, &[0; 8]]), expected(1 << 40 | 7));
        assert_eq!(found(&[&UUID[..8], &ufs, &[0; 12]]), expected(7), "NFS version 2");
        assert_eq!(found(&[&UUID[..8], &ufs, &[0; 9]]), None);
        assert_eq!(found(&[&UUID[..8], &[11], &ufs[1..], &[0; 8]]), None);
    }

    #[test]
    fn a_handle_of_knfsd_in_version_2_is_filled_with_zeros() {
        let file = [7, 0, 0, 0, 9, 9, 9, 9];
        let expected = Some((UUID[..8].to_vec(), 7));
        assert_eq!(found(&[&[1, 0, 5, 1], &UUID[..8], &file, &[0; 12]]), expected);
        assert_eq!(found(&[&[1, 0, 5, 1], &UUID[..8], &file, &[0; 11]]), None);
    }

    /// A captured handle, with the server's fileid and fsid.
    #[test]
    fn handles_of_ganesha_tell_system_and_inode() {
        let system = 15_981_383_995_432_326_082_u64.to_le_bytes();
        let head = [&[0x43, 0, 0, 1, 0x12, 0x44][..], &system, &[1]].concat();
        let captured = [0x42, 0x28, 0x52, 0x00, 0xb0, 0xf3, 0xfd, 0x86];
        let expected = Some((system.to_vec(), 5_384_258));
        assert_eq!(found(&[&head, &captured, &[0]]), expected, "NFS version 3");
        assert_eq!(found(&[&head, &captured]), expected, "NFS version 4");
        assert_eq!(found(&[&head, &captured[1..]]), None);
    }

    #[test]
    fn no_bytes_are_too_short() {
        let file = [7, 0, 0, 0, 9, 9, 9, 9];
        let linux = [&[1, 0, 7, 1][..], &[0; 8], &UUID, &file].concat();
        let ganesha = [&[0x43, 0, 0, 1, 0x12, 0x44][..], &UUID[..8], &[1], &file].concat();
        for handle in [linux, ganesha] {
            for length in 0..handle.len() {
                assert_eq!(inode(&handle[..length]), None, "{length} bytes");
            }
        }
    }
}
