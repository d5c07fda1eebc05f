//! Counts operations.

use super::cells::{By, Cells, Key, Periods, Tally};
use super::columns::{Columns, Names};
use super::data_handles::DataHandles;
use super::files::Files;
use super::given::Early;
use super::paths::Paths;
use super::rows::{Rows, Words};
use super::tree::{NodeId, Tree, NONE};
use super::{Plan, LATE, OTHER};
use arrow_array::{BooleanArray, RecordBatch, StringArray};
use arrow_schema::ArrowError;
use birthmark_columns::{bytes, get, ColumnError};
use birthmark_trace::message::Interner;
use hashbrown::hash_map::Entry;
use hashbrown::HashSet;
use std::collections::BTreeMap;

/// What a procedure's successful reply shows of the hierarchy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shows {
    /// That a directory has a file by a name, if all three are known.
    Name,
    Removal,
    Rename,
    Link,
    Listing,
    Root,
    Layout,
}

/// The meaning of a procedure's word.
#[derive(Clone, Copy)]
struct Op {
    /// The word under which it is counted.
    counted: u32,
    shows: Shows,
    reads: bool,
    writes: bool,
    /// Whether clients of pNFS send it to data servers.
    on_data: bool,
}

/// Takes operations in the order of their replies, and gives the counts of periods as they pass.
pub struct Counter {
    plan: Plan,
    periods: Periods,
    early: Early,
    /// When the earliest period in [`Counter::early`] passes.
    settles: i64,
    rows: Rows,
    back: Rows,
    tree: Tree,
    data: DataHandles,
    files: Files,
    hosts: Interner,
    ops: Interner,
    counted: Interner,
    meanings: Vec<Op>,
    written: HashSet<i64>,
    again: bool,
}

impl Counter {
    /// Returns a counter for a plan.
    pub fn new(plan: Plan) -> Counter {
        Counter {
            periods: Periods::new(plan.period, 0),
            early: Early::default(),
            settles: i64::MAX,
            rows: Rows::new(plan.by, plan.period),
            back: Rows::new(plan.by, plan.period),
            tree: Tree::default(),
            data: DataHandles::default(),
            files: Files::default(),
            hosts: Interner::default(),
            ops: Interner::default(),
            counted: Interner::default(),
            meanings: Vec::new(),
            written: HashSet::new(),
            again: false,
            plan,
        }
    }

