//! Small file systems, and random operations on them.

mod files;
mod hints;

use super::recording::Lcg;
use super::{FileSystem, FreeBsd48, Geometry};

type Small = FileSystem<FreeBsd48, Lcg>;

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

fn fresh(geometry: Geometry) -> Small {
    geometry.check().unwrap();
    FileSystem::new(geometry, FreeBsd48, Lcg::default()).unwrap()
}
