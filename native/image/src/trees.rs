//! Trees that branch by the value of an attribute.

use super::are_distinct;
use super::bytes::Block;
use super::create::Create;
use super::dictionary::Dictionary;
use super::scores::Counted;
use super::steps::{search, search_steps, step};
use arrow_buffer::{Buffer, ScalarBuffer};
use birthmark_contract::image::{
    ATTRS as ATTRIBUTES, ATTR_FIRST as FIRST, ATTR_LAST as LAST, ATTR_MIDDLE as MIDDLE,
};
use std::ops::Range;

const LEAF: u8 = birthmark_contract::image::LEAF as u8;

/// The code of a value that is in no tree.
const UNSEEN: u32 = u32::MAX;

/// Codes of a create's attributes: 0 if unknown, else the value's place from 1.
type Codes = [u32; ATTRIBUTES];

/// A section of trees.
#[derive(Debug)]
pub struct Trees {
    texts: Dictionary,
    numbers: [ScalarBuffer<u32>; 3],
    /// The nodes, and a last one whose edges begin at the end of all edges.
    nodes: Buffer,
    /// A code and a node for each edge.
    edges: ScalarBuffer<u32>,
    trees: Vec<(usize, usize)>,
}

/// Bytes of a node.
const NODE: usize = 8;

struct Node {
    attribute: u8,
    score: u8,
    /// Greatest number of steps from it on.
    steps: u64,
    edges: Range<usize>,
}

impl Trees {
    /// Reads the section at `offset`.
    pub fn read(block: &Block, offset: u32, predicates: usize) -> Option<Self> {
        let head = block.array(offset, 1, 80, 8)?;
        let table = |i: usize| block.ascending(head.u32(32 + 8 * i), head.u32(36 + 8 * i));
        let count = head.u32(60);
        if count > 1 << 28 {
            return None;
        }
        let trees = block.array(head.u32(72), head.u32(76), 8, 4)?.rows(8);
        let trees: Vec<_> = trees.map(|row| (row.u32(0) as usize, row.u32(4) as usize)).collect();
        let read = Trees {
            texts: Dictionary::read(block, head, UNSEEN)?,
            numbers: [table(0)?, table(1)?, table(2)?],
            nodes: block.array(head.u32(56), count + 1, NODE as u32, 4)?.keep(),
            edges: block.array(head.u32(64), head.u32(68), 8, 4)?.u32s(),
            trees,
        };
        (read.ends() && read.trees_fit(predicates)).then_some(read)
    }

    /// The number of nodes.
    fn len(&self) -> usize {
        self.nodes.len() / NODE - 1
    }

    /// The node at a place, if it is valid.
    fn node(&self, place: usize) -> Option<Node> {
        let (rows, _) = self.nodes.as_chunks::<NODE>();
        Node::read(rows.get(place)?, rows.get(place + 1)?)
    }

    fn edges(&self) -> &[[u32; 2]] {
        self.edges.as_chunks().0
    }

    /// Whether every node's edges exist, ascend and lead to later nodes, and its declared steps are
    /// enough.
    fn ends(&self) -> bool {
        let ends = |place: usize| {
            let node = self.node(place)?;
            let edges = self.edges().get(node.edges)?;
            let ascend = edges.windows(2).all(|pair| pair[0][0] < pair[1][0]);
            let known = edges.last().is_none_or(|[code, _]| *code != UNSEEN);
            let later = place + 1..self.len();
            let lead = edges.iter().all(|[_, child]| later.contains(&(*child as usize)));
            let own = 1 + search_steps(edges.len());
            let fits = |[_, child]: &[u32; 2]| own + self.steps_from(*child as usize) <= node.steps;
            (ascend && known && lead && own <= node.steps && edges.iter().all(fits)).then_some(())
        };
        (0..self.len()).all(|place| ends(place).is_some())
    }

    fn trees_fit(&self, predicates: usize) -> bool {
        self.trees.iter().all(|(root, _)| *root < self.len())
            && are_distinct(self.trees.iter().map(|(_, predicate)| *predicate), predicates)
    }

    /// Greatest number of steps from a node on.
    fn steps_from(&self, place: usize) -> u64 {
        self.node(place).map_or(0, |node| node.steps)
    }

    /// Greatest number of steps of a lookup.
    pub fn steps(&self) -> u64 {
        let numbers = self.numbers.iter().map(|numbers| search_steps(numbers.len()));
        let trees = self.trees.iter().map(|(root, _)| self.steps_from(*root));
        3 * self.texts.steps() + numbers.sum::<u64>() + trees.sum::<u64>()
    }

    /// Gives the scores of a create.
    pub fn score(&self, create: &Create, scores: &mut Counted) {
        let codes = self.codes_of(create);
        for &(root, predicate) in &self.trees {
            scores.give(predicate, self.walk(root, &codes).into());
        }
    }

    fn walk(&self, root: usize, codes: &Codes) -> u8 {
        let mut at = root;
        while let Some(node) = self.node(at) {
            step(1);
            let edge = codes.get(usize::from(node.attribute)).and_then(|code| {
                let edges = self.edges().get(node.edges)?;
                search(edges, |edge| edge[0].cmp(code)).map(|edge| edges[edge][1])
            });
            match edge {
                Some(child) => at = child as usize,
                None => return node.score,
            }
        }
        0
    }

    fn codes_of(&self, create: &Create) -> Codes {
        let mut codes = Codes::default();
        let code = |kind, text| self.texts.find(kind, text).unwrap_or(UNSEEN);
        if let Some(name) = create.name {
            let first = memchr::memchr(b'.', name);
            codes[FIRST] = code(FIRST, &name[..first.unwrap_or(name.len())]);
            if let (Some(first), Some(last)) = (first, memchr::memrchr(b'.', name)) {
                codes[LAST] = code(LAST, &name[last + 1..]);
                if first < last {
                    codes[MIDDLE] = code(MIDDLE, &name[first + 1..last]);
                }
            }
        }
        for ((code, value), table) in codes[3..].iter_mut().zip(create.values).zip(&self.numbers) {
            if let Some(value) = value {
                *code =
                    search(table, |own| own.cmp(&value)).map_or(UNSEEN, |place| place as u32 + 1);
            }
        }
        codes
    }
}

impl Node {
    /// A node; its edges end where those of the `next` begin.
    fn read(row: &[u8; NODE], next: &[u8; NODE]) -> Option<Self> {
        let [attribute, score, steps, more_steps, ..] = *row;
        let first =
            |row: &[u8; NODE]| u32::from_le_bytes([row[4], row[5], row[6], row[7]]) as usize;
        let known = usize::from(attribute) < ATTRIBUTES || attribute == LEAF;
        known.then_some(Node {
            attribute,
            score,
            steps: u64::from(u16::from_le_bytes([steps, more_steps])),
            edges: first(row)..first(next),
        })
    }
}
