//! The file system hierarchy, as the names in calls and replies show it (thesis 3.6.2).

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use std::hash::BuildHasher;

/// A file or directory, by number.
pub type NodeId = u32;
/// No file or directory.
pub const NONE: NodeId = NodeId::MAX;
/// Deeper hierarchies are cut: what hangs below has no known parent. It ends loops, too.
const DEEPEST: usize = 256;

/// Where bytes begin in [`Tree::heap`], after four that hold their length.
type Text = u64;

#[derive(Clone, Copy)]
struct Node {
    fh: Text,
    name: Text,
    server: u32,
    parent: NodeId,
    flags: u8,
}

/// Flags of a node: it is a directory.
const DIRECTORY: u8 = 1;
/// Its name was removed, or is another file's now.
const GONE: u8 = 2;
/// A client mounted it, first of this server.
const FIRST_ROOT: u8 = 4;
/// A client mounted it.
const ROOT: u8 = 8;

/// Files by their handles, each with the name that it was last known by.
#[derive(Default)]
pub struct Tree {
    nodes: Vec<Node>,
    heap: Vec<u8>,
    handles: HashTable<NodeId>,
    names: HashTable<NodeId>,
    roots: HashMap<u32, NodeId>,
    hasher: DefaultHashBuilder,
}

impl Tree {
    /// The file of a handle, which need not have been seen before.
    pub fn node(&mut self, server: u32, fh: &[u8]) -> NodeId {
        let hash = self.hasher.hash_one((server, fh));
        let (nodes, heap, hasher) = (&self.nodes, &self.heap, &self.hasher);
        let same = |id: &NodeId| {
            let node = &nodes[*id as usize];
            node.server == server && text(heap, node.fh) == fh
        };
        if let Some(found) = self.handles.find(hash, same) {
            return *found;
        }
        let id = nodes.len() as NodeId;
        let rehash = |id: &NodeId| {
            let node: &Node = &nodes[*id as usize];
            hasher.hash_one((node.server, text(heap, node.fh)))
        };
        self.handles.insert_unique(hash, id, rehash);
        let fh = store(&mut self.heap, fh);
        self.nodes.push(Node { fh, name: 0, server, parent: NONE, flags: 0 });
        id
    }

    /// Notes that a file is a directory.
    #[inline]
    pub fn directory(&mut self, id: NodeId) {
        self.nodes[id as usize].flags |= DIRECTORY;
    }

    /// Notes that a directory is what a client has mounted.
    pub fn root(&mut self, id: NodeId) {
        let node = &mut self.nodes[id as usize];
        node.flags |= DIRECTORY | ROOT;
        if *self.roots.entry(node.server).or_insert(id) == id {
            node.flags |= FIRST_ROOT;
        }
    }

    /// Notes that a directory has a file by a name.
    pub fn name(&mut self, parent: NodeId, name: &[u8], id: NodeId) {
        self.directory(parent);
        if matches!(name, b"" | b"." | b"..") {
            return;
        }
        let node = self.nodes[id as usize];
        if node.parent == parent && node.flags & GONE == 0 && text(&self.heap, node.name) == name {
            return;
        }
        if node.flags & DIRECTORY != 0 && self.is_within(parent, id) {
            return; // nothing lies below itself: one of the two was misread
        }
        self.forget_name(id);
        self.remove(parent, name);
        let name = store(&mut self.heap, name);
        let node = &mut self.nodes[id as usize];
        (node.parent, node.name) = (parent, name);
        node.flags &= !GONE;
        let (nodes, heap, hasher) = (&self.nodes, &self.heap, &self.hasher);
        let rehash = |id: &NodeId| name_hash(hasher, nodes, heap, *id);
        self.names.insert_unique(rehash(&id), id, rehash);
    }

    /// Notes that a name is gone. The file is still known by it.
    pub fn remove(&mut self, parent: NodeId, name: &[u8]) {
        if let Some(id) = self.named(parent, name) {
            self.forget_name(id);
        }
    }

