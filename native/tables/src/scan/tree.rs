//! The file system hierarchy, as shown by the names in calls and replies (thesis 3.6.2).

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use std::hash::BuildHasher;

/// A file or directory, by number.
pub type NodeId = u32;
/// No file or directory.
pub const NONE: NodeId = NodeId::MAX;
/// Deeper hierarchies are cut: objects below have no known parent. This also ends loops.
const DEEPEST: usize = 256;

/// The bytes of a long name and a long handle.
const LONG: usize = 400;

/// The offset of bytes in [`Tree::heap`], after four that hold their length.
type Text = u64;

#[derive(Clone, Copy)]
struct Node {
    fh: Text,
    name: Text,
    server: u32,
    parent: NodeId,
    /// The interval in which it was last used.
    used: u32,
    /// The interval in which its place was learnt, which determines the paths of it and below it.
    placed: u32,
    flags: u8,
}

/// Flags of a node: it is a directory.
const DIRECTORY: u8 = 1;
/// Its name was removed, or given to another file.
const GONE: u8 = 2;
/// A client mounted it, as the first of this server.
const FIRST_ROOT: u8 = 4;
/// A client mounted it.
const ROOT: u8 = 8;

/// Files by their handles, each with its last known name.
#[derive(Default)]
pub struct Tree {
    nodes: Vec<Node>,
    heap: Vec<u8>,
    handles: HashTable<NodeId>,
    names: HashTable<NodeId>,
    roots: HashMap<u32, NodeId>,
    hasher: DefaultHashBuilder,
    /// The number of the current interval, from one [`Tree::turn`] to the next.
    now: u32,
    moved: Vec<NodeId>,
}

impl Tree {
    /// The file of a handle, added if it is new.
    pub fn node(&mut self, server: u32, fh: &[u8]) -> NodeId {
        let hash = self.hasher.hash_one((server, fh));
        let (nodes, heap, hasher) = (&self.nodes, &self.heap, &self.hasher);
        let same = |id: &NodeId| {
            let node = &nodes[*id as usize];
            node.server == server && text(heap, node.fh) == fh
        };
        if let Some(found) = self.handles.find(hash, same).copied() {
            self.nodes[found as usize].used = self.now;
            return found;
        }
        let id = nodes.len() as NodeId;
        let rehash = |id: &NodeId| {
            let node: &Node = &nodes[*id as usize];
            hasher.hash_one((node.server, text(heap, node.fh)))
        };
        self.handles.insert_unique(hash, id, rehash);
        let fh = store(&mut self.heap, fh);
        let now = self.now;
        self.nodes.push(Node {
            fh,
            name: 0,
            server,
            parent: NONE,
            used: now,
            placed: now,
            flags: 0,
        });
        id
    }

    /// Marks a file as a directory.
    #[inline]
    pub fn directory(&mut self, id: NodeId) {
        self.flag(id, DIRECTORY);
    }

    /// Marks a directory as mounted by a client.
    pub fn root(&mut self, id: NodeId) {
        self.flag(id, DIRECTORY | ROOT);
        if *self.roots.entry(self.server(id)).or_insert(id) == id {
            self.flag(id, FIRST_ROOT);
        }
    }

