//! Forests: trees over small numbers, whose leaves hold a row of scores.

use super::are_distinct;
use super::bytes::{Block, Bytes};
use super::create::{Create, Needs};
use super::scores::Counted;
use super::steps::{leaf_steps, search, search_steps, step};
use arrow_buffer::{Buffer, ScalarBuffer};
use birthmark_contract::image::{self as format, NAME_NUMBERS};
use birthmark_learn::encode::{hashes, numbers};
use std::array::from_fn;

const HOURS: u8 = 24;
/// Number of trees walked at the same time, to overlap their memory accesses.
const ABREAST: usize = format::ABREAST as usize;

/// A section with forests over the same features.
#[derive(Debug)]
pub struct Forest {
    features: Vec<Feature>,
    tables: Vec<Table>,
    groups: Vec<Group>,
}

/// Trees, and the outputs that they score.
#[derive(Debug)]
struct Group {
    trees: Vec<Tree>,
    /// The nodes of all trees.
    nodes: ScalarBuffer<u32>,
    /// `columns` scores for each leaf of all trees.
    scores: Buffer,
    columns: usize,
    outputs: Vec<Output>,
}

/// The places of a tree's root among the nodes, and of its first leaf among the leaves.
#[derive(Debug)]
struct Tree {
    root: usize,
    leaf: usize,
    height: u64,
}

/// A predicate's score is the sum of the scores in a column.
#[derive(Debug)]
struct Output {
    predicate: usize,
    column: usize,
}

/// Bytes of an output.
const OUTPUT: u32 = 4;

/// The bytes of a create that forests split on.
type Row = [u8; format::FEATURES_MAX as usize];

/// The source of a feature.
#[derive(Debug)]
enum Feature {
    History(usize),
    Name(usize),
    Code { value: usize, table: usize },
    Hour,
}

/// Codes of values.
#[derive(Debug)]
struct Table {
    values: ScalarBuffer<u32>,
    codes: Buffer,
    other: u8,
    unknown: u8,
}

/// A split or a leaf.
struct Node {
    feature: u8,
    threshold: u8,
    /// The distance from a split to its first child, which the second follows; a leaf's number.
    further: usize,
}

impl Forest {
    /// Reads the section at `offset`.
    pub fn read(block: &Block, offset: u32, predicates: usize) -> Option<Self> {
        let head = block.array(offset, 1, 24, 8)?;
        let (features, groups) = (head.u32(0), head.u32(16));
        if features == 0 || features > format::FEATURES_MAX || groups > format::PREDICATES_MAX {
            return None;
        }
        let tables = block.array(head.u32(12), head.u32(8), 16, 4)?;
        let tables: Vec<Table> = collect(tables.rows(16).map(|row| Table::read(block, row)))?;
        let rows = block.array(head.u32(4), features, 8, 4)?.rows(8);
        let features: Vec<Feature> = collect(rows.map(|row| Feature::read(row, tables.len())))?;
        let rows = block.array(head.u32(20), groups, 28, 4)?.rows(28);
        let read = |row| Group::read(block, row, features.len());
        let groups: Vec<Group> = collect(rows.map(read))?;
        let outputs = groups.iter().flat_map(|group| &group.outputs);
        are_distinct(outputs.map(|output| output.predicate), predicates).then_some(())?;
        Some(Forest { groups, features, tables })
    }

    /// Greatest number of steps of a lookup.
    pub fn steps(&self) -> u64 {
        let feature = |feature: &Feature| match feature {
            Feature::Code { table, .. } => 1 + search_steps(self.tables[*table].values.len()),
            Feature::History(_) | Feature::Name(_) | Feature::Hour => 1,
        };
        let features: u64 = self.features.iter().map(feature).sum();
        features + self.groups.iter().map(Group::steps).sum::<u64>()
    }

    /// Gives the scores of a create.
    pub fn score(&self, create: &Create, scores: &mut Counted) {
        let seen = Seen::of(create);
        let mut row: Row = [0; format::FEATURES_MAX as usize];
        for (to, feature) in row.iter_mut().zip(&self.features) {
            *to = self.feature(feature, create, &seen);
        }
        self.groups.iter().for_each(|group| group.score(&row, scores));
    }

