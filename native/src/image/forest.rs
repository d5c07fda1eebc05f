//! Forests: trees over small numbers, whose leaves hold a score per predicate.

use super::bytes::{Block, Bytes};
use super::create::{Create, Needs};
use super::{set, Answers};

const FEATURES: u32 = 512;
const TREES: u32 = 256;
const OUTPUTS: u32 = 256;
const TREE_SIZE: u32 = 0x8000;

/// A section with a forest.
#[derive(Debug)]
pub struct Forest {
    features: Vec<Feature>,
    tables: Vec<Table>,
    trees: Vec<Tree>,
    outputs: Vec<(usize, u32)>,
}

/// Where a feature comes from.
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
    values: Vec<u32>,
    codes: Vec<u8>,
    other: u8,
    unknown: u8,
}

/// A child is a node if it is below the number of nodes, else a leaf.
#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
    leaves: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    feature: u16,
    threshold: u8,
    children: [u16; 2],
}

impl Forest {
    /// Reads the section at `offset`.
    pub fn read(block: &Block, offset: u32, predicates: usize) -> Option<Self> {
        let head = block.array(offset, 1, 32, 8)?;
        let (features, trees, outputs) = (head.u32(0), head.u32(16), head.u32(24));
        if features == 0
            || features > FEATURES
            || trees > TREES
            || outputs == 0
            || outputs > OUTPUTS
        {
            return None;
        }
        let tables = block.array(head.u32(12), head.u32(8), 16, 4)?;
        let tables: Vec<Table> = collect(tables.rows(16).map(|row| Table::read(block, row)))?;
        let rows = block.array(head.u32(4), features, 8, 4)?.rows(8);
        let features: Vec<Feature> = collect(rows.map(|row| Feature::read(row, tables.len())))?;
        let rows = block.array(head.u32(20), trees, 16, 4)?.rows(16);
        let trees = collect(rows.map(|row| Tree::read(block, row, features.len(), outputs)))?;
        let rows = block.array(head.u32(28), outputs, 8, 4)?.rows(8);
        let outputs: Vec<_> = rows.map(|row| (row.u32(0) as usize, row.u32(4))).collect();
        let known = outputs.iter().all(|(predicate, _)| *predicate < predicates);
        known.then_some(Forest { features, tables, trees, outputs })
    }

    /// Adds the predicates whose sum of scores reaches the threshold.
    pub fn lookup(&self, create: &Create, answers: &mut Answers) {
        let mut features = [0; FEATURES as usize];
        let numbers = name_numbers(create.name.unwrap_or_default());
        for (to, feature) in features.iter_mut().zip(&self.features) {
            *to = self.feature(feature, create, &numbers);
        }
        let mut sums = [0_u32; OUTPUTS as usize];
        for tree in &self.trees {
            let leaf = tree.leaf(&features) * self.outputs.len();
            let scores = &tree.leaves[leaf..leaf + self.outputs.len()];
            sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += u32::from(*score));
        }
        for (sum, (predicate, threshold)) in sums.iter().zip(&self.outputs) {
            if sum >= threshold {
                set(answers, *predicate);
            }
        }
    }

    /// Adds what the features come from.
    pub fn add_needs(&self, needs: &mut Needs) {
        for feature in &self.features {
            match feature {
                Feature::History(_) => needs.history = true,
                Feature::Name(_) => {}
                Feature::Code { value: 3, .. } => needs.client = true,
                Feature::Code { .. } => needs.owner = true,
                Feature::Hour => needs.hour = true,
            }
        }
    }

    fn feature(&self, feature: &Feature, create: &Create, numbers: &[u8; 3]) -> u8 {
        match *feature {
            Feature::History(byte) => {
                create.history.and_then(|history| history.get(byte)).copied().unwrap_or(0)
            }
            Feature::Name(which) => numbers[which],
            Feature::Code { value, table } => self.tables[table].code(create.values[value]),
            Feature::Hour => create.hour.filter(|hour| *hour < 24).map_or(0, |hour| hour + 1),
        }
    }
}

/// Length, periods and digits of a name, each at most 255.
fn name_numbers(name: &[u8]) -> [u8; 3] {
    let count = |of: fn(&u8) -> bool| name.iter().filter(|byte| of(byte)).count();
    let numbers = [name.len(), count(|byte| *byte == b'.'), count(u8::is_ascii_digit)];
    numbers.map(|number| number.min(255) as u8)
}

fn collect<T>(items: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    items.collect()
}

impl Feature {
    fn read(row: Bytes, tables: usize) -> Option<Self> {
        let (argument, table) = (row.u16(2) as usize, row.u32(4) as usize);
        match row.u16(0) {
            0 => Some(Feature::History(argument)),
            1 => (argument < 3).then_some(Feature::Name(argument)),
            2 => {
                (argument < 4 && table < tables).then_some(Feature::Code { value: argument, table })
            }
            3 => Some(Feature::Hour),
            _ => None,
        }
    }
}

impl Table {
    fn read(block: &Block, row: Bytes) -> Option<Self> {
        let values = block.ascending(row.u32(0), row.u32(8))?;
        let codes = block.array(row.u32(4), row.u32(8), 1, 1)?.all().to_vec();
        (row.u16(14) == 0).then_some(Table {
            values,
            codes,
            other: row.u8(12),
            unknown: row.u8(13),
        })
    }

    fn code(&self, value: Option<u32>) -> u8 {
        match value.map(|value| self.values.binary_search(&value)) {
            None => self.unknown,
            Some(Err(_)) => self.other,
            Some(Ok(place)) => self.codes[place],
        }
    }
}

impl Tree {
    fn read(block: &Block, row: Bytes, features: usize, outputs: u32) -> Option<Self> {
        let (inner, leaves) = (row.u32(4), row.u32(12));
        if inner == 0 || inner > TREE_SIZE || leaves > TREE_SIZE {
            return None;
        }
        let nodes = block.array(row.u32(0), inner, 8, 4)?.rows(8);
        let nodes = nodes.zip(0_u32..).map(|(row, place)| {
            let children = [row.u16(4), row.u16(6)];
            let fits = children.iter().all(|child| (place + 1..inner + leaves).contains(child));
            let known = (row.u16(0) as usize) < features && row.u8(3) == 0;
            (fits && known).then_some(Node {
                feature: row.u16(0) as u16,
                threshold: row.u8(2),
                children: children.map(|child| child as u16),
            })
        });
        let leaves = block.array(row.u32(8), leaves, outputs, 1)?.all().to_vec();
        Some(Tree { nodes: nodes.collect::<Option<_>>()?, leaves })
    }

    fn leaf(&self, features: &[u8; FEATURES as usize]) -> usize {
        let mut at = 0;
        while let Some(node) = self.nodes.get(at) {
            let right = features[usize::from(node.feature)] > node.threshold;
            at = usize::from(node.children[usize::from(right)]);
        }
        at - self.nodes.len()
    }
}
