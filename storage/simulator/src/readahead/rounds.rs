//! Ejection rate of a table for files that are being read.

use super::{Table, TableRules};

/// Total bytes of the files of each set, and bytes of a read.
const SET: u64 = 256 << 20;
const BLOCK: u64 = 8 * 1024;

/// Ejections of files from a table, as a share of reads, for each number of readers.
///
/// The files are those of Ellard and Seltzer's benchmark: a set for each number of readers, 256 MB
/// altogether. The readers of a set take turns, a block of 8 KB each. All sets are read twice; the
/// second time counts.
pub fn ejections(rules: TableRules, readers: &[u64]) -> Vec<f64> {
    let mut table = Table::new(rules);
    let mut shares = Vec::new();
    for _ in 0..2 {
        let mut first = 0;
        shares.clear();
        for &set in readers {
            let before = table.ejected();
            for turn in 0..SET / BLOCK {
                table.entry(first + turn % set, || ());
            }
            first += set;
            shares.push((table.ejected() - before) as f64 / (SET / BLOCK) as f64);
        }
    }
    shares
}
