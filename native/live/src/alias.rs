//! Aliases of directories: an NFS client's handle, a kernel's inode, or a path.

use super::handles::{self, Inode};
use super::reader::Directory;
use birthmark_learn::history::{combine, hash};

const HANDLE: u64 = 1;
const INODE: u64 = 2;
const PATH: u64 = 3;

/// The alias of a file handle.
pub fn of_handle(handle: &[u8]) -> u64 {
    combine(HANDLE, hash(handle))
}

/// The alias of an inode; `system` is the server's name of the file system, as in
/// [`crate::handles::Inode`].
pub fn of_inode(system: &[u8], fileid: u64) -> u64 {
    combine(combine(INODE, hash(system)), fileid)
}

/// The alias of a path, which follower and client write in the same form. A trailing slash is
/// ignored.
pub fn of_path(path: &[u8]) -> u64 {
    let end = path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    combine(PATH, hash(&path[..end]))
}

/// A directory, and all its aliases: its handle, the handle's inode, and its path, if known. `shape`
/// is the hash of its own name's shape.
pub fn of_directory(
    handle: &[u8],
    path: Option<&[u8]>,
    shape: Option<u64>,
) -> (Directory, impl Iterator<Item = u64>) {
    let directory = Directory { dir: hash(handle), shape };
    let inode = handles::inode(handle).map(|Inode { system, fileid }| of_inode(system, fileid));
    let aliases = [Some(of_handle(handle)), inode, path.map(of_path)];
    (directory, aliases.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_bytes_called_otherwise_are_another_alias() {
        let aliases = [of_handle(b"a"), of_inode(b"a", 0), of_inode(b"a", 1), of_path(b"a")];
        let different: std::collections::HashSet<_> = aliases.into();
        assert_eq!(different.len(), aliases.len());
    }

    #[test]
    fn a_path_may_end_with_slashes() {
        assert_eq!(of_path(b"/home/ann/"), of_path(b"/home/ann"));
        assert_eq!(of_path(b"/"), of_path(b""));
        assert_ne!(of_path(b"/home"), of_path(b"home"));
    }
}
