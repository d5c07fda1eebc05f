//! Where files lie, and what is freed.

use super::super::call::NO_END;
use super::*;

const HOT: u8 = 1;

fn call(class: Class, file: u32, target: u32, directory: bool, hints: u8) -> Call {
    Call {
        at: 0,
        replied: 0,
        stream: 0,
        connection: 0,
        class,
        file,
        target,
        directory,
        hints,
        offset: 0,
        bytes: 0,
        end: NO_END,
        stable: false,
    }
}

fn made(file: u32, target: u32, hints: u8) -> Call {
    call(Class::Create, file, target, false, hints)
}

fn group(at: u64) -> u64 {
    at / GROUP
}

#[test]
fn a_file_lies_in_the_group_of_its_directory_and_one_piece_behind_the_other() {
    let mut places = Places::new(40 * GROUP, 0, 0);
    for (file, target) in [(1, 10), (1, 11), (2, 12)] {
        places.learn(&made(file, target, HOT));
    }
    let at = [10, 11, 12].map(|file| places.block(file, 0));
    assert_eq!(at[1] - at[0], FILE_BLOCK);
    assert_ne!(group(at[0]), group(at[2]));
    assert_eq!(group(places.inode(10)), group(at[0]));
    assert_eq!(places.inode(10), places.inode(11), "in the same block of inodes");
    assert!(places.inode(10) < at[0]);
    assert_eq!((places.block(10, 100), places.block(12, FILE_BLOCK)), (at[0], at[2] + FILE_BLOCK));
}

#[test]
fn directories_lie_near_their_parents_but_not_near_the_root() {
    let mut places = Places::new(40 * GROUP, 0, 0);
    for target in 2..30 {
        places.learn(&call(Class::Lookup, 1, target, true, 0));
        places.learn(&call(Class::Lookup, target, target + 100, true, 0));
    }
    let mut homes: Vec<usize> = (2..30).map(|own| places.homes[&own]).collect();
    assert_eq!(homes, (102..130).map(|own| places.homes[&own]).collect::<Vec<usize>>());
    homes.sort_unstable();
    homes.dedup();
    assert!(homes.len() > 15, "{homes:?}");
}

#[test]
fn what_is_hot_lies_in_the_region_as_long_as_there_is_room() {
    let region = 16 * FILE_BLOCK;
    let mut places = Places::new(40 * GROUP, region, HOT);
    for target in 10..30 {
        places.learn(&made(1, target, HOT * u8::from(target < 28)));
    }
    let inside = |at: u64| (20 * GROUP..20 * GROUP + region).contains(&at);
    let hot: Vec<bool> = (10..28).map(|file| inside(places.block(file, 0))).collect();
    assert_eq!(hot.iter().filter(|own| **own).count(), 14);
    assert!(inside(places.inode(27)) && !inside(places.inode(28)));
    assert!(!inside(places.block(28, 0)));
    places.forget(&call(Class::Remove, 1, 10, false, 0));
    places.learn(&made(1, 40, HOT));
    assert!(inside(places.block(40, 0)), "where the removed one was");
    assert!(!inside(places.block(40, HOT_BLOCKS * FILE_BLOCK)));
    let mut unhinted = Places::new(40 * GROUP, region, HOT << 1);
    unhinted.learn(&made(1, 10, HOT));
    assert!(!inside(unhinted.block(10, 0)));
}

#[test]
fn a_file_larger_than_the_disk_is_placed_and_removed() {
    let mut places = Places::new(8 * FILE_BLOCK, 0, 0);
    for file in 1..20 {
        assert!(places.block(file, 0) < 8 * FILE_BLOCK);
        places.inode(file);
    }
    for file in 1..20 {
        places.forget(&call(Class::Remove, 0, file, false, 0));
    }
    assert_eq!((places.blocks.len(), places.inodes.len(), places.homes.len()), (0, 0, 0));
}
