//! Growing a tree, and grown trees.

use super::sample::Sample;
use super::split::{add, Part, Search, Split};
use super::Growth;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;

/// The column of a leaf.
pub const LEAF: u16 = crate::forest::LEAF;

/// A node is not split if its means leave at most this share of its answers' squares, which is only
/// rounding error.
const PURE: f64 = 1e-9;

/// A tree's nodes in the order in which they were made, and each node's means, by output.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    means: Vec<f32>,
    lanes: usize,
}

/// A node; rows whose byte in `column` is at most `threshold` go on to node `child`, others to the
/// next one.
#[derive(Clone, Copy, Debug)]
struct Node {
    column: u16,
    threshold: u8,
    child: u32,
    rows: u32,
}

/// A node that can be split: the split's reduction of the squared error, the rows, and the splits
/// above it.
struct Open {
    gain: f64,
    node: usize,
    rows: Range<usize>,
    height: u8,
    split: Split,
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Open {}

impl Tree {
    /// A tree that predicts the `targets` of `rows` of a sample.
    pub(super) fn grow(
        sample: &Sample,
        targets: &[f32],
        rows: Vec<u32>,
        growth: Growth,
        search: Search,
    ) -> Tree {
        let tree = Tree { nodes: Vec::new(), means: Vec::new(), lanes: sample.lanes() };
        let all = 0..rows.len();
        let (open, greater) = (BinaryHeap::new(), Vec::with_capacity(rows.len()));
        let mut growing = Growing { sample, targets, growth, search, rows, greater, open, tree };
        growing.add(all, 0);
        for _ in 1..growth.leaves {
            let Some(open) = growing.open.pop() else { break };
            growing.split(open);
        }
        growing.tree
    }

    /// Subtracts `rate` times the tree's predictions from the `residuals` of all rows; those of
    /// unknown answers stay 0.
    pub(super) fn subtract_from(&self, residuals: &mut [f32], rate: f32, sample: &Sample) {
        for (row, residuals) in residuals.chunks_exact_mut(self.lanes).enumerate() {
            let mean = &self.means[self.leaf(row, sample) * self.lanes..][..self.lanes];
            residuals.iter_mut().zip(mean).for_each(|(left, mean)| *left -= rate * mean);
            if let Some(known) = sample.known(row) {
                residuals.iter_mut().zip(known).for_each(|(left, known)| *left *= known);
            }
        }
    }

    fn leaf(&self, row: usize, sample: &Sample) -> usize {
        let mut place = 0;
        loop {
            let node = self.nodes[place];
            if node.column == LEAF {
                return place;
            }
            let greater = sample.column(usize::from(node.column))[row] > node.threshold;
            place = node.child as usize + usize::from(greater);
        }
    }
}

/// A tree while it grows. `rows` are ordered such that those of each leaf lie together, ascending.
struct Growing<'a> {
    sample: &'a Sample,
    targets: &'a [f32],
    growth: Growth,
    search: Search,
    rows: Vec<u32>,
    /// Scratch memory of [`Growing::split`].
    greater: Vec<u32>,
    open: BinaryHeap<Open>,
    tree: Tree,
}

