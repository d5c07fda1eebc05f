//! Counts given before their period had passed, under the paths known then.
//!
//! A scan waits for a minute before it decides on a file's path. A live display cannot wait, so it
//! gets the counts under the paths known now. If other paths become known within that minute, the
//! counts are taken back, and given again. So the final counts equal those of a scan.

use super::cells::{By, Cells, Key, Tally};
use super::paths::{above, Paths};
use super::tree::{NodeId, Tree};
use hashbrown::HashMap;
use std::collections::BTreeMap;

/// The counts given for a file in a period.
struct Given {
    under: Under,
    cells: Vec<(Key, Tally)>,
}

/// The path of a file, and that of its directory, or of itself; unused keys are empty.
#[derive(PartialEq, Eq)]
struct Under {
    file: Box<str>,
    directory: Box<str>,
}

/// The counts given for open periods, by their begin.
#[derive(Default)]
pub struct Early {
    periods: BTreeMap<i64, HashMap<NodeId, Given>>,
}

impl Early {
    /// The begin of the earliest period.
    pub fn first(&self) -> Option<i64> {
        self.periods.keys().next().copied()
    }

    /// The periods that begin no later than a time.
    pub fn starts(&self, until: i64) -> impl Iterator<Item = i64> + '_ {
        self.periods.range(..=until).map(|(start, _)| *start)
    }

    /// Drops a period.
    pub fn pass(&mut self, start: i64) {
        self.periods.remove(&start);
    }

    /// Records the counts given for a period under the current paths.
    pub fn keep(&mut self, start: i64, cells: &Cells, by: By, tree: &Tree, paths: &mut Paths) {
        let period = self.periods.entry(start).or_default();
        for (key, tally) in cells {
            let given = period.entry(key.file).or_insert_with(|| Given {
                under: Under::now(key.file, by, tree, paths),
                cells: Vec::new(),
            });
            given.cells.push((*key, tally.clone()));
        }
    }

    /// The counts to take back for a period, by path, and, by file, those to give again.
    pub fn moved(&mut self, start: i64, by: By, tree: &Tree, paths: &mut Paths) -> (Cells, Cells) {
        let (mut back, mut again) = (Cells::new(), Cells::new());
        let Some(period) = self.periods.get_mut(&start) else {
            return (back, again);
        };
        for file in candidates(period, tree) {
            let Some(given) = period.get_mut(&file).filter(|_| tree.is_moved(file)) else {
                continue;
            };
            let under = Under::now(file, by, tree, paths);
            if under == given.under {
                continue;
            }
            let before = std::mem::replace(&mut given.under, under);
            for (key, tally) in &given.cells {
                before.add(by, (key, tally), &mut back, paths);
                again.entry(*key).or_default().merge(tally);
            }
        }
        (back, again)
    }

    /// The files with recorded counts.
    pub fn files(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.periods.values().flat_map(|period| period.keys().copied())
    }

    /// The servers and clients of recorded counts.
    pub fn hosts(&self) -> impl Iterator<Item = u32> + '_ {
        let files = self.periods.values().flat_map(HashMap::values);
        files.flat_map(|given| given.cells.iter().flat_map(|(key, _)| [key.server, key.client]))
    }

    /// Renumbers files.
    pub fn renumber(&mut self, numbers: &[NodeId]) {
        let new = |id: NodeId| numbers.get(id as usize).copied().unwrap_or(id);
        for period in self.periods.values_mut() {
            let before = std::mem::take(period);
            period.extend(before.into_iter().map(|(file, mut given)| {
                given.cells.iter_mut().for_each(|(key, _)| key.file = new(key.file));
                (new(file), given)
            }));
        }
    }
}

/// The files of a period that may have moved since the last check: all, if a directory has.
fn candidates(period: &HashMap<NodeId, Given>, tree: &Tree) -> Vec<NodeId> {
    match tree.moved().iter().any(|id| tree.is_directory(*id)) {
        true => period.keys().copied().collect(),
        false => tree.moved().to_vec(),
    }
}

impl Under {
    fn now(file: NodeId, by: By, tree: &Tree, paths: &mut Paths) -> Under {
        let mut path = |wanted: bool, id: NodeId| match wanted {
            true => paths.text(id).into(),
            false => Box::default(),
        };
        let own = path(by.file, file);
        Under { file: own, directory: path(by.directory, tree.nearest_directory(file)) }
    }

    /// Adds the counts given under it.
    fn add(&self, by: By, (key, tally): (&Key, &Tally), to: &mut Cells, paths: &mut Paths) {
        let mut number =
            |wanted: bool, path: &str| if wanted { paths.words.intern(path) } else { 0 };
        let file = number(by.file, &self.file);
        let directories = above(&self.directory).take(if by.directory { usize::MAX } else { 1 });
        for directory in directories {
            let directory = number(by.directory, directory);
            to.entry(Key { file, directory, ..*key }).or_default().merge(tally);
        }
    }
}
