//! The search for a node's split: the best of some columns.

use super::sample::Sample;
use rand_xoshiro::rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus as Random;

const VALUES: usize = 256;

/// A split: rows whose byte in `column` is at most `threshold`, and the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) column: u16,
    pub(super) threshold: u8,
    /// The reduction of the squared error of all outputs, plus a constant of the node.
    pub(super) worth: f64,
}

/// The rows of a node, and the sums of their targets.
pub(super) struct Part<'a> {
    pub(super) rows: &'a [u32],
    pub(super) sums: &'a [f32],
}

/// Finds splits of one tree's nodes, with reused scratch memory.
pub(super) struct Search {
    order: Vec<u32>,
    random: Random,
    values: Vec<u8>,
    less: Vec<f32>,
    bins: Option<Bins>,
}

/// For each value of a column, the number of rows that have it, and their sums.
struct Bins {
    counts: [u32; VALUES],
    sums: Vec<f32>,
}

impl Search {
    /// Splits each column tried at random, between two of the node's values.
    pub(super) fn at_random(sample: &Sample, random: Random) -> Self {
        Search {
            order: (0..sample.width() as u32).collect(),
            random,
            values: Vec::with_capacity(sample.rows()),
            less: vec![0.0; sample.lanes()],
            bins: None,
        }
    }

    /// Splits each column tried at its best threshold.
    pub(super) fn for_best(sample: &Sample, random: Random) -> Self {
        let bins = Bins { counts: [0; VALUES], sums: vec![0.0; VALUES * sample.lanes()] };
        Search { bins: Some(bins), ..Search::at_random(sample, random) }
    }

    /// The best split of `tried` random columns, or of more until one varies among the rows. None if
    /// no split leaves `leaf_rows` on each side.
    pub(super) fn best(
        &mut self,
        sample: &Sample,
        targets: &[f32],
        part: &Part<'_>,
        tried: usize,
        leaf_rows: usize,
    ) -> Option<Split> {
        let mut best: Option<Split> = None;
        let mut varies = false;
        for place in 0..self.order.len() {
            if place >= tried && varies {
                break;
            }
            let other = place + below(&mut self.random, self.order.len() - place);
            self.order.swap(place, other);
            let number = self.order[place];
            sample.values(number as usize, part.rows, &mut self.values);
            let (least, most) = range(&self.values);
            if least == most {
                continue;
            }
            varies = true;
            let found = match self.bins {
                None => self.random_threshold(targets, part, leaf_rows, (least, most)),
                Some(_) => self.best_threshold(targets, part, leaf_rows, (least, most)),
            };
            if let Some((threshold, worth)) = found {
                if best.is_none_or(|best| worth > best.worth) {
                    best = Some(Split { column: number as u16, threshold, worth });
                }
            }
        }
        best
    }

    fn random_threshold(
        &mut self,
        targets: &[f32],
        part: &Part<'_>,
        leaf_rows: usize,
        (least, most): (u8, u8),
    ) -> Option<(u8, f64)> {
        let threshold = least + below(&mut self.random, usize::from(most - least)) as u8;
        let smaller = self.values.iter().filter(|value| **value <= threshold).count();
        let greater = part.rows.len() - smaller;
        if smaller.min(greater) < leaf_rows {
            return None;
        }
        // The smaller side is summed; the other side's sums are the difference.
        let below = smaller <= greater;
        self.less.fill(0.0);
        for (&row, &value) in part.rows.iter().zip(&self.values) {
            if (value <= threshold) == below {
                let lanes = self.less.len();
                add(&mut self.less, &targets[row as usize * lanes..][..lanes]);
            }
        }
        Some((threshold, worth(&self.less, part.sums, smaller.min(greater), smaller.max(greater))))
    }

    fn best_threshold(
        &mut self,
        targets: &[f32],
        part: &Part<'_>,
        leaf_rows: usize,
        (least, most): (u8, u8),
    ) -> Option<(u8, f64)> {
        let lanes = self.less.len();
        let bins = self.bins.as_mut()?;
        let range = usize::from(least)..usize::from(most) + 1;
        bins.counts[range.clone()].fill(0);
        bins.sums[range.start * lanes..range.end * lanes].fill(0.0);
        for (&row, &value) in part.rows.iter().zip(&self.values) {
            let value = usize::from(value);
            bins.counts[value] += 1;
            add(
                &mut bins.sums[value * lanes..][..lanes],
                &targets[row as usize * lanes..][..lanes],
            );
        }
        self.less.fill(0.0);
        let (mut smaller, mut last, mut best) = (0, None, None);
        for value in range {
            let count = bins.counts[value] as usize;
            if count == 0 {
                continue;
            }
            let greater = part.rows.len() - smaller;
            if let Some(last) = last.filter(|_| smaller >= leaf_rows && greater >= leaf_rows) {
                let worth = worth(&self.less, part.sums, smaller, greater);
                if best.is_none_or(|(_, most)| worth > most) {
                    best = Some((((last + value) / 2) as u8, worth));
                }
            }
            smaller += count;
            add(&mut self.less, &bins.sums[value * lanes..][..lanes]);
            last = Some(value);
        }
        best
    }
}

/// The sum of squares that the means of a split's sides explain. One side has `sums` and `one` rows;
/// the other has the rest of the node's sums `all`, and `other` rows.
fn worth(sums: &[f32], all: &[f32], one: usize, other: usize) -> f64 {
    let (mut first, mut second) = (0.0_f64, 0.0_f64);
    for (&sum, &all) in sums.iter().zip(all) {
        let (sum, rest) = (f64::from(sum), f64::from(all) - f64::from(sum));
        first += sum * sum;
        second += rest * rest;
    }
    first / one as f64 + second / other as f64
}

pub(super) fn add(sums: &mut [f32], row: &[f32]) {
    for (sum, value) in sums.iter_mut().zip(row) {
        *sum += value;
    }
}

fn range(values: &[u8]) -> (u8, u8) {
    values.iter().fold((u8::MAX, 0), |(least, most), &value| (least.min(value), most.max(value)))
}

/// A number below `end`, which is not 0.
pub(super) fn below(random: &mut Random, end: usize) -> usize {
    // The high half of a product (Lemire); for so few values its bias is negligible.
    ((u128::from(random.next_u64()) * end as u128) >> 64) as usize
}

/// Puts `count` of `values`, drawn without replacement, first.
pub(super) fn draw(values: &mut [u32], count: usize, random: &mut Random) {
    for place in 0..count.min(values.len()) {
        let other = place + below(random, values.len() - place);
        values.swap(place, other);
    }
}