impl Growing<'_> {
    /// Makes a leaf of a range of the rows, below `height` splits, and queues its best split, if
    /// there is one.
    fn add(&mut self, range: Range<usize>, height: u8) {
        let (rows, lanes) = (&self.rows[range.clone()], self.sample.lanes());
        let mut sums = vec![0.0_f32; lanes];
        let mut squares = 0.0;
        for &row in rows {
            let target = &self.targets[row as usize * lanes..][..lanes];
            add(&mut sums, target);
            squares += f64::from(target.iter().map(|value| value * value).sum::<f32>());
        }
        let count = rows.len() as f64;
        let node = self.tree.nodes.len();
        self.tree.nodes.push(Node {
            column: LEAF,
            threshold: 0,
            child: 0,
            rows: rows.len() as u32,
        });
        let counts = self.sample.counts(rows);
        self.tree.means.extend(sums.iter().zip(counts).map(|(sum, count)| sum / count.max(1.0)));
        let explained = sums.iter().map(|&sum| f64::from(sum).powi(2)).sum::<f64>() / count;
        let part = Part { rows, sums: &sums };
        let Growth { tried, leaf_rows, .. } = self.growth;
        let is_small = height >= self.growth.height || rows.len() < 2 * leaf_rows;
        if is_small || squares - explained <= PURE * squares {
            return;
        }
        if let Some(split) = self.search.best(self.sample, self.targets, &part, tried, leaf_rows) {
            self.open.push(Open {
                gain: split.worth - explained,
                node,
                rows: range,
                height,
                split,
            });
        }
    }

    /// Splits a leaf into two.
    fn split(&mut self, Open { node, rows: range, height, split, .. }: Open) {
        let column = self.sample.column(usize::from(split.column));
        let rows = &mut self.rows[range.clone()];
        self.greater.clear();
        let mut smaller = 0;
        for place in 0..rows.len() {
            let row = rows[place];
            if column[row as usize] <= split.threshold {
                rows[smaller] = row;
                smaller += 1;
            } else {
                self.greater.push(row);
            }
        }
        rows[smaller..].copy_from_slice(&self.greater);
        let child = self.tree.nodes.len() as u32;
        let Node { rows, .. } = self.tree.nodes[node];
        let Split { column, threshold, .. } = split;
        self.tree.nodes[node] = Node { column, threshold, child, rows };
        let middle = range.start + smaller;
        self.add(range.start..middle, height + 1);
        self.add(middle..range.end, height + 1);
    }
}

/// Grown trees; each can be cut to the tree that growth with fewer leaves would give.
#[derive(Debug)]
pub struct Trees {
    trees: Vec<Tree>,
    outputs: usize,
}

/// The nodes of trees, one tree after the other: each node comes before its children, the smaller
/// one right after it.
#[derive(Debug, Default)]
pub struct Nodes {
    /// The first node of each tree.
    pub roots: Vec<u32>,
    /// The column that each node splits on; [`LEAF`] in a leaf.
    pub columns: Vec<u16>,
    /// The largest byte that goes on to the next node; 0 in a leaf.
    pub thresholds: Vec<u8>,
    /// The node of greater bytes; 0 in a leaf.
    pub targets: Vec<u32>,
    /// The rows that a leaf was grown on; 0 elsewhere.
    pub rows: Vec<u32>,
    /// The means of each leaf's rows, leaf by leaf in the order of the nodes, by output.
    pub means: Vec<f32>,
}

impl Trees {
    pub(super) fn new(trees: Vec<Tree>, outputs: usize) -> Self {
        Trees { trees, outputs }
    }

    /// The number of leaves of all trees.
    pub fn leaves(&self) -> usize {
        self.trees.iter().map(|tree| tree.nodes.len() / 2 + 1).sum()
    }

    /// The number of leaves of the largest tree.
    pub fn most_leaves(&self) -> usize {
        self.trees.iter().map(|tree| tree.nodes.len() / 2 + 1).max().unwrap_or(0)
    }

    /// The nodes of the trees, cut to at most `leaves` each (None: all).
    pub fn nodes(&self, leaves: Option<usize>) -> Nodes {
        let mut nodes = Nodes::default();
        for tree in &self.trees {
            nodes.roots.push(nodes.columns.len() as u32);
            nodes.add(tree, leaves, self.outputs);
        }
        nodes
    }
}

impl Nodes {
    fn add(&mut self, tree: &Tree, leaves: Option<usize>, outputs: usize) {
        // Each further leaf added two nodes.
        let count = leaves.map_or(tree.nodes.len(), |leaves| 2 * leaves.max(1) - 1);
        let mut pending = vec![(0, None)];
        while let Some((number, parent)) = pending.pop() {
            let (node, place) = (tree.nodes[number], self.columns.len());
            if let Some(parent) = parent {
                self.targets[parent] = place as u32;
            }
            let is_leaf = node.column == LEAF || node.child as usize >= count;
            if is_leaf {
                self.means.extend(&tree.means[number * tree.lanes..][..outputs]);
            } else {
                let child = node.child as usize;
                pending.extend([(child + 1, Some(place)), (child, None)]);
            }
            self.columns.push(if is_leaf { LEAF } else { node.column });
            self.thresholds.push(if is_leaf { 0 } else { node.threshold });
            self.targets.push(0);
            self.rows.push(if is_leaf { node.rows } else { 0 });
        }
    }
}
