//! Clusters in hand-made tables: `h` is a block in memory, `m` a marked one, `.` a missing one.

#![allow(clippy::single_range_in_vec_init)] // Some lists of clusters have one element.

use super::*;

/// One file, in which some blocks begin a new extent.
struct Table {
    blocks: Vec<(bool, bool)>,
    extents: Vec<u64>,
}

impl Table {
    fn new(text: &str) -> Self {
        let blocks = text.chars().map(|own| (own != '.', own == 'm')).collect();
        Self { blocks, extents: vec![text.len() as u64] }
    }

    fn text(&self) -> String {
        let letter = |own: &(bool, bool)| match own {
            (_, true) => 'm',
            (true, _) => 'h',
            _ => '.',
        };
        self.blocks.iter().map(letter).collect()
    }
}

impl Blocks for Table {
    fn held(&self, _: u64, block: u64) -> bool {
        self.blocks.get(block as usize).is_some_and(|own| own.0)
    }

    fn contiguous(&self, _: u64, block: u64) -> u64 {
        self.extents.iter().find(|end| **end > block).map_or(0, |end| end - block)
    }

    fn mark(&mut self, _: u64, block: u64) {
        self.blocks[block as usize].1 = true;
    }

    fn unmark(&mut self, _: u64, block: u64) -> bool {
        std::mem::take(&mut self.blocks[block as usize].1)
    }
}

const V4: ClusterRules =
    ClusterRules { version: Version::V4, block: 16384, cluster: 4, buffers: 4096 };
const V9: ClusterRules = ClusterRules { version: Version::V9, ..V4 };

type Found = (Option<Range<u64>>, Vec<Range<u64>>, String);

/// Read 8 KB of a block; return what is read, and the table after that.
fn read(rules: ClusterRules, text: &str, block: u64, count: u64) -> Found {
    read_of(rules, Table::new(text), block, count, 8192)
}

fn read_of(rules: ClusterRules, mut table: Table, block: u64, count: u64, bytes: u64) -> Found {
    let mut ahead = Vec::new();
    let now = rules.read(&Wanted { file: 0, block, bytes, count }, &mut table, &mut ahead);
    for cluster in now.iter().chain(&ahead) {
        for block in cluster.clone() {
            assert!(!table.blocks[block as usize].0, "{block} is read twice");
            table.blocks[block as usize].0 = true;
        }
    }
    (now, ahead, table.text())
}

#[test]
fn a_block_at_random_is_read_alone() {
    assert_eq!(read(V4, "..........", 3, 0), (Some(3..4), vec![], "...m......".into()));
    assert_eq!(read(V4, "..........", 3, 1), (Some(3..4), vec![], "...m......".into()));
}

#[test]
fn the_first_read_of_a_file_reads_one_cluster_ahead() {
    let found = read(V4, "............", 0, 5);
    assert_eq!(found, (Some(0..1), vec![1..5], "mmhhm.......".into()));
    // A short count makes a short cluster: two blocks, as after an entry of nfsheur was ejected.
    assert_eq!(read(V4, "............", 3, 2), (Some(3..4), vec![4..6], "...mmm......".into()));
}

#[test]
fn a_marked_block_begins_the_next_cluster_and_keeps_two_under_way() {
    // Walks to 5, marks 3 (the end of a cluster's length) on the way.
    let found = read(V4, "mmhhm...........", 0, 127);
    assert_eq!(found, (None, vec![5..9], "hmhmmmhhm.......".into()));
    // Eight are held behind it: enough, and 7 and what is 3 behind are marked.
    let found = read(V4, "mhhhhhhhhh......", 0, 127);
    assert_eq!(found, (None, vec![], "hhhmhhhmhh......".into()));
    let found = read(V4, "hhhhhhhmhhhhhh..", 7, 127);
    assert_eq!(found, (None, vec![14..16], "hhhhhhhhhhmhhhmh".into()));
}

#[test]
fn a_block_without_a_mark_begins_nothing() {
    let text = "hhhh............";
    assert_eq!(read(V4, text, 3, 127), (None, vec![], text.into()));
    let text = "hhhm............";
    assert_eq!(read(V4, text, 3, 0), (None, vec![], text.into()), "read at random: mark stays");
}

#[test]
fn what_is_ahead_of_the_count_is_not_read() {
    // Behind 0 come five held blocks: the sixth is not below 0 + 4.
    let found = read(V4, "mhhhhh....", 0, 4);
    assert_eq!(found, (None, vec![], "hhhmhh....".into()));
}

#[test]
fn a_cluster_ends_where_a_block_is_held_or_lies_elsewhere() {
    let found = read(V4, "...h......", 0, 127);
    assert_eq!(found, (Some(0..1), vec![1..3], "mmhh......".into()), "cut: its end is not marked");
    let mut table = Table::new("..........");
    table.extents = vec![3, 10];
    let found = read_of(V4, table, 0, 127, 8192);
    assert_eq!((found.0, found.1), (Some(0..1), vec![1..3]));
    let found = read(V4, "hhm.", 2, 127);
    assert_eq!(found, (None, vec![3..4], "hhhm".into()), "the file ends");
}

#[test]
fn what_is_asked_for_is_read_together() {
    let found = read_of(V4, Table::new("................"), 0, 0, 3 * 16384);
    assert_eq!(found, (Some(0..3), vec![], "hmm.............".into()));
    let found = read_of(V4, Table::new("................"), 0, 9, 9 * 16384);
    assert_eq!(found, (Some(0..4), vec![4..8], "hmhmmhhm........".into()));
}

#[test]
fn few_buffers_are_not_all_filled_ahead() {
    let few = ClusterRules { buffers: 16, ..V4 };
    let found = read(few, "mh..........", 0, 127);
    assert_eq!(found, (None, vec![], "hm..........".into()), "an eighth: 2");
}

#[test]
fn freebsd_9_reads_as_many_clusters_as_the_count_tells() {
    let found = read(V9, "....................", 0, 10);
    assert_eq!(found.1, [1..5, 5..9, 9..13]);
    assert_eq!(found.2, "mmhhmmhhmmhhm.......");
    assert_eq!(read(V9, "....................", 0, 1).1, []);
    let found = read(V9, "mhhhhh..............", 0, 8);
    assert_eq!(found.1, [6..10]);
    assert_eq!(read(V9, "mhhhhhhh............", 0, 8).1, []);
    assert_eq!(read(V9, "......", 2, 127).1, [3..6], "the file ends");
    let ahead = |text: &str| read(V9, text, 0, 127).1.iter().map(|own| own.end).max();
    assert_eq!(ahead(&".".repeat(200)), Some(65), "vfs.read_max");
}

#[test]
fn freebsd_9_goes_on_behind_what_is_held() {
    let found = read(V9, ".hh...h.............", 0, 8);
    assert_eq!((found.0, found.1), (Some(0..1), vec![3..6, 7..11]));
}
