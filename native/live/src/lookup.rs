//! Lookups of creates in the live history, by any of their directory's names.

use super::alias;
use super::file::SharedHistory;
use super::freshness::StaleReason;
use super::header::Facts;
use super::reader::View;
use super::words::Words;
use birthmark_contract::history_scope::HistoryScope;
use birthmark_learn::history::{Create, Namer, Names, Subject, BYTES, BYTES_PER_KEY};

/// How a client identifies the directory of a create.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place<'a> {
    /// None.
    #[default]
    Unknown,
    /// Its NFS file handle.
    Handle(&'a [u8]),
    /// Its file system and inode (see [`alias::of_inode`]).
    Inode(&'a [u8], u64),
    /// Its path.
    Path(&'a [u8]),
}

/// A create, as far as the client knows it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// The name given.
    pub name: Option<&'a [u8]>,
    /// The directory.
    pub place: Place<'a>,
    /// The directory's own name; if unknown, that of the follower.
    pub dir_name: Option<&'a [u8]>,
    /// The permission bits that it carries.
    pub mode: Option<u32>,
    /// The caller's user.
    pub uid: Option<u32>,
    /// The caller's host.
    pub client: Option<&'a str>,
    /// The time, in microseconds since the epoch; if unknown, the last that the follower saw.
    pub time: Option<i64>,
}

/// The histories of a create: of files, and of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Seen {
    pub files: [u8; BYTES],
    pub names: [u8; BYTES],
}

impl Default for Seen {
    fn default() -> Seen {
        Seen { files: [0; BYTES], names: [0; BYTES] }
    }
}

/// The scope and freshness of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The scope of the history of files.
    pub scope: HistoryScope,
    /// The follower's status.
    pub facts: Facts,
}

/// Looks up creates, with reused memory.
#[derive(Default)]
pub struct Lookup {
    namer: Namer,
}

impl Lookup {
    /// Writes the histories of a create to `seen`, as `History::at` does.
    ///
    /// A directory named by its handle is always known, because keys contain the handle. One with
    /// another name is known if the follower knows the alias.
    pub fn tell(
        &mut self,
        history: &mut SharedHistory,
        asked: &Asked,
        seen: &mut Seen,
    ) -> Result<Answer, StaleReason> {
        let question = self.question(asked);
        history.look(|view| question.answer(view, seen))
    }

    /// Prepares the lookup for a create.
    pub fn question(&mut self, asked: &Asked) -> Question {
        let Asked { name, place, dir_name, mode, uid, client, time } = *asked;
        let (dir_fh, alias) = match place {
            Place::Unknown => (None, None),
            Place::Handle(handle) => (Some(handle), Some(alias::of_handle(handle))),
            Place::Inode(system, fileid) => (None, Some(alias::of_inode(system, fileid))),
            Place::Path(path) => (None, Some(alias::of_path(path))),
        };
        let names = self.namer.names(&Create { name, dir_fh, dir_name, mode, uid, client });
        Question { names, alias, time }
    }
}

/// The lookup of a create: its keys.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    names: Names,
    alias: Option<u64>,
    time: Option<i64>,
}

impl Question {
    /// Writes the histories to `seen`.
    pub fn answer<W: Words>(&self, view: &View<'_, W>, seen: &mut Seen) -> Answer {
        let mut names = self.names;
        if let Some(directory) = self.alias.and_then(|alias| view.directory(alias)) {
            names.dir = names.dir.or(Some(directory.dir));
            names.dir_shape = names.dir_shape.or(directory.shape);
        }
        let facts = view.facts();
        let time = self.time.unwrap_or(facts.report.trace_clock);
        tell(view, Subject::File, names, time, &mut seen.files);
        // the table of names, which their history learned from, has no directory's own name
        tell(view, Subject::Name, Names { dir_shape: None, ..names }, time, &mut seen.names);
        Answer { scope: HistoryScope::of(&seen.files), facts }
    }
}

/// Writes the history of one subject under the keys of a create.
fn tell<W: Words>(
    view: &View<'_, W>,
    subject: Subject,
    mut names: Names,
    time: i64,
    history: &mut [u8; BYTES],
) {
    let of_subject = |key: Option<u64>| key.map(|key| subject.key(key));
    view.expect(&names.keys().map(of_subject));
    names.previous = of_subject(names.caller()).map(|caller| view.record(caller).shape);
    let keys = names.keys().map(of_subject);
    for (key, bytes) in keys.into_iter().zip(history.chunks_exact_mut(BYTES_PER_KEY)) {
        match key {
            Some(key) => view.record(key).tell(time, bytes),
            None => bytes.fill(0),
        }
    }
}