    /// Records that a directory has a file by a name.
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
            return; // nothing is below itself: one of the two was misread
        }
        self.forget_name(id);
        self.remove(parent, name);
        let name = store(&mut self.heap, name);
        let node = &mut self.nodes[id as usize];
        (node.parent, node.name) = (parent, name);
        node.flags &= !GONE;
        self.place(id);
        let (nodes, heap, hasher) = (&self.nodes, &self.heap, &self.hasher);
        let rehash = |id: &NodeId| name_hash(hasher, nodes, heap, *id);
        self.names.insert_unique(rehash(&id), id, rehash);
    }

    /// Records the removal of a name. The file is still known by it.
    pub fn remove(&mut self, parent: NodeId, name: &[u8]) {
        if let Some(id) = self.named(parent, name) {
            self.forget_name(id);
        }
    }

    /// Records a rename.
    pub fn rename(&mut self, (from, old): (NodeId, &[u8]), (to, new): (NodeId, &[u8])) {
        match self.named(from, old) {
            Some(id) => self.name(to, new, id),
            None => self.remove(to, new), // replaced by an unseen file
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

    /// The servers of all known files.
    pub fn servers(&self) -> impl Iterator<Item = u32> + '_ {
        self.nodes.iter().map(|node| node.server)
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

    /// A file's name in its directory.
    pub fn name_of(&self, id: NodeId) -> &[u8] {
        text(&self.heap, self.nodes[id as usize].name)
    }

    /// Whether a file without a known parent is the first that a client mounted, or a later one.
    pub fn roots(&self, id: NodeId) -> (bool, bool) {
        let flags = self.nodes[id as usize].flags;
        (flags & FIRST_ROOT != 0, flags & ROOT != 0)
    }

    /// The number of known files.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Begins another interval.
    pub fn turn(&mut self) {
        self.now += 1;
        self.moved.clear();
    }

    /// The files known before this interval whose place was learnt in it.
    pub fn moved(&self) -> &[NodeId] {
        &self.moved
    }

    /// Whether the place of a file, or of a directory above it, was learnt in this interval: its
    /// path may have changed.
    pub fn is_moved(&self, id: NodeId) -> bool {
        let (mut at, mut depth) = (id, 0);
        while at != NONE && depth < DEEPEST {
            let node = &self.nodes[at as usize];
            if node.placed == self.now {
                return true;
            }
            (at, depth) = (node.parent, depth + 1);
        }
        false
    }

    /// Whether memory exceeds that of `most` files with long names, or there are more files.
    pub fn is_beyond(&self, most: usize) -> bool {
        self.nodes.len() > most || self.heap.len() > most.saturating_mul(LONG)
    }

    /// Drops all files except the `most` that were used last, those in `needed`, the `most` mounted
    /// ones that were used last, and the directories above them. Returns the new numbers of files
    /// by their old ones, with [`NONE`] for dropped files.
    pub fn keep(&mut self, most: usize, needed: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
        let mut keeps = vec![false; self.nodes.len()];
        let mut by_use: Vec<NodeId> = (0..self.nodes.len() as NodeId).collect();
        by_use.sort_unstable_by_key(|id| std::cmp::Reverse(self.nodes[*id as usize].used));
        let mounted: Vec<NodeId> =
            by_use.iter().copied().filter(|id| self.roots(*id).1).take(most).collect();
        by_use.truncate(most);
        for id in by_use.into_iter().chain(needed).chain(mounted) {
            let mut at = id;
            while at != NONE && !std::mem::replace(&mut keeps[at as usize], true) {
                at = self.nodes[at as usize].parent;
            }
        }
        let mut next = 0..;
        let numbers: Vec<NodeId> = keeps
            .iter()
            .map(|keep| if *keep { next.next().unwrap_or(NONE) } else { NONE })
            .collect();
        self.renumber(&numbers);
        numbers
    }

    fn renumber(&mut self, numbers: &[NodeId]) {
        let new = |id: NodeId| numbers.get(id as usize).copied().unwrap_or(NONE);
        let (old, before) = (std::mem::take(&mut self.nodes), std::mem::take(&mut self.heap));
        self.roots.retain(|_, id| {
            *id = new(*id);
            *id != NONE
        });
        let count = numbers.iter().filter(|id| **id != NONE).count();
        self.nodes.reserve(count);
        self.handles = HashTable::with_capacity(count);
        self.names = HashTable::with_capacity(count);
        for (_, node) in old.iter().enumerate().filter(|(id, _)| new(*id as NodeId) != NONE) {
            let mut copy = |at: Text| store(&mut self.heap, text(&before, at));
            let fh = copy(node.fh);
            let name = if node.parent == NONE { 0 } else { copy(node.name) };
            self.nodes.push(Node { fh, name, parent: new(node.parent), ..*node });
        }
        let (nodes, heap, hasher) = (&self.nodes, &self.heap, &self.hasher);
        let by_handle = |id: &NodeId| {
            let node = &nodes[*id as usize];
            hasher.hash_one((node.server, text(heap, node.fh)))
        };
        let by_name = |id: &NodeId| name_hash(hasher, nodes, heap, *id);
        for id in 0..nodes.len() as NodeId {
            let node = &nodes[id as usize];
            self.handles.insert_unique(by_handle(&id), id, by_handle);
            if node.parent != NONE && node.flags & GONE == 0 {
                self.names.insert_unique(by_name(&id), id, by_name);
            }
        }
    }

    /// Sets flags; new flags may change a path.
    fn flag(&mut self, id: NodeId, flags: u8) {
        let node = &mut self.nodes[id as usize];
        if node.flags & flags != flags {
            node.flags |= flags;
            self.place(id);
        }
    }

    /// Records that the place of a file was learnt.
    fn place(&mut self, id: NodeId) {
        let node = &mut self.nodes[id as usize];
        if std::mem::replace(&mut node.placed, self.now) < self.now {
            self.moved.push(id);
        }
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

    /// Removes a file's name from the index.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with `/d/f` of the first mount, and `others` more files.
    fn tree(others: u32) -> (Tree, NodeId, NodeId, NodeId) {
        let mut tree = Tree::default();
        let [root, dir, file] = [b"r", b"d", b"f"].map(|fh| tree.node(0, fh));
        tree.root(root);
        tree.name(root, b"d", dir);
        tree.name(dir, b"f", file);
        for number in 0..others {
            let other = tree.node(0, &number.to_be_bytes());
            tree.name(root, &number.to_be_bytes(), other);
        }
        (tree, root, dir, file)
    }

    #[test]
    fn the_last_used_files_stay_with_all_directories_above() {
        let (mut tree, root, dir, file) = tree(100);
        tree.turn();
        assert_eq!(tree.node(0, b"f"), file);
        let needed = tree.node(0, &50u32.to_be_bytes());
        tree.turn();
        tree.node(0, b"f");
        let numbers = tree.keep(1, [needed, NONE].into_iter());
        assert_eq!(tree.len(), 4);
        let new = |id: NodeId| numbers[id as usize];
        assert_eq!(numbers.iter().filter(|id| **id != NONE).count(), 4);
        assert_eq!(tree.node(0, &50u32.to_be_bytes()), new(needed));
        assert_eq!((tree.node(0, b"r"), tree.node(0, b"d")), (new(root), new(dir)));
        assert_eq!((tree.node(0, b"f"), tree.name_of(new(file))), (new(file), b"f".as_slice()));
        let mut chain = Vec::new();
        tree.chain(new(file), &mut chain);
        assert_eq!(chain, [new(file), new(dir), new(root)]);
        assert_eq!(tree.roots(new(root)), (true, true));
        tree.rename((new(dir), b"f"), (new(root), b"g"));
        assert_eq!(tree.name_of(new(file)), b"g");
        assert_eq!((tree.node(0, &51u32.to_be_bytes()), tree.len()), (4, 5));
    }

    #[test]
    fn names_that_were_given_up_take_no_memory_for_ever() {
        let (mut tree, _, dir, file) = tree(0);
        for number in 0..1000u32 {
            tree.name(dir, &[number.to_be_bytes(); 50].concat(), file);
        }
        assert!(tree.is_beyond(300) && !tree.is_beyond(1000));
        tree.keep(100, [].into_iter());
        assert_eq!(tree.len(), 3);
        assert!(!tree.is_beyond(3));
    }

    #[test]
    fn a_file_has_moved_where_its_path_may_be_another() {
        let (mut tree, root, dir, file) = tree(0);
        let moved = |tree: &Tree| [root, dir, file].map(|id| tree.is_moved(id));
        assert!(tree.moved().is_empty(), "nothing was known before");
        tree.turn();
        assert_eq!((moved(&tree), tree.is_moved(NONE)), ([false; 3], false));
        tree.name(root, b"d", dir);
        assert_eq!(moved(&tree), [false; 3], "it has the name that it had");
        tree.name(root, b"e", dir);
        tree.name(root, b"g", dir);
        assert_eq!((moved(&tree), tree.moved()), ([false, true, true], [dir].as_slice()));
        tree.turn();
        tree.directory(file);
        assert_eq!((moved(&tree), tree.moved()), ([false, false, true], [file].as_slice()));
        tree.turn();
        tree.directory(file);
        assert_eq!((moved(&tree), tree.moved().len()), ([false; 3], 0));
    }
}
