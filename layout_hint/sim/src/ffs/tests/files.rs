//! Random operations on small file systems, after each of which all must be consistent.

use super::{addresses, fresh, geometries, Small};
use crate::ffs::recording::Lcg;
use crate::ffs::{named, Allocator, Error, Geometry, Optimization, Random, Volume, Wanted, ROOT};

/// A volume without the rotors of its searches.
fn without_rotors(volume: &Volume) -> Volume {
    let mut volume = volume.clone();
    for group in &mut volume.groups {
        (group.rotor, group.frotor, group.irotor) = (0, 0, 0);
    }
    volume.contigdirs.fill(0);
    volume.optimization = Optimization::Time;
    volume
}

/// A random operation on existing files; `None` without room.
fn operate(filesystem: &mut Small, alive: &mut Vec<(u32, bool)>, random: &mut Lcg) -> Option<u32> {
    let mut below = |bound: usize| random.next_u32() as usize % bound;
    let at = below(alive.len());
    let (inode, directory) = alive[at];
    let size = filesystem.file(inode).unwrap().size;
    let scale = below(4);
    let more = below([2000, 20_000, 200_000, 2_000_000][scale]) as u64;
    let done = match (below(8), directory) {
        (0, true) => filesystem.mkdir(inode, false),
        (_, true) => filesystem.create(inode, false),
        (0..=3, false) => filesystem.extend(inode, size + more).map(|()| inode),
        (4, false) => filesystem.write(inode, more, more + 3000).map(|()| inode),
        (5, false) => filesystem.truncate(inode, more).map(|()| inode),
        (_, false) => filesystem.unlink(inode).map(|()| 0),
    };
    match done {
        Ok(0) => drop(alive.swap_remove(at)),
        Ok(made) if made != inode => alive.push((made, filesystem.file(made).unwrap().directory)),
        Ok(_) => {}
        Err(Error::NoSpace | Error::NoInodes) => return None,
        Err(error) => panic!("{error}"),
    }
    Some(inode)
}

#[test]
fn every_operation_leaves_all_consistent_and_nothing_is_lost() {
    for geometry in geometries() {
        let mut filesystem = fresh(geometry);
        let begin = without_rotors(&filesystem.volume);
        let (mut alive, mut random, mut refused) = (vec![(ROOT, true)], Lcg::default(), 0);
        for _ in 0..1200 {
            refused += u32::from(operate(&mut filesystem, &mut alive, &mut random).is_none());
            assert_eq!(filesystem.check(), Ok(()));
        }
        assert!(refused > 0, "{geometry:?}: never full");
        alive.retain(|&(inode, _)| inode != ROOT);
        alive.iter().for_each(|&(inode, _)| filesystem.unlink(inode).unwrap());
        assert_eq!(without_rotors(&filesystem.volume), begin);
        assert_eq!(filesystem.check(), Ok(()));
    }
}

#[test]
fn a_file_written_in_order_lies_in_order_but_for_its_indirect_blocks() {
    let mut filesystem = fresh(Geometry::new(65536, 65536, 1024));
    let inode = filesystem.create(ROOT, false).unwrap();
    filesystem.extend(inode, 20 * 16384 - 5000).unwrap();
    let file = filesystem.file(inode).unwrap();
    let blocks: Vec<_> = (0..20).filter_map(|lbn| file.block(lbn)).collect();
    let direct: Vec<_> = (0..12).map(|i| 96 + 8 * i).collect();
    let behind: Vec<_> = (0..8).map(|i| 96 + 8 * (13 + i)).collect();
    assert_eq!(blocks, [direct, behind].concat());
    assert_eq!(file.indirect_blocks().collect::<Vec<_>>(), [96 + 8 * 12]);
}

#[test]
fn a_file_through_double_indirect_blocks_is_freed_whole() {
    let geometry = Geometry { bsize: 4096, fsize: 4096, ..Geometry::new(9000, 3000, 128) };
    let mut filesystem = fresh(geometry);
    let begin = without_rotors(&filesystem.volume);
    let inode = filesystem.create(ROOT, false).unwrap();
    let (blocks, bsize) = (12 + 1024 + 2 * 1024 + 7, 4096);
    filesystem.extend(inode, blocks * bsize).unwrap();
    assert_eq!(filesystem.file(inode).unwrap().indirect_blocks().count(), 5);
    assert_eq!(filesystem.check(), Ok(()));
    // an indirect block goes with the last block behind it, the double one with its first
    for (remaining, indirect) in [(12 + 2048 + 1, 4), (12 + 2048, 3), (12 + 1024, 1), (12, 0)] {
        filesystem.truncate(inode, remaining * bsize).unwrap();
        assert_eq!(filesystem.file(inode).unwrap().indirect_blocks().count(), indirect);
        assert_eq!(filesystem.check(), Ok(()));
    }
    filesystem.unlink(inode).unwrap();
    assert_eq!(without_rotors(&filesystem.volume), begin);
    let inode = filesystem.create(ROOT, false).unwrap();
    assert_eq!(filesystem.extend(inode, 1 << 43), Err(Error::TooLarge));
    assert_eq!(filesystem.extend(inode, u64::MAX), Err(Error::TooLarge));
}

