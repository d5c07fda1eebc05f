use super::super::{Pool, MOST};
use super::*;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;

#[test]
fn freebsd_4_counts_calls_and_forgets_all_for_one_out_of_order() {
    assert_eq!(counts(Choice::Default4, &[0, 1, 2, 3]), [5, 6, 7, 8]);
    assert_eq!(counts(Choice::Default4, &[9, 10, 11]), [2, 3, 4]);
    // 2 overtakes 1, and then 1 is late, and 3 is not what follows 1.
    assert_eq!(counts(Choice::Default4, &[0, 2, 1, 3, 4]), [5, 1, 0, 0, 1]);
    assert_eq!(counts(Choice::Default4, &[0, 1, 0]), [5, 6, 7], "from the beginning again");
    let all: Vec<u64> = (0..200).collect();
    assert_eq!(counts(Choice::Default4, &all)[199], MOST);
}

#[test]
fn always_counts_as_high_as_can_be() {
    assert_eq!(counts(Choice::Always, &[7, 90, 3]), [MOST; 3]);
}

#[test]
fn slowdown_keeps_the_count_within_eight_blocks_and_halves_it_beyond() {
    assert_eq!(counts(Choice::SlowDown, &[0, 2, 1, 3, 4]), [5, 5, 5, 5, 6]);
    assert_eq!(counts(Choice::SlowDown, &[0, 1, 2, 11, 12]), [5, 6, 7, 7, 8], "64 KB away");
    assert_eq!(counts(Choice::SlowDown, &[0, 1, 2, 12, 99, 0]), [5, 6, 7, 3, 1, 2]);
    assert_eq!(counts(Choice::SlowDown, &[0, 99, 50, 99, 50]), [5, 2, 1, 0, 0]);
}

#[test]
fn freebsd_9_counts_bytes_and_is_near_as_far_as_sixteen_reads() {
    let mut heuristic = Choice::FreeBsd9(16 * 1024).make(None);
    let mut seen = |offset, bytes| heuristic.seen(1, &Read { offset, bytes, at: 0 });
    assert_eq!(seen(0, 65536), 8, "four pieces more");
    assert_eq!(seen(65536 + (1 << 20), 65536), 8, "16 reads of 64 KB away");
    assert_eq!(seen(0, 1), 9, "from the beginning again");
    assert_eq!(seen(1 + (256 << 10), 1), 9, "16 blocks away");
    assert_eq!(seen(3 + (512 << 10), 1), 4);
    assert_eq!([seen(9 << 20, 1), seen(0, 8192), seen(9 << 20, 1)], [2, 3, 1]);
    assert_eq!([seen(0, 1), seen(9 << 20, 1), seen(5 << 20, 1)], [2, 1, 0]);
}

#[test]
fn cursors_are_read_on_each_by_itself() {
    // Two halves of a file, far apart.
    let strides: Vec<u64> = (0..40).flat_map(|block| [block, 1000 + block]).collect();
    let found = counts(Choice::Cursors(2), &strides);
    assert_eq!((found[0], found[1], found[78], found[79]), (1, 1, 40, 40));
    assert_eq!(counts(Choice::Cursors(1), &strides)[78..], [1, 1], "they eject each other");
    assert_eq!(counts(Choice::Cursors(8), &[0, 1, 2, 4, 3, 5]), [1, 2, 3, 3, 3, 3]);
}

#[test]
fn of_cursors_the_least_recently_used_goes() {
    // Cursors at 0, 100 and 200; 100 is the oldest when 300 comes, and 0 when 100 comes back.
    let places = [0, 100, 200, 1, 201, 300, 100, 202, 2];
    assert_eq!(counts(Choice::Cursors(3), &places), [1, 1, 1, 2, 2, 1, 1, 3, 1]);
}

#[test]
fn the_nearest_cursor_is_meant() {
    // Ends at 1 and 8: block 6 is nearer to the second.
    assert_eq!(counts(Choice::Cursors(4), &[0, 20, 7, 6, 8]), [1, 1, 1, 1, 1]);
    assert_eq!(counts(Choice::Cursors(4), &[20, 12, 13, 21, 14]), [1, 1, 2, 2, 3]);
}