    /// Notes that a name became another.
    pub fn rename(&mut self, (from, old): (NodeId, &[u8]), (to, new): (NodeId, &[u8])) {
        match self.named(from, old) {
            Some(id) => self.name(to, new, id),
            None => self.remove(to, new), // by a file that was never seen
        }
    }

    /// Whether a file's name is gone.
    pub fn is_gone(&self, id: NodeId) -> bool {
        self.nodes[id as usize].flags & GONE != 0
    }

    /// Whether a file is known to be a directory.
    pub fn is_directory(&self, id: NodeId) -> bool {
        self.nodes[id as usize].flags & DIRECTORY != 0
    }

    /// A directory itself, or the directory of a file; [`NONE`] if it is not known.
    pub fn nearest_directory(&self, id: NodeId) -> NodeId {
        match self.nodes.get(id as usize) {
            Some(node) if node.flags & DIRECTORY == 0 => node.parent,
            _ => id,
        }
    }

    /// A file's handle.
    pub fn handle(&self, id: NodeId) -> &[u8] {
        text(&self.heap, self.nodes[id as usize].fh)
    }

    /// A file's server.
    pub fn server(&self, id: NodeId) -> u32 {
        self.nodes[id as usize].server
    }

    /// A file and the directories above it, from itself up. The last has no known parent.
    pub fn chain(&self, id: NodeId, chain: &mut Vec<NodeId>) {
        chain.clear();
        let mut at = id;
        while at != NONE && chain.len() < DEEPEST {
            chain.push(at);
            at = self.nodes[at as usize].parent;
        }
    }

    /// A file's name in the directory above it.
    pub fn name_of(&self, id: NodeId) -> &[u8] {
        text(&self.heap, self.nodes[id as usize].name)
    }

    /// Whether a file without a known parent is the first that a client mounted, or a later one.
    pub fn roots(&self, id: NodeId) -> (bool, bool) {
        let flags = self.nodes[id as usize].flags;
        (flags & FIRST_ROOT != 0, flags & ROOT != 0)
    }

    fn is_within(&self, id: NodeId, above: NodeId) -> bool {
        let mut chain = Vec::new();
        self.chain(id, &mut chain);
        chain.len() == DEEPEST || chain.contains(&above)
    }

    fn named(&self, parent: NodeId, name: &[u8]) -> Option<NodeId> {
        let hash = self.hasher.hash_one((parent, name));
        let same = |id: &NodeId| {
            let node = &self.nodes[*id as usize];
            node.parent == parent && text(&self.heap, node.name) == name
        };
        self.names.find(hash, same).copied()
    }

    /// Takes a file's name from the index.
    fn forget_name(&mut self, id: NodeId) {
        let node = &mut self.nodes[id as usize];
        if node.parent == NONE || node.flags & GONE != 0 {
            return;
        }
        node.flags |= GONE;
        let hash = name_hash(&self.hasher, &self.nodes, &self.heap, id);
        if let Ok(entry) = self.names.find_entry(hash, |found| *found == id) {
            entry.remove();
        }
    }
}

fn name_hash(hasher: &DefaultHashBuilder, nodes: &[Node], heap: &[u8], id: NodeId) -> u64 {
    let node = &nodes[id as usize];
    hasher.hash_one((node.parent, text(heap, node.name)))
}

fn store(heap: &mut Vec<u8>, bytes: &[u8]) -> Text {
    let at = heap.len() as Text;
    heap.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    heap.extend_from_slice(bytes);
    at
}

#[inline]
fn text(heap: &[u8], at: Text) -> &[u8] {
    let at = at as usize;
    let Some(&[a, b, c, d]) = heap.get(at..at + 4) else {
        return &[];
    };
    let len = u32::from_le_bytes([a, b, c, d]) as usize;
    heap.get(at + 4..at + 4 + len).unwrap_or_default()
}