#[test]
fn only_the_superuser_gets_the_last_blocks_and_indirect_blocks_without_data_go_back() {
    let geometry = Geometry { bsize: 4096, fsize: 4096, ..Geometry::new(900, 300, 64) };
    let mut filesystem = fresh(geometry);
    let inode = filesystem.create(ROOT, false).unwrap();
    assert_eq!(filesystem.extend(inode, 1 << 30), Err(Error::NoSpace));
    let reserve = geometry.dsize() * 8 / 100;
    assert_eq!(filesystem.volume.total.nbfree, reserve);
    filesystem.volume.superuser = true;
    // up to where the next block needs an indirect one and there is but one block left
    let other = filesystem.create(ROOT, false).unwrap();
    filesystem.extend(other, 12 * 4096).unwrap();
    let left = u64::from(filesystem.volume.total.nbfree - 1);
    let size = filesystem.file(inode).unwrap().size;
    filesystem.extend(inode, size + left * 4096).unwrap();
    assert_eq!(filesystem.volume.total.nbfree, 1);
    assert_eq!(filesystem.extend(other, 13 * 4096), Err(Error::NoSpace));
    assert_eq!((filesystem.volume.total.nbfree, filesystem.check()), (1, Ok(())));
    // a directory without room for a fragment leaves no inode behind
    filesystem.extend(inode, size + (left + 1) * 4096).unwrap();
    let before = filesystem.volume.total;
    assert_eq!(filesystem.mkdir(ROOT, false), Err(Error::NoSpace));
    assert_eq!((filesystem.volume.total, before.nbfree), (before, 0));
}

#[test]
fn inodes_run_out_in_one_group_then_in_all() {
    let geometry = Geometry { bsize: 4096, fsize: 4096, ..Geometry::new(900, 300, 64) };
    let mut filesystem = fresh(geometry);
    let made: Vec<_> = (0..3 * 64 - 3).map(|_| filesystem.create(ROOT, false).unwrap()).collect();
    // the root's group, the next (1 away), then 2 away from that one: itself again, then the third
    assert_eq!(made, (3..64).chain(64..128).chain(128..192).collect::<Vec<_>>());
    assert_eq!(filesystem.create(ROOT, false), Err(Error::NoInodes));
    assert_eq!(filesystem.mkdir(ROOT, false), Err(Error::NoInodes));
    filesystem.unlink(100).unwrap();
    assert_eq!(filesystem.create(ROOT, false), Ok(100));
}

#[test]
fn fragments_that_must_move_are_given_a_block_until_many_are_free() {
    let mut filesystem = fresh(Geometry::new(2048, 2048, 128));
    // 6 and 4 percent of the 2015 fragments for data
    let (many, few) = (120, 80);
    let mut changes = 0;
    while changes < 3 {
        let pair =
            [filesystem.create(ROOT, false).unwrap(), filesystem.create(ROOT, false).unwrap()];
        pair.iter().for_each(|&inode| filesystem.extend(inode, 2048).unwrap());
        let begin = |filesystem: &Small| filesystem.file(pair[0]).unwrap().block(0);
        let (at, free) = (begin(&filesystem), filesystem.volume.total.nffree);
        let before = filesystem.volume.optimization;
        filesystem.extend(pair[0], 2 * 2048).unwrap();
        let changed = filesystem.volume.optimization != before;
        let expected = match before {
            Optimization::Time => free >= many,
            Optimization::Space => free <= few,
        };
        assert_eq!(changed, expected && at != begin(&filesystem));
        assert_eq!(filesystem.check(), Ok(()));
        changes += u32::from(changed);
    }
}

#[test]
fn what_is_not_there_is_refused_and_changes_nothing() {
    let mut filesystem = fresh(Geometry::new(8 * 1024, 1024, 128));
    let file = filesystem.create(ROOT, false).unwrap();
    let before = filesystem.volume.clone();
    assert_eq!(filesystem.create(77, false), Err(Error::NoFile(77)));
    assert_eq!(filesystem.mkdir(file, false), Err(Error::NotDirectory(file)));
    assert_eq!(filesystem.extend(77, 1), Err(Error::NoFile(77)));
    assert_eq!(filesystem.truncate(u32::MAX, 1), Err(Error::NoFile(u32::MAX)));
    assert_eq!(filesystem.unlink(ROOT), Err(Error::Root));
    assert_eq!(filesystem.adopt(file, false), Err(Error::Taken(file)));
    assert_eq!(filesystem.adopt(u32::MAX, false), Err(Error::Taken(u32::MAX)));
    assert_eq!(filesystem.volume, before);
}

#[test]
fn an_allocator_of_ones_own_says_where_blocks_are_wanted() {
    let mut filesystem = fresh(geometries()[0]);
    filesystem.volume.allocator = named("packed");
    for _ in 0..20 {
        let directory = filesystem.mkdir(ROOT, false).unwrap();
        let file = filesystem.create(directory, false).unwrap();
        filesystem.extend(file, 3 * 16384).unwrap();
        let addresses = addresses(&filesystem, file);
        assert!(addresses.iter().all(|at| at / 1024 == 0), "{addresses:?}");
        assert!(addresses.is_sorted());
    }
    assert_eq!(filesystem.check(), Ok(()));
    assert!(named("nothing").is_none());
}

#[test]
fn what_an_allocator_cannot_have_is_no_preference() {
    struct Beyond;
    impl Allocator for Beyond {
        fn name(&self) -> &'static str {
            "beyond"
        }
        fn block(&self, _: &Volume, _: &Wanted) -> Option<u32> {
            Some(u32::MAX)
        }
    }
    let mut filesystem = fresh(geometries()[0]);
    filesystem.volume.allocator = Some(&Beyond);
    let (mut alive, mut random) = (vec![(ROOT, true)], Lcg::default());
    for _ in 0..600 {
        operate(&mut filesystem, &mut alive, &mut random);
        assert_eq!(filesystem.check(), Ok(()));
    }
}