    /// The places of the section's predicates.
    pub fn predicates(&self) -> impl Iterator<Item = usize> + '_ {
        let outputs = self.groups.iter().flat_map(|group| &group.outputs);
        outputs.map(|output| output.predicate)
    }

    /// Adds the sources of the features.
    pub fn add_needs(&self, needs: &mut Needs) {
        for feature in &self.features {
            match feature {
                Feature::History(_) => needs.history = true,
                Feature::Code { value: 0..=2, .. } => needs.owner = true,
                Feature::Code { value: 3, .. } => needs.client = true,
                Feature::Name(_) | Feature::Code { .. } => {}
                Feature::Hour => needs.hour = true,
            }
        }
    }

    fn feature(&self, feature: &Feature, create: &Create, seen: &Seen) -> u8 {
        step(1);
        match *feature {
            Feature::History(byte) => {
                create.history.and_then(|history| history.get(byte)).copied().unwrap_or(0)
            }
            Feature::Name(which) => seen.numbers[which],
            Feature::Code { value, table } => self.tables[table].code(seen.values[value]),
            Feature::Hour => create.hour.filter(|hour| *hour < HOURS).unwrap_or(HOURS),
        }
    }
}

/// The values of features, besides the history.
struct Seen {
    numbers: [u8; NAME_NUMBERS],
    values: [Option<u32>; format::VALUES],
}

impl Seen {
    fn of(create: &Create) -> Self {
        let name = create.name.unwrap_or_default();
        let (shape, suffix) = hashes(name, &mut Vec::new());
        let [mode, uid, gid, client] = create.values;
        let values = [mode, uid, gid, client, Some(shape), Some(suffix)];
        Seen { numbers: numbers(name), values }
    }
}

impl Group {
    fn read(block: &Block, row: Bytes, features: usize) -> Option<Self> {
        let (trees, columns, outputs) = (row.u32(0), row.u32(16), row.u32(20));
        let counts = [columns, outputs];
        let room = counts.iter().all(|count| (1..=format::PREDICATES_MAX).contains(count));
        (room && trees <= format::TREES_MAX).then_some(())?;
        let firsts = block.array(row.u32(4), trees + 1, 8, 4)?.rows(8);
        let firsts: Vec<_> = firsts.map(|row| [row.u32(0), row.u32(4)]).collect();
        let [inner, leaves] = *firsts.last()?;
        let nodes = block.array(row.u32(8), inner, 4, 4)?.u32s();
        let scores = block.array(row.u32(12), leaves.checked_mul(columns)?, 1, 1)?.keep();
        let outputs = block.array(row.u32(24), outputs, OUTPUT, 4)?.rows(OUTPUT as usize);
        let outputs = collect(outputs.map(|row| Output::read(row, columns as usize)))?;
        (firsts[0] == [0, 0]).then_some(())?;
        let read = |pair: &[[u32; 2]]| Tree::read(&nodes, pair[0], pair[1], features);
        let trees = collect(firsts.windows(2).map(read))?;
        Some(Group { trees, nodes, scores, columns: columns as usize, outputs })
    }

    fn steps(&self) -> u64 {
        let highest = |eight: &[Tree]| eight.iter().map(|tree| tree.height).max();
        let walks = self.trees.chunks(ABREAST).filter_map(highest).map(|height| height + 1);
        let leaves = self.trees.len() as u64 * leaf_steps(self.columns);
        walks.sum::<u64>() + leaves + self.outputs.len() as u64
    }

    fn score(&self, row: &Row, scores: &mut Counted) {
        let mut sums = [0_u16; format::PREDICATES_MAX as usize];
        let sums = &mut sums[..self.columns];
        for eight in self.trees.chunks(ABREAST) {
            for (tree, leaf) in eight.iter().zip(self.leaves(eight, row)) {
                step(leaf_steps(self.columns));
                let begin = (tree.leaf + leaf) * self.columns;
                let leaf = &self.scores[begin..begin + self.columns];
                sums.iter_mut().zip(leaf).for_each(|(sum, score)| *sum += u16::from(*score));
            }
        }
        step(self.outputs.len() as u64);
        for output in &self.outputs {
            scores.give(output.predicate, sums[output.column]);
        }
    }

