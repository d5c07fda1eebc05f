use super::super::{Ahead, Held, Linux, Read, Zfetch, ZfetchRules};
use std::collections::HashSet;
use std::ops::Range;

const PAGE: u64 = 4096;

/// Memory that keeps everything.
#[derive(Default)]
struct Memory(HashSet<u64>);

impl Held for Memory {
    fn held(&self, _: u64, byte: u64) -> bool {
        self.0.contains(&(byte / PAGE))
    }
}

/// Show a policy reads of pages; return the pages that it reads for each.
fn pages(policy: &mut dyn Ahead, reads: &[(u64, u64)]) -> Vec<Range<u64>> {
    let mut memory = Memory::default();
    let mut all = Vec::new();
    for (at, &(page, count)) in reads.iter().enumerate() {
        let read = Read { offset: page * PAGE, bytes: count * PAGE, at: at as u64 };
        let found = policy.read(1, &read, &memory);
        let found = found.start / PAGE..found.end / PAGE;
        memory.0.extend(found.clone());
        memory.0.extend(page..page + count);
        all.push(found);
    }
    all
}

/// The reads with pages read ahead, and these pages.
fn read(policy: &mut dyn Ahead, reads: &[(u64, u64)]) -> Vec<(usize, Range<u64>)> {
    let found = pages(policy, reads).into_iter().enumerate();
    found.filter(|(_, pages)| !pages.is_empty()).collect()
}

#[test]
fn linux_doubles_its_window_at_the_mark_up_to_the_limit() {
    let one_by_one: Vec<(u64, u64)> = (0..80).map(|page| (page, 1)).collect();
    let found = read(&mut Linux::nfs_since_5_4(), &one_by_one);
    // 32 pages at most: 4, then at the first page read ahead 8, 16, 32, 32.
    let expected = [(0, 0..4), (1, 4..12), (4, 12..28), (12, 28..60), (28, 60..92), (60, 92..124)];
    assert_eq!(found, expected);
}

#[test]
fn linux_reads_no_more_than_asked_at_random() {
    let found = pages(&mut Linux::new(128 * 1024), &[(900, 2), (50, 1), (500, 3)]);
    assert_eq!(found, [900..902, 50..51, 500..503]);
}

#[test]
fn linux_with_a_large_limit_reads_on_for_long() {
    let mut linux = Linux::nfs_before_5_4(1 << 20);
    let reads: Vec<(u64, u64)> = (0..40).map(|turn| (turn * 256, 256)).collect();
    let found = read(&mut linux, &reads);
    assert_eq!(found[0], (0, 0..512));
    let longest = found.iter().map(|(_, pages)| pages.end - pages.start).max();
    assert_eq!(longest, Some(15 * 256));
}

#[test]
fn linux_follows_readers_of_two_places_by_their_marks() {
    let reads: Vec<(u64, u64)> = (0..40).flat_map(|page| [(page, 1), (10_000 + page, 1)]).collect();
    let found = read(&mut Linux::nfs_since_5_4(), &reads);
    let second: Vec<_> = found.iter().filter(|(_, pages)| pages.start >= 10_000).collect();
    assert!(second.len() > 3, "{found:?}");
    assert!(second.iter().any(|(_, pages)| pages.end - pages.start > 8), "{found:?}");
}

const RULES: ZfetchRules = ZfetchRules {
    streams: 2,
    min_distance: 16 * PAGE,
    max_distance: 24 * PAGE,
    max_reorder: 4 * PAGE,
    min_reap: 2,
};

#[test]
fn zfetch_reads_ahead_of_a_stream_ever_further() {
    let reads: Vec<(u64, u64)> = (0..9).map(|page| (page, 1)).collect();
    let found = pages(&mut Zfetch::new(RULES), &reads);
    // 2, 4, 8, 16 pages ahead of what comes next, then an eighth more each time.
    let ends: Vec<u64> = found.iter().map(|pages| pages.end).collect();
    assert_eq!(ends, [1, 4, 7, 12, 21, 24, 27, 30, 33]);
    assert!(found.windows(2).skip(1).all(|pair| pair[1].start == pair[0].end));
}

#[test]
fn zfetch_holds_a_stream_for_a_read_that_came_early() {
    let swapped = [(0, 1), (1, 1), (3, 1), (2, 1), (4, 1), (5, 1)];
    let ends = |rules| -> Vec<u64> {
        pages(&mut Zfetch::new(rules), &swapped).iter().map(|pages| pages.end).collect()
    };
    assert_eq!(ends(RULES), [1, 4, 6, 12, 21, 24]);
    let strict = ends(ZfetchRules { max_reorder: 0, ..RULES });
    assert!(strict[5] < 20, "{strict:?}");
}

#[test]
fn zfetch_has_so_many_streams_for_a_file() {
    let turns = |places: u64| -> Vec<(u64, u64)> {
        (0..8).flat_map(|page| (0..places).map(move |place| (place * 1000 + page, 1))).collect()
    };
    let fetched = |places| read(&mut Zfetch::new(RULES), &turns(places)).len();
    assert!(fetched(2) >= 10);
    assert_eq!(fetched(3), 0, "each ejects the one that comes next");
    let patient = ZfetchRules { min_reap: 1_000, ..RULES };
    let fetched = read(&mut Zfetch::new(patient), &turns(3)).len();
    assert!(fetched >= 10, "two of them keep their places");
}