    /// Takes a batch of operations.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), ColumnError> {
        let columns = Columns::new(batch, &self.plan, &mut self.hosts, &mut self.ops)?;
        self.learn_words();
        for row in 0..batch.num_rows() {
            let time = columns.time.value(row);
            let now = get(columns.reply_time, row).unwrap_or(time);
            if now.saturating_sub(LATE) >= self.periods.first_end().min(self.settles) {
                self.close(now.saturating_sub(LATE));
            }
            let op = self.meanings[columns.ops[row] as usize];
            let server = columns.servers[row];
            let object = match &columns.names {
                Some(names) => self.observe(names, row, server, op, get(columns.status, row), now),
                None => NONE,
            };
            if let Some(key) = self.key(&columns, row, op, object) {
                let tally = self.periods.at(time).entry(key).or_default();
                count(tally, &columns, row, op);
            }
        }
        Ok(())
    }

    /// Ends the trace: all periods have passed.
    pub fn finish(&mut self) {
        self.close(i64::MAX);
    }

    /// Gives the counts so far, even of open periods, under the paths known now. If other paths
    /// become known before a period has passed, its counts are taken back ([`Counter::take_back`])
    /// and given again.
    pub fn show(&mut self) {
        if !self.tells_paths() {
            return self.close(i64::MAX);
        }
        let mut periods: BTreeMap<i64, Cells> = self.periods.take(i64::MAX).into_iter().collect();
        for start in self.early.starts(i64::MAX) {
            periods.entry(start).or_default();
        }
        for (start, cells) in periods {
            self.give(start, cells, true);
        }
        self.settles = self.first_settles();
        self.tree.turn();
    }

    /// Beyond `most` files, drops all but half as many that were used last and those with counts
    /// that may be given again; returns the number dropped. They have no path until the traffic
    /// shows one again. Beyond `most` hosts, drops those without a file or such counts. Drops
    /// nothing while there are counts that were not shown, or files are mapped.
    pub fn forget(&mut self, most: usize) -> usize {
        let counting = self.periods.first_end() < i64::MAX;
        if counting || self.plan.files {
            return 0;
        }
        let before = self.tree.len();
        if self.tree.is_beyond(most) || self.data.len() > most {
            let numbers = self.tree.keep(most / 2, self.early.files());
            self.early.renumber(&numbers);
            self.data.renumber(&numbers);
        }
        if self.hosts.len() > most {
            let in_use: HashSet<u32> = self.tree.servers().chain(self.early.hosts()).collect();
            self.hosts.retain(|host| in_use.contains(&host));
        }
        before - self.tree.len()
    }

    /// The number of known files and hosts.
    pub fn known(&self) -> usize {
        self.tree.len() + self.hosts.len()
    }

    /// The rows that were given before and are taken back.
    pub fn take_back(&mut self) -> Result<RecordBatch, ArrowError> {
        self.back.take()
    }

    /// The rows of the periods that have passed since the last call.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        self.rows.take()
    }

    /// The number of rows pending.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Whether a period was given more than once, because of late operations: rows with the same
    /// keys must then be merged.
    pub fn again(&self) -> bool {
        self.again
    }

    /// The files seen since the last call; a file may be given again.
    pub fn take_files(&mut self) -> Result<RecordBatch, ArrowError> {
        self.files.take(&self.tree, &self.hosts)
    }

    /// The number of files pending.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// The last paths of files, by number, and whether they still have them.
    pub fn paths(&self, ids: &[NodeId]) -> (StringArray, BooleanArray) {
        let mut paths = Paths::new(&self.tree);
        let (mut found, mut gone) = (Vec::new(), Vec::new());
        for id in ids {
            found.push(paths.path(*id));
            gone.push(self.tree.is_gone(*id));
        }
        let words = paths.words.names();
        let found = found.iter().map(|path| words[*path as usize].as_str());
        (StringArray::from_iter_values(found), BooleanArray::from(gone))
    }

    /// Learns the words of a batch.
    fn learn_words(&mut self) {
        for word in &self.ops.names()[self.meanings.len()..] {
            let listed = self.plan.ops.as_ref().is_none_or(|ops| ops.iter().any(|op| op == word));
            let shows = match word.as_str() {
                "remove" | "rmdir" => Shows::Removal,
                "rename" => Shows::Rename,
                "link" => Shows::Link,
                "readdir" | "readdirplus" => Shows::Listing,
                "fsinfo" => Shows::Root,
                "layoutget" => Shows::Layout,
                _ => Shows::Name,
            };
            let counted = self.counted.intern(if listed { word } else { OTHER });
            let (reads, writes) = (word == "read", word == "write");
            let on_data = reads || writes || word == "read_plus" || word == "commit";
            self.meanings.push(Op { counted, shows, reads, writes, on_data });
        }
    }

    /// The keys of a row; none if it is not counted.
    #[inline]
    fn key(&self, columns: &Columns, row: usize, op: Op, object: NodeId) -> Option<Key> {
        let client = columns.clients.as_ref().map_or(0, |clients| clients[row]);
        let uid = columns.uid.and_then(|uid| get(uid, row));
        let gid = columns.gid.and_then(|gid| get(gid, row));
        let among = |list: &Option<HashSet<u32>>, id: Option<u32>| match list {
            Some(list) => id.is_some_and(|id| list.contains(&id)),
            None => true,
        };
        let name = || &self.hosts.names()[client as usize];
        let wanted = self.plan.clients.as_ref().is_none_or(|list| list.contains(name()));
        if !wanted || !among(&self.plan.uids, uid) || !among(&self.plan.gids, gid) {
            return None;
        }
        let by = &self.plan.by;
        let number = |wanted: bool, id: Option<u32>| match id {
            Some(id) if wanted => u64::from(id) + 1,
            _ => 0,
        };
        Some(Key {
            server: if by.server { columns.servers[row] } else { 0 },
            client: if by.client { client } else { 0 },
            uid: number(by.uid, uid),
            gid: number(by.gid, gid),
            file: if by.file || by.directory { object } else { 0 },
            directory: 0,
            op: op.counted,
        })
    }

    /// Learns the hierarchy shown by a row; returns the file that the row counts for.
    fn observe(
        &mut self,
        names: &Names,
        row: usize,
        server: u32,
        op: Op,
        status: Option<u32>,
        now: i64,
    ) -> NodeId {
        if let Some(file) = self.data_file(names, row, server, op) {
            if self.plan.files {
                self.files.see(file, now);
            }
            return file;
        }
        let Some(fh) = Names::node(names.fh, row, server, &mut self.tree) else {
            return NONE;
        };
        let new = Names::node(names.new_fh, row, server, &mut self.tree);
        let object = new.unwrap_or(fh);
        if status == Some(0) {
            if names.is_directory(row) {
                self.tree.directory(object);
            }
            self.names(names, row, server, op.shows, fh, new);
            if op.shows == Shows::Listing {
                self.listing(names, row, server, fh, now);
            }
        }
        if self.plan.files {
            self.attributes(names, row, server, op, (fh, object), now);
        }
        object
    }

    /// The file whose data an operation reads or writes at a data server.
    #[inline]
    fn data_file(&self, names: &Names, row: usize, server: u32, op: Op) -> Option<NodeId> {
        let handle = bytes(names.fh, row).filter(|_| op.on_data)?;
        let file = self.data.file(handle)?;
        let own = self.tree.server(file) == server && self.tree.handle(file) == handle;
        (!own).then_some(file)
    }

    /// Learns the data-server handles of a file. A layout without any means the file's own.
    fn lay_out(&mut self, names: &Names, row: usize, fh: NodeId) {
        let Some(handles) = names.layout(row) else {
            return;
        };
        let mut handles = handles.peekable();
        if handles.peek().is_none() {
            self.data.add(self.tree.handle(fh), fh);
        }
        handles.for_each(|handle| self.data.add(handle, fh));
    }

    /// Learns the names in a successful operation.
    fn names(
        &mut self,
        names: &Names,
        row: usize,
        server: u32,
        shows: Shows,
        fh: NodeId,
        new: Option<NodeId>,
    ) {
        let fh2 = Names::node(names.fh2, row, server, &mut self.tree);
        let name = bytes(names.name, row);
        match (shows, name, bytes(names.name2, row), fh2, new) {
            (Shows::Root, ..) => self.tree.root(fh),
            (Shows::Layout, ..) => self.lay_out(names, row, fh),
            (Shows::Name, Some(name), _, _, Some(new)) => self.tree.name(fh, name, new),
            (Shows::Removal, Some(name), ..) => self.tree.remove(fh, name),
            (Shows::Link, Some(name), _, Some(dir), _) => self.tree.name(dir, name, fh),
            (Shows::Rename, Some(name), Some(name2), Some(dir), _) => {
                self.tree.rename((fh, name), (dir, name2));
            }
            _ => {}
        }
    }

    fn listing(&mut self, names: &Names, row: usize, server: u32, dir: NodeId, now: i64) {
        for entry in names.entries(row) {
            let id = self.tree.node(server, entry.fh);
            if entry.directory {
                self.tree.directory(id);
            }
            self.tree.name(dir, entry.name, id);
            if let Some(attributes) = &names.entry_attributes {
                self.files.learn(id, now, attributes, entry.at);
            }
        }
    }

    /// Learns the attributes in a reply.
    fn attributes(
        &mut self,
        names: &Names,
        row: usize,
        server: u32,
        op: Op,
        (fh, object): (NodeId, NodeId),
        now: i64,
    ) {
        self.files.see(fh, now);
        if let Some(attributes) = &names.attributes {
            self.files.learn(object, now, attributes, row);
        }
        let dir = match op.shows {
            Shows::Link => Names::node(names.fh2, row, server, &mut self.tree),
            _ => bytes(names.name, row).map(|_| fh),
        };
        if let (Some(dir), Some(attributes)) = (dir, &names.dir_attributes) {
            self.files.learn(dir, now, attributes, row);
        }
    }

    fn tells_paths(&self) -> bool {
        self.plan.by.file || self.plan.by.directory
    }

    /// Makes rows of the periods that end no later than `time`.
    fn close(&mut self, time: i64) {
        let mut periods: BTreeMap<i64, Cells> = self.periods.take(time).into_iter().collect();
        for start in self.early.starts(time.saturating_sub(self.periods.length)) {
            periods.entry(start).or_default();
        }
        for (start, cells) in periods {
            self.give(start, cells, false);
            self.early.pass(start);
        }
        self.settles = self.first_settles();
    }

    fn first_settles(&self) -> i64 {
        self.early.first().map_or(i64::MAX, |start| start.saturating_add(self.periods.length))
    }

    /// Makes rows of a period's counts, and takes back those given under other paths; keeps the
    /// period if more may become known.
    fn give(&mut self, start: i64, mut cells: Cells, keep: bool) {
        let by = self.plan.by;
        let mut paths = Paths::new(&self.tree);
        let (back, again) = self.early.moved(start, by, &self.tree, &mut paths);
        if keep {
            self.early.keep(start, &cells, by, &self.tree, &mut paths);
        }
        again.into_iter().for_each(|(key, tally)| add(&mut cells, key, tally));
        if cells.is_empty() {
            return;
        }
        if !self.again {
            self.again = !self.written.insert(start);
        }
        let cells = match by.file || by.directory {
            true => resolved(cells, by, &self.tree, &mut paths),
            false => cells,
        };
        let words = Words { hosts: &self.hosts, paths: &paths.words, ops: &self.counted };
        self.back.add(start, &back, words);
        self.rows.add(start, &cells, words);
    }
}

