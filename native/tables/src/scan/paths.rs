//! Paths of files, as text.
//!
//! The directory that the first client of a server mounts is `/`; a later mount that is not below
//! it is `[HASH]`. A file without a known parent is `?/HASH`. HASH is the handle's, the same in
//! every scan. In names, bytes that are not UTF-8, control characters, `\` and `/` are written
//! `\xNN`.

use super::tree::{NodeId, Tree, NONE};
use birthmark_trace::message::Interner;
use fnv::FnvHasher;
use hashbrown::HashMap;
use std::fmt::Write;
use std::hash::Hasher;

/// The directory of files without a known parent.
pub const UNKNOWN: &str = "?";

/// The paths of files, valid while no name changes.
pub struct Paths<'a> {
    tree: &'a Tree,
    known: HashMap<NodeId, u32>,
    chain: Vec<NodeId>,
    /// The paths, by number.
    pub words: Interner,
}

impl<'a> Paths<'a> {
    /// Returns an empty table.
    pub fn new(tree: &'a Tree) -> Paths<'a> {
        Paths { tree, known: HashMap::new(), chain: Vec::new(), words: Interner::default() }
    }

    /// A file's path.
    pub fn path(&mut self, id: NodeId) -> u32 {
        if id == NONE {
            return self.words.intern(UNKNOWN);
        }
        if let Some(path) = self.known.get(&id) {
            return *path;
        }
        let mut chain = std::mem::take(&mut self.chain);
        self.tree.chain(id, &mut chain);
        let known = chain.iter().position(|node| self.known.contains_key(node));
        let (mut number, below) = match known {
            Some(at) => (self.known[&chain[at]], at),
            None => {
                let top = chain[chain.len() - 1];
                (self.top(top), chain.len() - 1)
            }
        };
        for node in chain[..below].iter().rev() {
            let mut path = self.words.names()[number as usize].clone();
            if !path.ends_with('/') {
                path.push('/');
            }
            escape(self.tree.name_of(*node), &mut path);
            number = self.words.intern(&path);
            self.known.insert(*node, number);
        }
        self.chain = chain;
        number
    }

    /// A file's path, as text.
    pub fn text(&mut self, id: NodeId) -> &str {
        let number = self.path(id);
        &self.words.names()[number as usize]
    }

    /// The paths of the directories that a file counts for: itself if it is one, and all above.
    pub fn directories(&mut self, id: NodeId, out: &mut Vec<u32>) {
        out.clear();
        if id == NONE {
            out.push(self.words.intern(UNKNOWN));
            return;
        }
        let mut chain = Vec::new();
        self.tree.chain(id, &mut chain);
        let itself = usize::from(!self.tree.is_directory(id));
        out.extend(chain[itself..].iter().map(|node| self.path(*node)));
        let top = chain[chain.len() - 1];
        if !self.tree.roots(top).1 {
            out.push(self.words.intern(UNKNOWN));
        }
    }

    /// The path of a file without a known parent.
    fn top(&mut self, node: NodeId) -> u32 {
        let hash = fnv(self.tree.handle(node));
        let number = match self.tree.roots(node) {
            (true, _) => self.words.intern("/"),
            (_, true) => self.words.intern(&format!("[{hash:016x}]")),
            _ => self.words.intern(&format!("{UNKNOWN}/{hash:016x}")),
        };
        self.known.insert(node, number);
        number
    }
}

/// The path of a directory, and those of the directories above it.
pub fn above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| match path.rfind('/') {
        Some(0) => (path.len() > 1).then_some("/"),
        at => at.map(|at| &path[..at]),
    })
}

/// A stable hash: FNV-1a, 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

fn escape(name: &[u8], out: &mut String) {
    for chunk in name.utf8_chunks() {
        for each in chunk.valid().chars() {
            if each.is_control() || each == '\\' || each == '/' {
                let mut bytes = [0; 4];
                each.encode_utf8(&mut bytes).bytes().for_each(|byte| hex(byte, out));
            } else {
                out.push(each);
            }
        }
        chunk.invalid().iter().for_each(|byte| hex(*byte, out));
    }
}

