//! Blocks moved together.

use super::{addresses, made, Small};
use hashbrown::HashMap;

use crate::ffs::{Change, Geometry, Kernel, Region, RegionMode, ROOT};

/// One group with much space, in whose first blocks every other one is taken, and a file of five
/// blocks: the first four where the gaps are.
fn scattered(kernel: Kernel) -> (Small, u32) {
    let geometry = Geometry { fsize: 16384, ..Geometry::new(8 * 1024, 8 * 1024, 128) };
    let mut filesystem = made(kernel, geometry);
    let others: Vec<_> = (0..8).map(|_| filesystem.create(ROOT, false).unwrap()).collect();
    others.iter().for_each(|&inode| filesystem.extend(inode, 16384).unwrap());
    others.iter().step_by(2).for_each(|&inode| filesystem.unlink(inode).unwrap());
    let file = filesystem.create(ROOT, false).unwrap();
    filesystem.extend(file, 5 * 16384).unwrap();
    (filesystem, file)
}

#[test]
fn blocks_that_lie_apart_are_moved_to_the_first_row_that_has_room() {
    let (mut filesystem, file) = scattered(Kernel::FreeBsd48);
    filesystem.log_changes();
    let before = addresses(&filesystem, file);
    let total = filesystem.volume.total;
    assert!(filesystem.reallocate(file, 0, 4));
    let after = addresses(&filesystem, file);
    // behind the file's own last block there is nothing
    assert_eq!(after[..4], (1..5).map(|i| before[4] + i).collect::<Vec<_>>());
    assert_eq!((after[4], filesystem.volume.total), (before[4], total));
    assert_eq!(filesystem.check(), Ok(()));
    let freed = filesystem.take_changes().filter(|c| matches!(c, Change::Freed { .. })).count();
    assert_eq!(freed, 4);
    // now they lie in a row
    assert!(!filesystem.reallocate(file, 0, 4));
}

#[test]
fn what_cannot_be_moved_stays() {
    let (mut filesystem, file) = scattered(Kernel::FreeBsd48);
    let before = addresses(&filesystem, file);
    for (lbn, blocks) in [(0, 0), (0, 1), (0, 6), (3, u32::MAX), (5, 2), (0, 8), (u32::MAX, 2)] {
        assert!(!filesystem.reallocate(file, lbn, blocks), "{lbn} {blocks}");
    }
    assert!(!filesystem.reallocate(77, 0, 4));
    assert_eq!(addresses(&filesystem, file), before);
    assert_eq!(filesystem.check(), Ok(()));
}

#[test]
fn hot_blocks_stay_and_no_others_are_moved_into_a_reserved_region() {
    let (mut filesystem, file) = scattered(Kernel::FreeBsd48);
    let behind = addresses(&filesystem, file)[4] + 1;
    let start = u64::from(behind) * 16384;
    let geometry = filesystem.volume.geometry;
    let region = Region::of(&geometry, start, 100 * 16384, 0, RegionMode::Reserved).unwrap();
    filesystem.volume.region = Some(region);
    assert!(filesystem.reallocate(file, 0, 4));
    let moved = addresses(&filesystem, file);
    assert_eq!(moved[..4], (0..4).map(|i| behind + 100 + i).collect::<Vec<_>>());
    let hot = filesystem.create(ROOT, true).unwrap();
    filesystem.extend(hot, 16384).unwrap();
    let other = filesystem.create(ROOT, true).unwrap();
    filesystem.extend(other, 16384).unwrap();
    filesystem.extend(hot, 3 * 16384).unwrap();
    assert_eq!(addresses(&filesystem, hot), [behind, behind + 2, behind + 3]);
    assert!(!filesystem.reallocate(hot, 0, 3));
}