/// Counts an operation.
#[inline]
fn count(tally: &mut Tally, columns: &Columns, row: usize, op: Op) {
    let [ops, retransmits, errors, unanswered, bytes_read, bytes_written, _] = &mut tally.sums;
    *ops += 1;
    *retransmits += u64::from(columns.retransmits.value(row));
    let status = get(columns.status, row);
    *errors += u64::from(status.is_some_and(|status| status != 0));
    if status == Some(0) {
        if op.reads {
            *bytes_read += get(columns.reply_count, row).map_or(0, u64::from);
        } else if op.writes {
            // the reply of version 2 lacks the bytes written
            let count = get(columns.reply_count, row).or(get(columns.count, row));
            *bytes_written += count.map_or(0, u64::from);
        }
    }
    match get(columns.reply_time, row) {
        None => *unanswered += 1,
        Some(at) => {
            let micros = at.saturating_sub(columns.time.value(row));
            if let Ok(micros) = u64::try_from(micros) {
                tally.took(micros); // else the clock was set back
            }
        }
    }
}

/// Converts counts by file number to counts by path, of the file and of the directories above it.
fn resolved(cells: Cells, by: By, tree: &Tree, paths: &mut Paths) -> Cells {
    let cells = match by.file {
        true => cells,
        false => {
            // first sum the files of a directory, as there are fewer directories
            let mut found = Cells::new();
            for (key, tally) in cells {
                add(&mut found, Key { file: tree.nearest_directory(key.file), ..key }, tally);
            }
            found
        }
    };
    let mut sorted: Vec<(Key, Tally)> = cells.into_iter().collect();
    sorted.sort_unstable_by_key(|(key, _)| (key.file, *key));
    let mut found = Cells::new();
    let (mut last, mut directories) = (None, Vec::new());
    for (key, tally) in sorted {
        let file = if by.file { paths.path(key.file) } else { 0 };
        if !by.directory {
            add(&mut found, Key { file, ..key }, tally);
            continue;
        }
        if last != Some(key.file) {
            paths.directories(key.file, &mut directories);
            last = Some(key.file);
        }
        for directory in directories.iter().copied() {
            found.entry(Key { file, directory, ..key }).or_default().merge(&tally);
        }
    }
    found
}

fn add(cells: &mut Cells, key: Key, tally: Tally) {
    match cells.entry(key) {
        Entry::Occupied(mut cell) => cell.get_mut().merge(&tally),
        Entry::Vacant(cell) => {
            cell.insert(tally);
        }
    }
}