fn hex(byte: u8, out: &mut String) {
    let _ = write!(out, "\\x{byte:02x}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(tree: &Tree, id: NodeId) -> String {
        Paths::new(tree).text(id).to_owned()
    }

    fn directories(tree: &Tree, id: NodeId) -> Vec<String> {
        let (mut paths, mut out) = (Paths::new(tree), Vec::new());
        paths.directories(id, &mut out);
        let found: Vec<String> =
            out.iter().map(|number| paths.words.names()[*number as usize].clone()).collect();
        let nearest = paths.text(tree.nearest_directory(id));
        assert_eq!(above(nearest).collect::<Vec<_>>(), found);
        found
    }

    #[test]
    fn a_path_leads_from_what_was_mounted() {
        let mut tree = Tree::default();
        let (root, home, file) = (tree.node(0, b"r"), tree.node(0, b"h"), tree.node(0, b"f"));
        tree.root(root);
        tree.name(home, b"a b\xff\\", file);
        assert_eq!(path(&tree, home), "?/af63e54c8601fbd7");
        assert_eq!(directories(&tree, file), ["?/af63e54c8601fbd7", "?"]);
        tree.name(root, b"home", home);
        assert_eq!(path(&tree, file), "/home/a b\\xff\\x5c");
        assert_eq!(directories(&tree, file), ["/home", "/"]);
        assert_eq!(directories(&tree, home), ["/home", "/"]);
        assert_eq!((path(&tree, root), path(&tree, NONE)), ("/".into(), "?".into()));
        assert_eq!(directories(&tree, NONE), ["?"]);
    }

    #[test]
    fn a_second_mount_has_a_place_of_its_own_until_it_is_found() {
        let mut tree = Tree::default();
        let (one, two) = (tree.node(0, b"1"), tree.node(0, b"2"));
        tree.root(one);
        tree.root(two);
        let elsewhere = tree.node(1, b"2");
        tree.root(elsewhere);
        assert!(path(&tree, two).starts_with('['));
        assert_eq!(directories(&tree, two), [path(&tree, two)]);
        assert_eq!(path(&tree, elsewhere), "/");
        tree.name(one, b"two", two);
        assert_eq!(path(&tree, two), "/two");
    }

    #[test]
    fn a_name_that_was_given_away_is_no_longer_a_files_but_still_its_last() {
        let mut tree = Tree::default();
        let [root, a, b] = [b"r", b"a", b"b"].map(|fh| tree.node(0, fh));
        tree.root(root);
        tree.name(root, b"new", a);
        tree.name(root, b"old", b);
        tree.rename((root, b"new"), (root, b"old"));
        assert_eq!((path(&tree, a), path(&tree, b)), ("/old".into(), "/old".into()));
        assert!(!tree.is_gone(a) && tree.is_gone(b));
        tree.remove(root, b"old");
        assert!(tree.is_gone(a));
        tree.name(root, b"again", b);
        assert!(!tree.is_gone(b));
        tree.rename((root, b"unseen"), (root, b"again"));
        assert!(tree.is_gone(b));
    }

    #[test]
    fn nothing_lies_below_itself() {
        let mut tree = Tree::default();
        let (a, b) = (tree.node(0, b"a"), tree.node(0, b"b"));
        tree.directory(a);
        tree.name(a, b"b", b);
        tree.directory(b);
        tree.name(b, b"a", a);
        tree.name(a, b"a", a);
        assert_eq!(path(&tree, b), format!("{}/b", path(&tree, a)));
    }

    #[test]
    fn a_hierarchy_without_end_is_cut() {
        let mut tree = Tree::default();
        let nodes: Vec<NodeId> = (0..1000u32).map(|i| tree.node(0, &i.to_le_bytes())).collect();
        for pair in nodes.windows(2).rev() {
            tree.name(pair[0], b"x", pair[1]);
        }
        assert!(path(&tree, nodes[999]).len() < 600);
    }
}
