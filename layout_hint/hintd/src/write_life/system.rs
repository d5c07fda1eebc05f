//! Properties of a file system, and capabilities of this process.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fd::AsFd;
use rustix::fs::{fstat, major, minor};
use rustix::io::Errno;
use rustix::thread::{capabilities, CapabilitySet};

/// Needed capabilities: to watch a file system, to open reported files, and to hint others' files.
const NEEDED: [(CapabilitySet, &str); 3] = [
    (CapabilitySet::SYS_ADMIN, "CAP_SYS_ADMIN"),
    (CapabilitySet::DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH"),
    (CapabilitySet::FOWNER, "CAP_FOWNER"),
];

/// The ones that this process lacks.
pub fn lacking() -> Vec<&'static str> {
    let own = capabilities(None).map(|own| own.effective).unwrap_or(CapabilitySet::empty());
    NEEDED.iter().filter(|(flag, _)| !own.contains(*flag)).map(|(_, name)| *name).collect()
}

/// An error of fanotify, with its meaning (`fanotify_init(2)`, `fanotify_mark(2)`).
pub fn explained(error: io::Error) -> io::Error {
    let meant = match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::INVAL) => "expected Linux 5.17 or later, which reports a new file's handle",
        Some(Errno::NOSYS) => "expected a kernel with fanotify (CONFIG_FANOTIFY)",
        Some(Errno::NODEV | Errno::OPNOTSUPP) => {
            "expected a file system that NFS could export: this one has no handles of files"
        }
        Some(Errno::XDEV) => "expected a file system, not a subvolume of one",
        Some(Errno::PERM) => "expected CAP_SYS_ADMIN in the first user namespace",
        Some(Errno::MFILE) => "expected room for a group (fs.fanotify.max_user_groups)",
        _ => return error,
    };
    io::Error::new(error.kind(), format!("{meant} ({error})"))
}

/// The device that a file system is on.
pub fn device(folder: impl AsFd) -> io::Result<(u32, u32)> {
    let device = fstat(folder)?.st_dev;
    Ok((major(device), minor(device)))
}

/// The UUID of a file system, knfsd's default name for it in file handles.
pub fn uuid(folder: impl AsFd) -> Option<Vec<u8>> {
    let device = fstat(folder).ok()?.st_dev;
    let links = fs::read_dir(Path::new("/dev/disk/by-uuid")).ok()?;
    let own = |path: &Path| fs::metadata(path).is_ok_and(|found| found.rdev() == device);
    let found = links.flatten().find(|link| own(&link.path()))?;
    bytes(found.file_name().to_str()?)
}

/// The bytes of a UUID as text.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Vec<u8> = digits.chunks(2).map(byte).collect::<Option<_>>()?;
    (bytes.len() == 16).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_sixteen_bytes_and_anything_else_is_none() {
        let own = bytes("00112233-4455-6677-8899-aabbccddeeff").unwrap();
        assert_eq!((own[0], own[1], own[15]), (0, 0x11, 0xff));
        for other in [
            "",
            "1234-ABCD",
            "00112233-4455-6677-8899-aabbccddee",
            "zz112233445566778899aabbccddeeff",
        ] {
            assert_eq!(bytes(other), None, "{other}");
        }
    }

    #[test]
    fn explains_refusals_of_fanotify_in_words() {
        let message = explained(Errno::NODEV.into()).to_string();
        assert!(message.starts_with("expected a file system that NFS could export"), "{message}");
        assert_eq!(explained(Errno::PERM.into()).kind(), io::ErrorKind::PermissionDenied);
    }
}
