//! Growing trees on rows of bytes, for several outputs at once.
//!
//! A tree is grown best splits first: of all nodes that can be split, the one whose split takes
//! most from the squared error of all outputs is next (Breiman, Friedman, Olshen and Stone,
//! "Classification and Regression Trees", 1984; best first as Shi, "Best-first decision tree
//! learning", 2007). So the first nodes of a tree are those of the tree that would have been grown
//! with fewer leaves.

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

/// How large trees grow, and of how many columns a split is the best.
#[derive(Clone, Copy, Debug)]
pub struct Growth {
    /// A tree has at most so many leaves.
    pub leaves: usize,
    /// A leaf has at least so many rows.
    pub leaf_rows: usize,
    /// A split is the best of so many columns, drawn anew for each node.
    pub tried: usize,
}

/// `count` trees, each grown by itself on all rows, or on `drawn` of them with replacement. A column
/// is split at random (Geurts, Ernst and Wehenkel, "Extremely randomized trees", 2006).
///
/// The same numbers make the same trees, with however many `threads`.
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
        Tree::grow(sample, sample.answers(), rows, growth, Search::at_random(sample, random))
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

/// The means of the answers, and `count` trees, each grown to predict what is left of the answers
/// when the means and `rate` times the trees before are taken from them; on half of the rows, drawn
/// without replacement (Friedman, "Stochastic gradient boosting", 2002). A column is split where it
/// is best.
pub fn boosted(
    sample: &Sample,
    growth: Growth,
    count: usize,
    rate: f32,
    seed: u64,
) -> (Vec<f32>, Trees) {
    let means = sample.means();
    let mut left = sample.answers().to_vec();
    for row in left.chunks_exact_mut(sample.lanes()) {
        row.iter_mut().zip(&means).for_each(|(left, mean)| *left -= mean);
    }
    let mut order: Vec<u32> = (0..sample.rows() as u32).collect();
    let trees = (0..count)
        .map(|number| {
            let mut random = seeded(seed, number);
            let half = sample.rows().div_ceil(2);
            split::draw(&mut order, half, &mut random);
            let mut rows = order[..half].to_vec();
            rows.sort_unstable();
            let tree = Tree::grow(sample, &left, rows, growth, Search::for_best(sample, random));
            tree.take_from(&mut left, rate, sample);
            tree
        })
        .collect();
    (means[..sample.outputs()].to_vec(), Trees::new(trees, sample.outputs()))
}

fn seeded(seed: u64, number: usize) -> Random {
    Random::seed_from_u64(seed ^ (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}
