//! Differences of FreeBSD 14 from 4.8.

use super::{addresses, made, todays, Small};
use crate::ffs::{Error, Format, Geometry, Kernel, Random, ROOT};

fn large() -> Small {
    let geometry = Geometry {
        bsize: 4096,
        fsize: 4096,
        format: Format::Ufs2,
        metaspace: 39,
        ..Geometry::new(8 * 1000, 1000, 64)
    };
    made(Kernel::FreeBsd14, geometry)
}

#[test]
fn directories_are_at_the_beginning_of_a_groups_space_and_data_behind_what_is_kept() {
    let mut filesystem = large();
    let geometry = filesystem.volume.geometry;
    assert_eq!(addresses(&filesystem, ROOT), [geometry.metadata(0).end]);
    let file = filesystem.create(ROOT, false).unwrap();
    filesystem.extend(file, 15 * 4096).unwrap();
    let blocks = addresses(&filesystem, file);
    let data = geometry.data(0);
    // the indirect block follows the twelfth, and the next follows it
    assert_eq!(blocks[..12], (data..data + 12).collect::<Vec<_>>());
    let indirect: Vec<_> = filesystem.file(file).unwrap().indirect_blocks().collect();
    assert_eq!(
        (indirect, &blocks[12..]),
        (vec![data + 12], &[data + 13, data + 14, data + 15][..])
    );
}

#[test]
fn the_double_indirect_block_is_with_the_inode_and_its_blocks_where_there_is_room() {
    let mut filesystem = large();
    let geometry = filesystem.volume.geometry;
    let file = filesystem.create(ROOT, false).unwrap();
    filesystem.extend(file, (12 + 512 + 3) * 4096).unwrap();
    let indirect: Vec<_> = filesystem.file(file).unwrap().indirect_blocks().collect();
    let meta = geometry.meta(0)..geometry.data(0);
    assert!(indirect[1..].iter().all(|address| meta.contains(address)), "{indirect:?}");
    assert_eq!(indirect[2], indirect[1] + 1);
    // as many groups on as the file has had of 512 blocks, and in it where data begin
    assert_eq!(addresses(&filesystem, file)[12 + 512], geometry.data(1));
    assert_eq!(filesystem.check(), Ok(()));
}

#[test]
fn files_with_holes_lead_to_few_blocks_through_three_indirect_ones_and_give_all_back() {
    let mut filesystem = large();
    let (begin, nindir) = (filesystem.volume.total, 512_u64);
    let file = filesystem.create(ROOT, false).unwrap();
    let triple = 12 + nindir + nindir * nindir;
    filesystem.write(file, triple * 4096, triple * 4096 + 1).unwrap();
    let indirect: Vec<_> = filesystem.file(file).unwrap().indirect_blocks().collect();
    let meta = filesystem.volume.geometry.meta(0);
    assert_eq!(indirect[1..], [indirect[0] + 1, indirect[0] + 2]);
    assert!((meta..meta + 39).contains(&indirect[0]));
    let shown = filesystem.file(file).unwrap().shown(&filesystem.volume.geometry);
    let marks: Vec<_> = shown.split(' ').map(|word| word.get(..1).unwrap_or("")).collect();
    assert_eq!(marks[..4], ["", "T", "I", "i"], "{shown}");
    let last = triple + nindir * nindir * nindir;
    assert_eq!(filesystem.write(file, last * 4096, last * 4096 + 1), Err(Error::TooLarge));
    filesystem.truncate(file, triple * 4096).unwrap();
    assert_eq!(filesystem.file(file).unwrap().indirect_blocks().count(), 0);
    let mut random = super::Lcg::default();
    for _ in 0..4000 {
        let bits = 12 + random.next_u32() % 28;
        let at = (u64::from(random.next_u32()) << 20 | u64::from(random.next_u32())) % (1 << bits);
        let done = match random.next_u32() % 6 {
            0 => filesystem.truncate(file, at),
            1 => filesystem.truncate(file, at / 4096 * 4096),
            _ => filesystem.write(file, at, at + 5000),
        };
        assert!(matches!(done, Ok(()) | Err(Error::NoSpace | Error::TooLarge)), "{done:?}");
    }
    assert_eq!(filesystem.check(), Ok(()));
    filesystem.unlink(file).unwrap();
    assert_eq!((filesystem.volume.total, filesystem.check()), (begin, Ok(())));
}

