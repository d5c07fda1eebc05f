//! Forests: trees over small numbers, whose leaves hold a score per predicate.

use super::bytes::{Block, Bytes};
use super::create::{Create, Needs};
use super::steps::{leaf_steps, search, search_steps, step};
use super::{each_once, set, Answers};
use arrow_buffer::{Buffer, ScalarBuffer};
use birthmark_contract::image::{self as format, NAME_NUMBERS};
use birthmark_learn::encode::{hashes, numbers};

const HOURS: u8 = 24;
/// Trees that are walked at the same time, so that one's memory is waited for with the others'.
const ABREAST: usize = format::ABREAST as usize;

/// A section with forests over the same features.
#[derive(Debug)]
pub struct Forest {
    features: Vec<Feature>,
    tables: Vec<Table>,
    groups: Vec<Group>,
}

/// Trees, and the predicates whose scores are in their leaves, with their thresholds.
#[derive(Debug)]
struct Group {
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
    values: ScalarBuffer<u32>,
    codes: Buffer,
    other: u8,
    unknown: u8,
}

/// A child is a node if it is below the number of nodes, else a leaf.
#[derive(Debug)]
struct Tree {
    nodes: Buffer,
    leaves: Buffer,
}

/// Bytes of a node.
const NODE: usize = 8;

struct Node {
    feature: u16,
    threshold: u8,
    /// The nodes from it to a leaf, at most: more than of its children.
    height: u8,
    children: [u16; 2],
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
        let rows = block.array(head.u32(20), groups, 16, 4)?.rows(16);
        let read = |row| Group::read(block, row, features.len());
        let groups: Vec<Group> = collect(rows.map(read))?;
        let outputs = groups.iter().flat_map(|group| &group.outputs);
        each_once(outputs.map(|(predicate, _)| *predicate), predicates).then_some(())?;
        Some(Forest { groups, features, tables })
    }

    /// The steps of a lookup, at most.
    pub fn steps(&self) -> u64 {
        let feature = |feature: &Feature| match feature {
            Feature::Code { table, .. } => 1 + search_steps(self.tables[*table].values.len()),
            Feature::History(_) | Feature::Name(_) | Feature::Hour => 1,
        };
        let features: u64 = self.features.iter().map(feature).sum();
        features + self.groups.iter().map(Group::steps).sum::<u64>()
    }

    /// Adds the predicates whose sum of scores reaches the threshold.
    pub fn lookup(&self, create: &Create, answers: &mut Answers) {
        let seen = Seen::of(create);
        let mut features = [0; format::FEATURES_MAX as usize];
        for (to, feature) in features.iter_mut().zip(&self.features) {
            *to = self.feature(feature, create, &seen);
        }
        self.groups.iter().for_each(|group| group.lookup(&features, answers));
    }

    /// Adds what the features come from.
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

/// What features are made of, besides the history.
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
        let (trees, outputs) = (row.u32(0), row.u32(8));
        if trees > format::TREES_MAX || outputs == 0 || outputs > format::PREDICATES_MAX {
            return None;
        }
        let rows = block.array(row.u32(12), outputs, 8, 4)?.rows(8);
        let outputs: Vec<_> = rows.map(|row| (row.u32(0) as usize, row.u32(4))).collect();
        let rows = block.array(row.u32(4), trees, 16, 4)?.rows(16);
        let read = |row| Tree::read(block, row, features, outputs.len() as u32);
        Some(Group { trees: collect(rows.map(read))?, outputs })
    }

    fn steps(&self) -> u64 {
        let outputs = self.outputs.len();
        let eights = self.trees.chunks(ABREAST).map(|eight| eight.iter().map(Tree::height).max());
        let walks: u64 = eights.map(Option::unwrap_or_default).sum();
        outputs as u64 + walks + self.trees.len() as u64 * leaf_steps(outputs)
    }

    fn lookup(&self, features: &[u8; format::FEATURES_MAX as usize], answers: &mut Answers) {
        let mut sums = [0_u32; format::PREDICATES_MAX as usize];
        let trees =
            self.trees.chunks(ABREAST).flat_map(|eight| eight.iter().zip(leaves(eight, features)));
        for (tree, leaf) in trees {
            step(leaf_steps(self.outputs.len()));
            let leaf = leaf * self.outputs.len();
            let scores = &tree.leaves[leaf..leaf + self.outputs.len()];
            sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += u32::from(*score));
        }
        step(self.outputs.len() as u64);
        for (sum, (predicate, threshold)) in sums.iter().zip(&self.outputs) {
            if sum >= threshold {
                set(answers, *predicate);
            }
        }
    }
}

/// The leaves that a create comes to in at most [`ABREAST`] trees: a step goes down in each.
fn leaves(trees: &[Tree], features: &[u8; format::FEATURES_MAX as usize]) -> [usize; ABREAST] {
    let mut at = [0; ABREAST];
    loop {
        let mut busy = false;
        for (tree, at) in trees.iter().zip(&mut at) {
            if let Some(next) = tree.next(*at, features) {
                (*at, busy) = (next, true);
            }
        }
        if !busy {
            trees.iter().zip(&mut at).for_each(|(tree, at)| *at -= tree.nodes.len() / NODE);
            return at;
        }
        step(1);
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
    fn read(block: &Block, row: Bytes, features: usize, outputs: u32) -> Option<Self> {
        let (inner, leaves) = (row.u32(4), row.u32(12));
        if inner == 0 || inner > format::TREE_SIZE_MAX || leaves > format::TREE_SIZE_MAX {
            return None;
        }
        let nodes = block.array(row.u32(0), inner, NODE as u32, 4)?.keep();
        let rows: &[[u8; NODE]] = nodes.as_chunks().0;
        let fits = |(place, row): (u32, &[u8; NODE])| {
            let node = Node::read(row);
            let later = place + 1..inner + leaves;
            let below = |child: u16| {
                let height = rows.get(usize::from(child)).map_or(0, |row| Node::read(row).height);
                later.contains(&u32::from(child)) && height < node.height
            };
            usize::from(node.feature) < features && node.children.into_iter().all(below)
        };
        let known = (0..).zip(rows).all(fits);
        let leaves = block.array(row.u32(8), leaves, outputs, 1)?.keep();
        known.then_some(Tree { nodes, leaves })
    }

    /// The nodes from the root to a leaf, at most.
    fn height(&self) -> u64 {
        self.nodes.as_chunks().0.first().map_or(0, |root| Node::read(root).height.into())
    }

    /// The node or leaf after the node `at`; none if that is a leaf.
    fn next(&self, at: usize, features: &[u8; format::FEATURES_MAX as usize]) -> Option<usize> {
        let node = Node::read(self.nodes.as_chunks().0.get(at)?);
        let right = features[usize::from(node.feature)] > node.threshold;
        Some(usize::from(node.children[usize::from(right)]))
    }
}

impl Node {
    fn read(row: &[u8; NODE]) -> Self {
        let number = |at: usize| u16::from_le_bytes([row[at], row[at + 1]]);
        let children = [number(4), number(6)];
        Node { feature: number(0), threshold: row[2], height: row[3], children }
    }
}
