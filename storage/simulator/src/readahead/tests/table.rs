use super::super::{ejections, Slots, Table, TableRules, Victim};
use super::*;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;

/// The rule as described, with three plain lists.
struct Slow {
    files: Vec<Option<u64>>,
    used: Vec<i64>,
    last: Vec<u64>,
}

impl Slow {
    /// Look for a file whose search begins with a slot; return whether it was there.
    fn find(&mut self, file: u64, first: usize, probes: usize, lru: bool, now: u64) -> bool {
        let size = self.files.len();
        let mut candidate = first;
        for slot in (first..first + probes).map(|slot| slot % size) {
            if self.files[slot] == Some(file) {
                candidate = slot;
                break;
            }
            self.used[slot] = (self.used[slot] - 1).max(0);
            let next = (slot + 1) % size;
            let less = if lru {
                self.last[next] < self.last[candidate]
            } else {
                self.used[next] < self.used[candidate]
            };
            if less {
                candidate = next;
            }
        }
        let there = self.files[candidate] == Some(file);
        if !there {
            self.files[candidate] = Some(file);
            self.used[candidate] = 64;
        }
        self.used[candidate] = (self.used[candidate] + 16).min(2048);
        self.last[candidate] = now;
        there
    }
}

fn agrees(entries: usize, probes: usize, victim: Victim) {
    let rules = TableRules { entries, probes, slots: Slots::Consecutive, victim };
    let mut table = Table::new(rules);
    let mut slow =
        Slow { files: vec![None; entries], used: vec![0; entries], last: vec![0; entries] };
    let mut random = Random::seed_from_u64(entries as u64);
    let lru = victim == Victim::LeastRecentlyUsed;
    for now in 1..30_000 {
        // Some files are read over and over, others once.
        let file = random.next_u64() % if now % 3 == 0 { 400 } else { 20 };
        let mut new = false;
        table.entry(file, || new = true);
        let there = slow.find(file, (file % entries as u64) as usize, probes, lru, now);
        assert_eq!(!new, there, "{entries} entries, read {now}");
    }
    assert!(table.ejected() > 100);
}

#[test]
fn a_table_searches_as_its_description_says() {
    for victim in [Victim::LeastUsed, Victim::LeastRecentlyUsed] {
        for (entries, probes) in [(64, 4), (17, 4), (7, 32), (64, 32), (3, 1)] {
            agrees(entries, probes, victim);
        }
    }
}

#[test]
fn a_file_that_was_ejected_begins_again() {
    let rules =
        TableRules { entries: 1, probes: 1, slots: Slots::Consecutive, victim: Victim::LeastUsed };
    let mut heuristic = Choice::Default4.make(Some(rules));
    assert_eq!(last(&mut *heuristic, 1, &[0, 1, 2, 3]), 8);
    assert_eq!(last(&mut *heuristic, 2, &[0]), 5);
    assert_eq!(last(&mut *heuristic, 1, &[4]), 2);
    assert_eq!(heuristic.ejected(), 2);
}

/// Shares of reads that eject, in per cent, mean of vnodes scattered in 40 ways.
fn mean_ejections(entries: usize, probes: usize, victim: Victim) -> Vec<f64> {
    let seeds = 40;
    let readers = [1, 2, 4, 8, 16, 32];
    let mut means = vec![0.0; readers.len()];
    for seed in 0..seeds {
        let rules = TableRules { entries, probes, slots: Slots::Scattered(seed), victim };
        for (mean, share) in means.iter_mut().zip(ejections(rules, &readers)) {
            *mean += 100.0 * share / seeds as f64;
        }
    }
    means
}

#[test]
fn the_victim_matters_more_than_the_size_of_the_table() {
    let small = mean_ejections(64, 4, Victim::LeastUsed);
    assert!(small[0] < 0.1 && small[2] < 2.0, "{small:?}");
    assert!(small[4] > 4.0 && small[5] > 12.0, "{small:?}");
    let recent = mean_ejections(64, 4, Victim::LeastRecentlyUsed);
    assert!(recent[..5].iter().all(|share| *share < 0.1) && recent[5] < 2.0, "{recent:?}");
    let probed = mean_ejections(64, 32, Victim::LeastUsed);
    assert!(probed[5] < 1.0, "{probed:?}");
    let large = mean_ejections(1017, 4, Victim::LeastUsed);
    assert!(large.iter().all(|share| *share < 0.02), "{large:?}");
}

#[test]
fn vnodes_side_by_side_do_not_eject_each_other() {
    let shares = ejections(TableRules::freebsd4(Slots::Consecutive), &[1, 2, 4, 8, 16, 32]);
    assert!(shares.iter().all(|share| *share < 0.001), "{shares:?}");
}
