//! Trees that branch by the value of an attribute.

use super::bytes::{Block, Bytes};
use super::create::Create;
use super::dictionary::Dictionary;
use super::{set, Answers};

const FIRST: usize = 0;
const MIDDLE: usize = 1;
const LAST: usize = 2;
const ATTRIBUTES: usize = 6;
const LEAF: u8 = 255;

/// The code of a value that no tree knows.
const UNSEEN: u32 = u32::MAX;

/// Codes of a create's attributes: 0 if unknown, else the value's place from 1.
type Codes = [u32; ATTRIBUTES];

/// A section of trees.
#[derive(Debug)]
pub struct Trees {
    texts: Dictionary,
    numbers: [Vec<u32>; 3],
    nodes: Vec<Node>,
    codes: Vec<u32>,
    children: Vec<u32>,
    trees: Vec<(usize, usize)>,
}

#[derive(Debug)]
struct Node {
    attribute: u8,
    answer: bool,
    begin: usize,
    end: usize,
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
        let nodes = block.array(head.u32(56), count + 1, 8, 4)?;
        let edges = block.array(head.u32(64), head.u32(68), 8, 4)?;
        let rows: Vec<Bytes> = nodes.rows(8).collect();
        let trees = block.array(head.u32(72), head.u32(76), 8, 4)?.rows(8);
        let trees: Vec<_> = trees.map(|row| (row.u32(0) as usize, row.u32(4) as usize)).collect();
        let read = Trees {
            texts: Dictionary::read(block, head, UNSEEN)?,
            numbers: [table(0)?, table(1)?, table(2)?],
            nodes: rows.windows(2).map(|w| Node::read(w[0], w[1])).collect::<Option<_>>()?,
            codes: edges.rows(8).map(|row| row.u32(0)).collect(),
            children: edges.rows(8).map(|row| row.u32(4)).collect(),
            trees,
        };
        (read.ends() && read.trees_fit(predicates)).then_some(read)
    }

    /// Whether every node's edges are there, in order, and lead to later nodes.
    fn ends(&self) -> bool {
        self.nodes.iter().enumerate().all(|(place, node)| {
            let edges = node.begin..node.end;
            let (Some(codes), Some(children)) =
                (self.codes.get(edges.clone()), self.children.get(edges))
            else {
                return false;
            };
            codes.windows(2).all(|pair| pair[0] < pair[1])
                && codes.last() != Some(&UNSEEN)
                && children.iter().all(|c| (place + 1..self.nodes.len()).contains(&(*c as usize)))
        })
    }

    fn trees_fit(&self, predicates: usize) -> bool {
        self.trees
            .iter()
            .all(|(root, predicate)| *root < self.nodes.len() && *predicate < predicates)
    }

    /// Adds the predicates whose trees say yes.
    pub fn lookup(&self, create: &Create, answers: &mut Answers) {
        let codes = self.codes_of(create);
        for &(root, predicate) in &self.trees {
            if self.walk(root, &codes) {
                set(answers, predicate);
            }
        }
    }

    fn walk(&self, root: usize, codes: &Codes) -> bool {
        let mut node = &self.nodes[root];
        loop {
            let Some(&code) = codes.get(usize::from(node.attribute)) else {
                return node.answer;
            };
            match self.codes[node.begin..node.end].binary_search(&code) {
                Ok(edge) => node = &self.nodes[self.children[node.begin + edge] as usize],
                Err(_) => return node.answer,
            }
        }
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
                *code = table.binary_search(&value).map_or(UNSEEN, |place| place as u32 + 1);
            }
        }
        codes
    }
}

impl Node {
    /// A node; its edges end where those of the `next` begin.
    fn read(row: Bytes, next: Bytes) -> Option<Self> {
        let (attribute, answer) = (row.u8(0), row.u8(1));
        let known = usize::from(attribute) < ATTRIBUTES || attribute == LEAF;
        (known && answer <= 1 && row.u16(2) == 0).then_some(Node {
            attribute,
            answer: answer == 1,
            begin: row.u32(4) as usize,
            end: next.u32(4) as usize,
        })
    }
}
