//! Operation counts per period, for any combination of keys, and the file map: the function of
//! Ellard's `nfsscan` and `ns_timeagg` (thesis 3.6.2 and 3.6.3).

mod cells;
mod columns;
mod counter;
mod data_handles;
mod files;
mod given;
mod histogram;
mod merger;
mod paths;
mod rows;
mod tree;

pub use cells::By;
pub use counter::Counter;
pub use merger::Merger;

use hashbrown::HashSet;

/// How long a period stays open after its end, in microseconds of the trace's time: the delay of a
/// call without a reply.
const LATE: i64 = birthmark_trace::message::WINDOW;

/// The word for procedures without rows of their own.
const OTHER: &str = "other";

/// The parameters of a count.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The length of a period, in microseconds.
    pub period: i64,
    /// The keys that distinguish rows.
    pub by: By,
    /// The procedures with rows of their own; all if there is no list.
    pub ops: Option<Vec<String>>,
    /// Whether to keep the file map.
    pub files: bool,
    /// Only the operations of these clients, if there is a list.
    pub clients: Option<HashSet<String>>,
    /// Only those of these users.
    pub uids: Option<HashSet<u32>>,
    /// Only those of these groups.
    pub gids: Option<HashSet<u32>>,
}

impl Plan {
    /// The columns of the operations table that are needed.
    pub fn columns(&self) -> Vec<String> {
        let mut names: Vec<String> = columns::COUNTED.map(str::to_owned).into();
        let optional = [
            (self.needs_clients(), "client"),
            (self.needs_uids(), "uid"),
            (self.needs_gids(), "gid"),
        ];
        names.extend(
            optional.iter().filter(|(needed, _)| *needed).map(|(_, name)| name.to_string()),
        );
        if self.needs_names() {
            names.extend(columns::NAMED.map(str::to_owned));
        }
        if self.files {
            names.extend(columns::ATTRIBUTES.map(str::to_owned));
            names.push("dir_ftype".to_owned());
            names.extend(columns::ATTRIBUTES.map(|name| format!("dir_{name}")));
        }
        names
    }

    fn needs_clients(&self) -> bool {
        self.by.client || self.clients.is_some()
    }

    fn needs_uids(&self) -> bool {
        self.by.uid || self.uids.is_some()
    }

    fn needs_gids(&self) -> bool {
        self.by.gid || self.gids.is_some()
    }

    fn needs_names(&self) -> bool {
        self.by.file || self.by.directory || self.files
    }
}
