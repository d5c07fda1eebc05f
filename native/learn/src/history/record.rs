//! The statistics under a key, and their encoding.

use super::scale::{log, passed, share};

/// Bytes of a history for each key.
pub const BYTES_PER_KEY: usize = 16;
/// Memory of shares: a share is the mean of this many first outcomes; each further one has this
/// fraction of the weight.
pub const MEMORY: u8 = 10;
/// The number of shares, numbered as in [`Record::share`]: files that live no longer than each of
/// [`MARKS`], then those below.
pub const SHARES: usize = 8;
/// Ages at which survival is counted, microseconds.
pub const MARKS: [i64; 3] = [1_000_000, 5_000_000, 30_000_000];
const FIVE_SECONDS: usize = 1;
const EMPTY: usize = 3;
const AT_MOST_16K: usize = 4;
const AT_MOST_64K: usize = 5;
const WRITE_ONLY: usize = 6;
const READ_AFTER_WRITE: usize = 7;

/// A fact about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Whether it lives no longer than a mark.
    Mark(usize, bool),
    /// It died after this many microseconds.
    Died(i64),
    /// Its known size and use.
    Used(Use),
}

/// The size and use of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Use {
    pub size: Option<u64>,
    pub write_only: Option<bool>,
    pub read_after_write: Option<bool>,
}

impl Use {
    /// The use of a file with this largest size, these counts of reads and writes, and these times,
    /// each if known.
    pub fn new(
        size: Option<u64>,
        (reads, writes): (Option<u64>, Option<u64>),
        (atime, mtime): (Option<i64>, Option<i64>),
    ) -> Use {
        let read_after = atime.zip(mtime).map(|(atime, mtime)| atime > mtime);
        Use {
            size,
            // less than a read to five writes, as in the predicate
            write_only: reads.zip(writes).map(|(reads, writes)| reads.saturating_mul(5) < writes),
            read_after_write: if writes == Some(0) { Some(false) } else { read_after },
        }
    }
}

/// Statistics over births under one key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The number of births.
    pub births: u32,
    /// The time of the first birth.
    pub first_birth: i64,
    /// The time of the last birth.
    pub last_birth: i64,
    /// The time of the last death.
    pub last_death: Option<i64>,
    /// Shares among known outcomes, in 65,535ths.
    pub share: [u16; SHARES],
    /// The number of known outcomes, at most [`MEMORY`].
    pub known: [u8; SHARES],
    /// The lifespan of the last file that died, encoded.
    pub life: u8,
    /// The last known size, encoded.
    pub size: u8,
    /// Whether the last file with known use was only written: 1 no, 2 yes.
    pub write_only: u8,
    /// Hash of the shape of the last name, for callers; else 0.
    pub shape: u64,
}

/// The number of words of a record.
pub const WORDS: usize = 8;

impl Record {
    /// The record as words, the same on every machine.
    pub fn to_words(&self) -> [u64; WORDS] {
        let small = [self.life, self.size, self.write_only, self.last_death.is_some().into()];
        let shares = |from: usize| {
            let share = |at: usize| u64::from(self.share[from + at]);
            (0..4).fold(0, |word, at| word | share(at) << (16 * at))
        };
        [
            u64::from(self.births) | u64::from(u32::from_le_bytes(small)) << 32,
            self.first_birth as u64,
            self.last_birth as u64,
            self.last_death.unwrap_or(0) as u64,
            shares(0),
            shares(4),
            u64::from_le_bytes(self.known),
            self.shape,
        ]
    }

    /// The record of words from [`Record::to_words`]; none for invalid ones.
    pub fn from_words(words: &[u64; WORDS]) -> Option<Record> {
        let [small, first_birth, last_birth, last_death, low, high, known, shape] = *words;
        let [life, size, write_only, died] = ((small >> 32) as u32).to_le_bytes();
        let share = |at: usize| (if at < 4 { low } else { high } >> (16 * (at % 4))) as u16;
        let record = Record {
            births: small as u32,
            first_birth: first_birth as i64,
            last_birth: last_birth as i64,
            last_death: (died == 1).then_some(last_death as i64),
            share: std::array::from_fn(share),
            known: known.to_le_bytes(),
            life,
            size,
            write_only,
            shape,
        };
        let possible = record.known.iter().all(|&known| known <= MEMORY) && write_only <= 2;
        (possible && record.to_words() == *words).then_some(record)
    }

    /// Counts a birth.
    #[inline]
    pub fn bear(&mut self, at: i64) {
        if self.births == 0 {
            self.first_birth = at;
        }
        self.births = self.births.saturating_add(1);
        self.last_birth = at;
    }

