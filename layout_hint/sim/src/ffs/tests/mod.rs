//! Small file systems, and random operations on them.

mod clusters;
mod files;
mod freebsd14;
mod hints;

use super::recording::Lcg;
use super::{FileSystem, Format, Geometry, Kernel};

type Small = FileSystem<Lcg>;

/// Small file systems: fragments in a block 8, 4, 2 and 1, groups 8, 3 and 1, the last one short.
fn geometries() -> [Geometry; 4] {
    let eight = Geometry::new(8 * 1024, 1024, 128);
    [
        eight,
        Geometry { bsize: 4096, fsize: 1024, ..Geometry::new(2 * 1024 + 518, 1024, 128) },
        Geometry { bsize: 4096, fsize: 2048, minfree: 5, ..Geometry::new(1001, 1002, 64) },
        Geometry { bsize: 4096, fsize: 4096, ..Geometry::new(900, 300, 64) },
    ]
}

/// Small file systems of today: UFS2, with space kept for metadata and without.
fn todays() -> [Geometry; 3] {
    let ufs2 = |size, fpg, ipg, metaspace| Geometry {
        bsize: 4096,
        fsize: 1024,
        format: Format::Ufs2,
        metaspace,
        ..Geometry::new(size, fpg, ipg)
    };
    [ufs2(6 * 1024, 1024, 128, 64), ufs2(2 * 2048 + 518, 2048, 128, 0), ufs2(900, 904, 64, 40)]
}

fn made(kernel: Kernel, geometry: Geometry) -> Small {
    geometry.check().unwrap();
    FileSystem::new(geometry, kernel, Lcg::default()).unwrap()
}

fn fresh(geometry: Geometry) -> Small {
    made(Kernel::FreeBsd48, geometry)
}

fn addresses(filesystem: &Small, inode: u32) -> Vec<u32> {
    let file = filesystem.file(inode).unwrap();
    file.blocks().filter_map(|lbn| file.block(lbn)).collect()
}
