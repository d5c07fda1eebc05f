//! Growing trees on rows of bytes, for several outputs at once.
//!
//! Growth is best-first: the next split is the one that most reduces the squared error of all
//! outputs (Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984;
//! best-first as Shi, "Best-first decision tree learning", 2007). So the first nodes of a tree are
//! those of the tree that growth with fewer leaves would give.

mod sample;
mod split;
#[cfg(test)]
mod tests;
mod tree;

pub use sample::{Sample, SampleError};
pub use tree::{Nodes, Trees, LEAF};

use rand_xoshiro::rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use split::Search;
use std::thread;
use tree::Tree;

/// Limits on the growth of trees.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// Greatest number of leaves of a tree.
    pub leaves: usize,
    /// Least number of rows in a leaf.
    pub leaf_rows: usize,
    /// Greatest number of splits above a leaf.
    pub height: u8,
    /// Number of columns tried for a split, drawn for each node.
    pub tried: usize,
}

/// `count` independent trees, each grown on all rows, or on `drawn` of them with replacement. A
/// column is split at random (Geurts, Ernst and Wehenkel, "Extremely randomized trees", 2006).
///
/// The trees do not depend on the number of `threads`.
pub fn randomized(
    sample: &Sample,
    growth: Growth,
    count: usize,
    drawn: Option<usize>,
    seed: u64,
    threads: usize,
) -> Trees {
    let one = |number: usize| {
        let mut random = seeded(seed, number);
        let mut rows: Vec<u32> = match drawn {
            None => (0..sample.rows() as u32).collect(),
            Some(drawn) => {
                (0..drawn).map(|_| split::below(&mut random, sample.rows()) as u32).collect()
            }
        };
        rows.sort_unstable();
        Tree::grow(sample, sample.targets(), rows, growth, Search::at_random(sample, random))
    };
    let mut trees: Vec<Option<Tree>> = (0..count).map(|_| None).collect();
    let share = count.div_ceil(threads.max(1)).max(1);
    thread::scope(|scope| {
        for (number, trees) in trees.chunks_mut(share).enumerate() {
            scope.spawn(move || {
                for (place, tree) in trees.iter_mut().enumerate() {
                    *tree = Some(one(number * share + place));
                }
            });
        }
    });
    Trees::new(trees.into_iter().flatten().collect(), sample.outputs())
}

/// The means of the answers, and `count` boosted trees (Friedman, "Stochastic gradient boosting",
/// 2002). Each tree predicts the residuals of the means and of `rate` times the trees before, on half
/// of the rows, drawn without replacement. A column is split at its best threshold.
pub fn boosted(
    sample: &Sample,
    growth: Growth,
    count: usize,
    rate: f32,
    seed: u64,
) -> (Vec<f32>, Trees) {
    let mut residuals = sample.targets().to_vec();
    let mut order: Vec<u32> = (0..sample.rows() as u32).collect();
    let trees = (0..count)
        .map(|number| {
            let mut random = seeded(seed, number);
            let half = sample.rows().div_ceil(2);
            split::draw(&mut order, half, &mut random);
            let mut rows = order[..half].to_vec();
            rows.sort_unstable();
            let search = Search::for_best(sample, random);
            let tree = Tree::grow(sample, &residuals, rows, growth, search);
            tree.subtract_from(&mut residuals, rate, sample);
            tree
        })
        .collect();
    (sample.means()[..sample.outputs()].to_vec(), Trees::new(trees, sample.outputs()))
}

fn seeded(seed: u64, number: usize) -> Random {
    Random::seed_from_u64(seed ^ (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
