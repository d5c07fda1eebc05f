//! What is told to a create, whatever its asker knows of it.

use super::alias;
use super::file::SharedHistory;
use super::freshness::WhyNot;
use super::header::Facts;
use super::reader::View;
use super::words::Words;
use birthmark_contract::told::Told;
use birthmark_learn::history::{Create, Namer, Names, Subject, BYTES, BYTES_PER_KEY};

/// How an asker names a create's directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place<'a> {
    /// Not at all.
    #[default]
    Unknown,
    /// By its NFS file handle.
    Handle(&'a [u8]),
    /// As a kernel does (see [`alias::of_inode`]).
    Inode(&'a [u8], u64),
    /// By its path.
    Path(&'a [u8]),
}

/// A create, as far as its asker knows it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked<'a> {
    /// The name given.
    pub name: Option<&'a [u8]>,
    /// The directory.
    pub place: Place<'a>,
    /// The directory's own name; the follower's word for it is taken where this is not known.
    pub dir_name: Option<&'a [u8]>,
    /// The permission bits that it carries.
    pub mode: Option<u32>,
    /// The user who asks for it.
    pub uid: Option<u32>,
    /// The host that asks for it.
    pub client: Option<&'a str>,
    /// When it is, in microseconds since the epoch; the last that the follower saw, if not known.
    pub time: Option<i64>,
}

/// What was seen before a create: of files, and of names.
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

/// Of what a create was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How much that is.
    pub told: Told,
    /// How the follower is doing.
    pub facts: Facts,
}

/// Looks creates up, in memory of its own.
#[derive(Default)]
pub struct Lookup {
    namer: Namer,
}

impl Lookup {
    /// Tells what was seen before a create, as `History::at` tells it.
    ///
    /// A directory that is named by its handle is known, even if nothing was seen in it: the keys
    /// are made of handles. One that is named otherwise is known if the follower knows its alias.
    pub fn tell(
        &mut self,
        history: &mut SharedHistory,
        asked: &Asked,
        seen: &mut Seen,
    ) -> Result<Answer, WhyNot> {
        let question = self.question(asked);
        history.look(|view| question.answer(view, seen))
    }

    /// What is to be looked up for a create.
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

/// What is to be looked up for a create.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    names: Names,
    alias: Option<u64>,
    time: Option<i64>,
}

impl Question {
    /// Tells what is there.
    pub fn answer<W: Words>(&self, view: &View<'_, W>, seen: &mut Seen) -> Answer {
        let mut names = self.names;
        if let Some(directory) = self.alias.and_then(|alias| view.directory(alias)) {
            names.dir = names.dir.or(Some(directory.dir));
            names.dir_shape = names.dir_shape.or(directory.shape);
        }
        let facts = view.facts();
        let time = self.time.unwrap_or(facts.report.trace_clock);
        tell(view, Subject::File, names, time, &mut seen.files);
        // the table of names, which their history is learned from, knows no directory's own name
        tell(view, Subject::Name, Names { dir_shape: None, ..names }, time, &mut seen.names);
        Answer { told: Told::of(&seen.files), facts }
    }
}

/// Tells what is known of one subject under the keys of a create.
fn tell<W: Words>(
    view: &View<'_, W>,
    subject: Subject,
    mut names: Names,
    time: i64,
    told: &mut [u8; BYTES],
) {
    let of_subject = |key: Option<u64>| key.map(|key| subject.key(key));
    view.expect(&names.keys().map(of_subject));
    names.previous = of_subject(names.caller()).map(|caller| view.record(caller).shape);
    let keys = names.keys().map(of_subject);
    for (key, told) in keys.into_iter().zip(told.chunks_exact_mut(BYTES_PER_KEY)) {
        match key {
            Some(key) => view.record(key).tell(time, told),
            None => told.fill(0),
        }
    }
}
