//! The table of the files that a server knows: FreeBSD's `nfsheur`.

use serde::Deserialize;

/// Use counts of a new entry, per use, and at most: `NHUSE_INIT`, `NHUSE_INC`, `NHUSE_MAX`.
const NEW: u32 = 64;
const USE: u32 = 16;
const MOST_USED: u32 = 2048;

/// Parameters of a table.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct TableRules {
    /// Number of entries, at least one.
    pub entries: usize,
    /// Number of entries that are probed for a file.
    pub probes: usize,
    /// First entry of a file.
    pub slots: Slots,
    /// Replacement policy.
    pub victim: Victim,
}

/// The first entry probed for a file.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Slots {
    /// The file's number, modulo the table's size: vnodes that were made one after the other.
    Consecutive,
    /// Random, but constant for a file: vnodes at arbitrary places in memory. The number is the
    /// seed.
    Scattered(u64),
}

/// Replacement policy among the probed entries.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Victim {
    /// The least often used; each unsuccessful probe of an entry takes one from its uses.
    LeastUsed,
    /// The least recently used, as papers describe `nfsheur`.
    LeastRecentlyUsed,
}

impl TableRules {
    /// Those of FreeBSD 4.6 to 4.8.
    pub fn freebsd4(slots: Slots) -> Self {
        Self { entries: 64, probes: 4, slots, victim: Victim::LeastUsed }
    }

    /// Those of Ellard and Seltzer, which were FreeBSD's from 5 to 8.
    pub fn freebsd5(slots: Slots) -> Self {
        Self { entries: 1017, probes: 32, slots, victim: Victim::LeastUsed }
    }

    /// Those of FreeBSD since 9; the number of entries is prime now.
    pub fn freebsd9(slots: Slots) -> Self {
        Self { entries: 1031, probes: 32, slots, victim: Victim::LeastUsed }
    }
}

/// States of files, within the capacity.
#[derive(Clone, Debug)]
pub struct Table<K> {
    rules: TableRules,
    entries: Vec<Entry<K>>,
    searches: u64,
    ejected: u64,
}

#[derive(Clone, Debug)]
struct Entry<K> {
    known: Option<(u64, K)>,
    uses: u32,
    last: u64,
}

impl<K: Clone> Table<K> {
    /// An empty table.
    pub fn new(rules: TableRules) -> Self {
        let entries = vec![Entry { known: None, uses: 0, last: 0 }; rules.entries.max(1)];
        Self { rules, entries, searches: 0, ejected: 0 }
    }

    /// The state of a file; `begin` makes that of an unknown one.
    pub fn entry(&mut self, file: u64, begin: impl FnOnce() -> K) -> &mut K {
        self.searches += 1;
        let place = self.search(file);
        let known = self.holds(place, file);
        let entry = &mut self.entries[place];
        entry.last = self.searches;
        entry.uses = (if known { entry.uses } else { NEW } + USE).min(MOST_USED);
        if !known {
            self.ejected += u64::from(entry.known.take().is_some());
        }
        &mut entry.known.get_or_insert_with(|| (file, begin())).1
    }

    /// Number of ejected states.
    pub fn ejected(&self) -> u64 {
        self.ejected
    }

    /// The entry of a file, or the one to replace: one of the probed, or the next one.
    fn search(&mut self, file: u64) -> usize {
        let mut at = self.first(file);
        let mut victim = at;
        for _ in 0..self.rules.probes {
            if self.holds(at, file) {
                return at;
            }
            self.entries[at].uses = self.entries[at].uses.saturating_sub(1);
            at = (at + 1) % self.entries.len();
            if self.worth(at) < self.worth(victim) {
                victim = at;
            }
        }
        victim
    }

    fn first(&self, file: u64) -> usize {
        let number = match self.rules.slots {
            Slots::Consecutive => file,
            Slots::Scattered(seed) => scatter(file, seed),
        };
        (number % self.entries.len() as u64) as usize
    }

    fn holds(&self, place: usize, file: u64) -> bool {
        self.entries[place].known.as_ref().is_some_and(|known| known.0 == file)
    }

    fn worth(&self, place: usize) -> u64 {
        match self.rules.victim {
            Victim::LeastUsed => self.entries[place].uses.into(),
            Victim::LeastRecentlyUsed => self.entries[place].last,
        }
    }
}

/// A well-mixed number: the output function of splitmix64 (Steele, Lea and Flood, 2014).
fn scatter(file: u64, seed: u64) -> u64 {
    let mut mixed = file.wrapping_add(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    for _ in 0..2 {
        mixed = mixed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
    }
    mixed
}