    /// The numbers of a row's leaves in at most [`ABREAST`] trees.
    fn leaves(&self, trees: &[Tree], row: &Row) -> [usize; ABREAST] {
        let mut at = from_fn(|lane| trees.get(lane).unwrap_or(&trees[0]).root);
        // Testing each time whether all are at leaves takes longer than one step too many.
        while self.go_on(&mut at, row) {
            self.go_on(&mut at, row);
        }
        step(1);
        at.map(|at| Node::of(self.nodes[at]).further)
    }

    /// Goes to the next node in each tree, or stays at a leaf; returns whether any was at a split.
    #[inline(always)]
    fn go_on(&self, at: &mut [usize; ABREAST], row: &Row) -> bool {
        let mut moved = false;
        for at in at {
            let node = Node::of(self.nodes[*at]);
            let second = row[usize::from(node.feature)] > node.threshold;
            let next = *at + node.further + usize::from(second);
            // A conditional move, because a mispredicted branch costs more.
            *at = if node.is_leaf() { *at } else { next };
            moved |= !node.is_leaf();
        }
        step(u64::from(moved));
        moved
    }
}

impl Output {
    fn read(row: Bytes, columns: usize) -> Option<Self> {
        let (predicate, column) = (row.u16(0) as usize, row.u16(2) as usize);
        (column < columns).then_some(Output { predicate, column })
    }
}

fn collect<T>(items: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    items.collect()
}

impl Feature {
    fn read(row: Bytes, tables: usize) -> Option<Self> {
        let (argument, table) = (row.u16(2) as usize, row.u32(4) as usize);
        match row.u16(0) as usize {
            format::SOURCE_HISTORY => Some(Feature::History(argument)),
            format::SOURCE_NAME => (argument < NAME_NUMBERS).then_some(Feature::Name(argument)),
            format::SOURCE_CODE => (argument < format::VALUES && table < tables)
                .then_some(Feature::Code { value: argument, table }),
            format::SOURCE_HOUR => Some(Feature::Hour),
            _ => None,
        }
    }
}

impl Table {
    fn read(block: &Block, row: Bytes) -> Option<Self> {
        let values = block.ascending(row.u32(0), row.u32(8))?;
        let codes = block.array(row.u32(4), row.u32(8), 1, 1)?.keep();
        (row.u16(14) == 0).then_some(Table {
            values,
            codes,
            other: row.u8(12),
            unknown: row.u8(13),
        })
    }

    fn code(&self, value: Option<u32>) -> u8 {
        match value.map(|value| search(&self.values, |own| own.cmp(&value))) {
            None => self.unknown,
            Some(None) => self.other,
            Some(Some(place)) => self.codes[place],
        }
    }
}

impl Tree {
    /// Reads the tree whose nodes and leaves are from `begin` to `end`.
    fn read(nodes: &[u32], begin: [u32; 2], end: [u32; 2], features: usize) -> Option<Self> {
        let [root, leaf] = begin.map(|begin| begin as usize);
        let nodes = nodes.get(root..end[0] as usize)?;
        let leaves = end[1].checked_sub(begin[1])? as usize;
        (nodes.len() <= format::TREE_SIZE_MAX as usize).then_some(())?;
        Some(Tree { root, leaf, height: height(nodes, leaves, features)? })
    }
}

/// Greatest number of splits above a leaf; none if the nodes are not a tree.
fn height(nodes: &[u32], leaves: usize, features: usize) -> Option<u64> {
    let (mut highest, mut free) = (0, 1);
    let mut pending = vec![(0, 0)];
    while let Some((at, height)) = pending.pop() {
        let node = Node::of(*nodes.get(at)?);
        highest = highest.max(height);
        if node.is_leaf() {
            (node.feature == 0 && node.further < leaves).then_some(())?;
            continue;
        }
        let fits = usize::from(node.feature) < features && at + node.further == free;
        (fits && height < u64::from(format::HEIGHT_MAX)).then_some(())?;
        pending.extend([(free + 1, height + 1), (free, height + 1)]);
        free += 2;
    }
    (free == nodes.len()).then_some(highest)
}

impl Node {
    fn of(node: u32) -> Self {
        let [feature, threshold, ..] = node.to_le_bytes();
        Node { feature, threshold, further: (node >> 16) as usize }
    }

    fn is_leaf(&self) -> bool {
        u32::from(self.threshold) == format::LEAF
    }
}