    /// Learns a fact about a birth.
    #[inline]
    pub fn learn(&mut self, at: i64, fact: &Fact) {
        match fact {
            Fact::Mark(mark, yes) => self.count(*mark, *yes),
            Fact::Died(life) => {
                self.life = passed(0, *life);
                self.last_death = Some(at);
            }
            Fact::Used(used) => self.used(used),
        }
    }

    fn used(&mut self, used: &Use) {
        if let Some(size) = used.size {
            self.count(EMPTY, size == 0);
            self.count(AT_MOST_16K, size <= 16 << 10);
            self.count(AT_MOST_64K, size <= 64 << 10);
            self.size = log(size);
        }
        if let Some(yes) = used.write_only {
            self.count(WRITE_ONLY, yes);
            self.write_only = 1 + u8::from(yes);
        }
        if let Some(yes) = used.read_after_write {
            self.count(READ_AFTER_WRITE, yes);
        }
    }

    #[inline]
    fn count(&mut self, which: usize, yes: bool) {
        let known = &mut self.known[which];
        *known = (*known + 1).min(MEMORY);
        let target = if yes { i32::from(u16::MAX) } else { 0 };
        let share = i32::from(self.share[which]);
        self.share[which] = (share + (target - share) / i32::from(*known)) as u16;
    }

    /// Writes the statistics, encoded for a birth at a time.
    #[inline]
    pub fn tell(&self, at: i64, out: &mut [u8]) {
        let share = |which: usize| if self.known[which] > 0 { share(self.share[which]) } else { 0 };
        let since = |time: i64| if self.births > 0 { passed(time, at) } else { 0 };
        out.copy_from_slice(&[
            log(self.births.into()),
            share(0),
            share(1),
            share(2),
            share(EMPTY),
            share(AT_MOST_16K),
            share(AT_MOST_64K),
            share(WRITE_ONLY),
            share(READ_AFTER_WRITE),
            since(self.last_birth),
            self.life,
            self.size,
            self.write_only,
            self.last_death.map_or(0, |death| passed(death, at)),
            1 + self.known[FIVE_SECONDS],
            since(self.first_birth),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(record: &Record, at: i64) -> [u8; BYTES_PER_KEY] {
        let mut bytes = [0; BYTES_PER_KEY];
        record.tell(at, &mut bytes);
        bytes
    }

    #[test]
    fn an_empty_record_has_no_births_and_nothing_else() {
        let expected = [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0];
        assert_eq!(encoded(&Record::default(), 7), expected);
    }

    #[test]
    fn shares_are_means_of_the_first_ten_then_move_by_a_tenth() {
        let mut record = Record::default();
        let mut shares = Vec::new();
        for i in 0..14 {
            record.learn(0, &Fact::Mark(0, i < 5 || i == 12));
            shares.push(u32::from(record.share[0]) * 1000 / 65_535);
        }
        assert_eq!(shares[4..], [1000, 833, 714, 625, 555, 500, 450, 405, 464, 418]);
        assert_eq!(record.known[0], MEMORY);
    }

    #[test]
    fn a_record_comes_back_from_its_words_and_others_are_refused() {
        let record = Record {
            births: u32::MAX,
            first_birth: i64::MIN,
            last_birth: -2,
            last_death: Some(i64::MAX),
            share: [1, 2, 3, 4, 5, 6, 7, u16::MAX],
            known: [0, 1, 2, 3, 4, 5, 6, MEMORY],
            life: 8,
            size: 9,
            write_only: 2,
            shape: u64::MAX - 1,
        };
        for record in [record, Record::default(), Record { last_death: None, ..record }] {
            assert_eq!(Record::from_words(&record.to_words()), Some(record));
        }
        let words = record.to_words();
        for (word, bits) in [(0, 3 << 48), (0, 2 << 56), (6, 0xff)] {
            let mut damaged = words;
            damaged[word] |= bits;
            assert_eq!(Record::from_words(&damaged), None, "word {word}");
        }
    }

    #[test]
    fn unknown_uses_are_not_counted() {
        let mut record = Record::default();
        record.learn(0, &Fact::Used(Use::default()));
        assert_eq!(record, Record::default());
        let used = Use { size: Some(16 << 10), write_only: Some(true), ..Use::default() };
        record.learn(0, &Fact::Used(used));
        assert_eq!(record.known, [0, 0, 0, 1, 1, 1, 1, 0]);
        assert_eq!((record.share[EMPTY], record.share[AT_MOST_16K]), (0, u16::MAX));
        assert_eq!((record.size, record.write_only), (log(16 << 10), 2));
    }
}
