//! A server's heuristic, as named in configurations.

use super::{
    Always, Cursors, Default4, FreeBsd9, Heuristic, PerFile, Pool, Reorder, Rule, SlowDown,
    TableRules, Tabled,
};
use serde::Deserialize;

/// A heuristic by its name.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Choice {
    /// [`Default4`].
    Default4,
    /// [`Always`].
    Always,
    /// [`SlowDown`].
    SlowDown,
    /// [`Cursors`]: the most per file.
    Cursors(usize),
    /// [`Pool`]: the number for all files.
    Pool(usize),
    /// [`Reorder`]: its window in nanoseconds.
    Reorder(u64),
    /// [`FreeBsd9`]: the file system's block in bytes.
    FreeBsd9(u64),
}

impl Choice {
    /// Make it, with a table of files, or without one, which remembers all files. A pool of cursors
    /// needs no table.
    pub fn make(self, table: Option<TableRules>) -> Box<dyn Heuristic> {
        match self {
            Self::Default4 => with(Default4, table),
            Self::Always => with(Always, table),
            Self::SlowDown => with(SlowDown, table),
            Self::Cursors(most) => with(Cursors { most }, table),
            Self::Pool(most) => Box::new(Pool::new(most)),
            Self::Reorder(window) => with(Reorder { window }, table),
            Self::FreeBsd9(block) => with(FreeBsd9 { block }, table),
        }
    }
}

fn with<R: Rule + 'static>(rule: R, table: Option<TableRules>) -> Box<dyn Heuristic> {
    match table {
        Some(rules) => Box::new(Tabled::new(rule, rules)),
        None => Box::new(PerFile::new(rule)),
    }
}