#[test]
fn hot_blocks_that_found_the_region_full_are_moved_as_others_are() {
    let (mut filesystem, file) = scattered(Kernel::FreeBsd48);
    let start = u64::from(addresses(&filesystem, file)[4] + 1) * 16384;
    let geometry = filesystem.volume.geometry;
    filesystem.volume.region =
        Some(Region::of(&geometry, start, 16384, 0, RegionMode::Reserved).unwrap());
    let first = filesystem.create(ROOT, true).unwrap();
    filesystem.extend(first, 16384).unwrap();
    let hot = filesystem.create(ROOT, true).unwrap();
    filesystem.extend(hot, 16384).unwrap();
    let other = filesystem.create(ROOT, false).unwrap();
    filesystem.extend(other, 16384).unwrap();
    filesystem.extend(hot, 3 * 16384).unwrap();
    let before = addresses(&filesystem, hot);
    assert_eq!(before[1..], [before[0] + 2, before[0] + 3]);
    assert!(filesystem.reallocate(hot, 0, 3));
    let after = addresses(&filesystem, hot);
    assert_eq!(after[1..], [after[0] + 1, after[0] + 2]);
    assert_eq!(filesystem.check(), Ok(()));
}

#[test]
fn a_cluster_around_the_first_indirect_block_is_moved_by_48_and_not_today() {
    fn moved(kernel: Kernel) -> bool {
        let (mut filesystem, file) = scattered(kernel);
        filesystem.extend(file, 20 * 16384).unwrap();
        let moved = filesystem.reallocate(file, 10, 4);
        assert_eq!(filesystem.check(), Ok(()));
        moved
    }
    assert_eq!((moved(Kernel::FreeBsd48), moved(Kernel::FreeBsd14)), (true, false));
}

#[test]
fn today_a_search_in_vain_goes_on_elsewhere_the_next_time() {
    let geometry = Geometry { fsize: 16384, ..Geometry::new(24 * 128, 128, 128) };
    let mut filesystem = made(Kernel::FreeBsd14, geometry);
    let singles: Vec<_> = (0..24 * 120)
        .map_while(|_| {
            let inode = filesystem.create(ROOT, false).ok()?;
            filesystem.extend(inode, 16384).ok()?;
            Some(inode)
        })
        .collect();
    let in_group = |filesystem: &Small, inode: u32| addresses(filesystem, inode)[0] / 128;
    // in the first 11 groups every other block is free, behind them every one
    for (i, &inode) in singles.iter().enumerate() {
        let cg = in_group(&filesystem, inode);
        if cg > 10 || i % 2 == 0 {
            filesystem.unlink(inode).unwrap();
        }
    }
    let file = filesystem.create(ROOT, false).unwrap();
    filesystem.extend(file, 4 * 16384).unwrap();
    assert!(addresses(&filesystem, file).windows(2).any(|pair| pair[1] != pair[0] + 1));
    assert!(!filesystem.reallocate(file, 0, 4), "groups 0 to 9 have no row");
    assert!(filesystem.reallocate(file, 0, 4), "group 11 has one");
    assert_eq!(addresses(&filesystem, file)[0] / 128, 11);
    assert_eq!(filesystem.check(), Ok(()));
}

#[test]
fn behind_the_partitions_last_block_a_row_is_looked_for_from_the_first_group_on() {
    let geometry = Geometry { fsize: 16384, ..Geometry::new(2 * 128, 128, 128) };
    let mut filesystem = made(Kernel::FreeBsd14, geometry);
    let directory = loop {
        let directory = filesystem.mkdir(ROOT, false).unwrap();
        if geometry.inode_group(directory) == 1 {
            break directory;
        }
    };
    filesystem.volume.superuser = true;
    let mut singles = HashMap::new();
    while let Ok(inode) = filesystem.create(ROOT, false) {
        if filesystem.extend(inode, 16384).is_err() {
            break;
        }
        singles.insert(addresses(&filesystem, inode)[0], inode);
    }
    let mut free = |filesystem: &mut Small, at: u32| {
        filesystem.unlink(singles.remove(&at).unwrap()).unwrap();
    };
    free(&mut filesystem, 255);
    let file = filesystem.create(directory, false).unwrap();
    filesystem.extend(file, 16384).unwrap();
    free(&mut filesystem, 200);
    free(&mut filesystem, 210);
    filesystem.extend(file, 3 * 16384).unwrap();
    assert_eq!(geometry.inode_group(file), 1);
    assert_eq!(addresses(&filesystem, file)[0], 255);
    [100, 101].into_iter().chain(220..228).for_each(|at| free(&mut filesystem, at));
    assert!(filesystem.reallocate(file, 1, 2));
    assert_eq!(addresses(&filesystem, file), [255, 100, 101]);
    assert_eq!(filesystem.check(), Ok(()));
}