#[test]
fn without_a_preference_the_block_behind_the_rotor_is_taken() {
    let mut filesystem = large();
    filesystem.volume.groups[3].rotor = 500;
    let address = filesystem.volume.alloc_near(3, None, 1);
    assert_eq!((address, filesystem.volume.groups[3].rotor), (Some(3501), 500));
    // that of another group: where the same kind of space begins
    let geometry = filesystem.volume.geometry;
    let elsewhere = |address| Some(address);
    let metadata = filesystem.volume.alloc_near(4, elsewhere(geometry.meta(2)), 1);
    let data = filesystem.volume.alloc_near(4, elsewhere(geometry.data(2)), 1);
    assert_eq!((metadata, data), (Some(geometry.meta(4)), Some(geometry.data(4))));
    // the rotor stays where the search ended in the reserved space
    let metadata = filesystem.volume.alloc_near(4, Some(geometry.meta(4)), 1);
    assert_eq!((metadata, filesystem.volume.groups[4].rotor), (Some(geometry.meta(4) + 1), 0));
    let data = filesystem.volume.alloc_near(4, Some(geometry.data(4)), 1);
    let at = geometry.data(0) + 1;
    assert_eq!((data, filesystem.volume.groups[4].rotor), (Some(4000 + at), at));
}

#[test]
fn a_directory_goes_on_where_less_than_three_quarters_of_the_average_are_free() {
    let mut filesystem = large();
    let directory = filesystem.mkdir(ROOT, false).unwrap();
    let cg = directory / 64;
    while filesystem.volume.groups[cg as usize].summary.nifree >= 48 {
        filesystem.create(directory, false).unwrap();
    }
    let free: Vec<_> = filesystem.volume.groups.iter().map(|group| group.summary.nifree).collect();
    let average = free.iter().sum::<u32>() / 8;
    let own = free[cg as usize];
    assert_eq!(
        own >= average - average / 4,
        filesystem.mkdir(directory, false).unwrap() / 64 == cg
    );
    while filesystem.volume.groups[cg as usize].summary.nifree >= 40 {
        filesystem.create(directory, false).unwrap();
    }
    assert_eq!(filesystem.mkdir(directory, false).unwrap() / 64, (cg + 1) % 8);
}

#[test]
fn today_too_every_operation_leaves_all_consistent() {
    for geometry in todays() {
        let mut filesystem = made(Kernel::FreeBsd14, geometry);
        let (mut alive, mut random, mut refused) = (vec![ROOT], super::Lcg::default(), 0);
        for count in 0..1500 {
            let mut below = |bound: usize| random.next_u32() as usize % bound;
            let inode = alive[below(alive.len())];
            let more = below(150_000) as u64;
            let file = filesystem.file(inode).unwrap();
            let done = match (below(5), file.directory) {
                (0, true) => filesystem.mkdir(inode, false).map(|made| alive.push(made)),
                (_, true) => filesystem.create(inode, false).map(|made| alive.push(made)),
                (0, false) => filesystem.truncate(inode, more),
                (_, false) => filesystem.extend(inode, file.size + more),
            };
            refused += u32::from(done.is_err());
            if count % 30 == 0 {
                assert_eq!(filesystem.check(), Ok(()));
            }
        }
        assert!(refused > 0, "{geometry:?}: never full");
        assert_eq!(filesystem.check(), Ok(()));
    }
}

#[test]
fn a_directory_without_a_name_is_counted_nowhere_though_its_inode_is_taken() {
    let mut filesystem = made(Kernel::FreeBsd15, Geometry::new(4 * 4096, 4096, 256));
    let outer = filesystem.mkdir(ROOT, false).unwrap();
    let inner = filesystem.mkdir(outer, false).unwrap();
    filesystem.leave(inner);
    filesystem.unlink(outer).unwrap();
    // another directory has that inode when the inner one's is given back
    filesystem.adopt(outer, true).unwrap();
    filesystem.unlink(inner).unwrap();
    assert_eq!(filesystem.check(), Ok(()));
}