/// A pool as a list that is scanned.
fn slow_pool(most: usize, reads: &[(u64, Read)]) -> Vec<u32> {
    let mut cursors: Vec<(u64, u64, u32)> = Vec::new();
    let mut found = Vec::new();
    for (file, read) in reads {
        let near = |own: &(u64, u64, u32)| own.1.abs_diff(read.offset);
        let place = (0..cursors.len())
            .filter(|&own| cursors[own].0 == *file && near(&cursors[own]) <= 65536)
            .min_by_key(|&own| (near(&cursors[own]), cursors[own].1));
        let count = place.map_or(1, |place| {
            let old = cursors.remove(place);
            let on = old.1 == read.offset || (read.offset == 0 && old.2 > 0);
            (old.2 + u32::from(on)).min(127)
        });
        cursors.retain(|own| (own.0, own.1) != (*file, read.end()));
        cursors.push((*file, read.end(), count));
        if cursors.len() > most {
            cursors.remove(0);
        }
        found.push(count);
    }
    found
}

#[test]
fn a_pool_is_a_list_of_cursors_the_least_recently_used_first() {
    for most in [1, 2, 5, 30] {
        let mut random = Random::seed_from_u64(most as u64);
        let mut reads = Vec::new();
        for at in 0..3_000 {
            let offset = random.next_u64() % 60 * 8192 * (1 + random.next_u64() % 3);
            reads.push((random.next_u64() % 3, Read { offset, bytes: 8192, at }));
        }
        let mut pool = Pool::new(most);
        let found: Vec<u32> = reads.iter().map(|(file, read)| pool.seen(*file, read)).collect();
        assert_eq!(found, slow_pool(most, &reads), "{most} cursors");
        assert!(pool.ejected() > 0 || most == 30);
    }
}

#[test]
fn a_file_read_at_many_places_takes_cursors_that_others_do_not_need() {
    let places: Vec<u64> =
        (0..20).flat_map(|block| (0..12).map(move |s| s * 100 + block)).collect();
    assert_eq!(last(&mut Pool::new(16), 1, &places), 20);
    assert_eq!(last(&mut *Choice::Cursors(8).make(None), 1, &places), 1);
}

#[test]
fn reorder_finds_the_sequence_within_its_window() {
    let late = [3, 7, 20, 33];
    let numbers = swapped(60, &late);
    let found = counts(Choice::Reorder(5_000_000), &numbers);
    assert_eq!(found[59], 64, "as if they had come in order");
    assert_eq!(found[3..5], [7, 9], "held back, then both");
    assert!(counts(Choice::Default4, &numbers)[59] < 30);
}

#[test]
fn reorder_gives_up_after_its_window() {
    // Block 1 comes 8 ms after 2 has come.
    let numbers = [0, 2, 3, 4, 5, 6, 7, 8, 9, 1, 10];
    assert_eq!(counts(Choice::Reorder(9_000_000), &numbers)[10], 15);
    // Then 2 starts over, and 3 to 6 go on.
    assert_eq!(counts(Choice::Reorder(3_000_000), &numbers)[4..7], [5, 5, 6]);
    assert_eq!(counts(Choice::Reorder(0), &numbers)[2], 2, "1, and then 3 goes on");
}

#[test]
fn reads_out_of_order_keep_the_count_of_freebsd_4_low() {
    for (share, least, most) in [(2, 30.0, 60.0), (6, 9.0, 20.0), (10, 4.0, 12.0)] {
        let mut random = Random::seed_from_u64(share);
        let late: Vec<u64> = (0..39_999).filter(|_| random.next_u64() % 100 < share).collect();
        let found = counts(Choice::Default4, &swapped(40_000, &late));
        let mean = f64::from(found.iter().sum::<u32>()) / found.len() as f64;
        assert!((least..most).contains(&mean), "{share} %: {mean}");
        assert_eq!(counts(Choice::SlowDown, &swapped(40_000, &late))[39_999], MOST);
    }
}
