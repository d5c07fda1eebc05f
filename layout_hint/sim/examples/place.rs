//! Writes files one after the other into an empty file system, as FreeBSD 4.8 places blocks, for
//! comparison with `makefs` (`tests/layout_hint/test_makefs.py`).
//!
//! Arguments are sizes of the superblock: fragments, fragments and inodes per cylinder group, bytes
//! of a block and of a fragment. Each line of the input is a file: its inode, 1 for a directory or
//! 0, and its bytes. Each line of the output has its addresses in the format of recordings.

use birthmark_sim::ffs::{FileSystem, Geometry, Kernel, Lcg};
use std::error::Error;
use std::io::stdin;

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<u32> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [size, fpg, ipg, bsize, fsize] = sizes[..] else {
        return Err("expected SIZE FPG IPG BSIZE FSIZE".into());
    };
    let geometry = Geometry { bsize, fsize, ..Geometry::new(size, fpg, ipg) };
    geometry.check()?;
    let mut filesystem = FileSystem::bare(geometry, Kernel::FreeBsd48, Lcg::default());
    filesystem.volume.superuser = true;
    for line in stdin().lines() {
        let line = line?;
        let numbers: Vec<u64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [inode, directory, size] = numbers[..] else {
            return Err(format!("{line}: expected INODE DIRECTORY SIZE").into());
        };
        let inode = u32::try_from(inode)?;
        filesystem.adopt(inode, directory == 1)?;
        filesystem.extend(inode, size)?;
        let file = filesystem.file(inode).map(|file| file.shown(&geometry));
        println!("{}", file.unwrap_or_default().trim_start());
    }
    Ok(filesystem.check()?)
}
