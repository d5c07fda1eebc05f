//! Births of regular files and of their names, and what becomes of each, in the order in which it
//! comes to be known: what a history of them learns from, as it happens.
//!
//! - A birth is told when its reply shows it. Those of one instant come in the order of server,
//!   directory, name and handle, so that the order does not tell how they end; therefore what is
//!   known at an instant waits until the trace's time has moved on.
//! - Whether a life is longer than a mark is told at the mark, or at the death. How a file was used
//!   when it was young is told when it is 5 s old, or at its death. All times are the trace's.
//! - A life whose end was missed is lost, which is told when it is found out. A file that nobody saw
//!   dead counts as alive: what falls due of its marks and of its use when it was young is told all
//!   the same. Of what turns out not to have been born nothing is.
//!
//! Births and outcomes are those of the files and names tables but for this: a file of which no
//! handle ever came to be known is told, and is no row; one whose kind was not known at its birth
//! (that of a name that a file unknown until then is renamed to) is not told, and may be a row; a
//! create that is found out later to have opened a file is told, and has no birth in the table.

use super::early::Early;
use super::inodes::{Inodes, Slot};
use super::life::{Birth, Bytes, Inode, Kind, NameLife};
use super::waiting::{Ending, Newborn, Waiting};
use super::Lives;
use birthmark_learn::history;
use birthmark_trace::message::Interner;
use serde::{Deserialize, Serialize};

/// The number of a birth that is not told.
pub const UNTOLD: u64 = u64::MAX;

pub use history::Subject;

/// Something that came to be known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Of a file or of a name.
    pub subject: Subject,
    /// Of which birth: those of each subject are counted from 0, as they are told.
    pub birth: u64,
    /// When.
    pub at: i64,
    /// What.
    pub what: What,
}

/// What came to be known of a birth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// It happened.
    Born(Box<Create>),
    /// Whether it lives no longer than one of [`history::MARKS`].
    Mark(usize, bool),
    /// It died after so many microseconds, and how it had been used.
    Died(i64, Box<Use>),
    /// How a file was used when it was young.
    Young(Box<Use>),
    /// Its end was missed, or it was no birth.
    Lost,
}

/// What was known when a file was created; names of hosts by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Create {
    pub server: u32,
    pub name: Bytes,
    pub dir_fh: Bytes,
    pub dir_name: Option<Bytes>,
    pub mode: Option<u32>,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    /// The file's group, as the reply shows it.
    pub group: Option<u32>,
    pub client: u32,
}

impl Create {
    /// That of a name of a file in a directory.
    fn new(inode: &Inode, birth: Birth, (dir, name): (&Bytes, &Bytes)) -> Create {
        Create {
            server: inode.server,
            name: name.clone(),
            dir_fh: dir.clone(),
            dir_name: None,
            mode: birth.mode,
            uid: birth.caller.uid,
            gid: birth.caller.gid,
            group: inode.life.group,
            client: birth.caller.client,
        }
    }
}

/// How large a file was, and how it was used, as far as is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Use {
    pub size: Option<u64>,
    pub reads: Option<u64>,
    pub writes: Option<u64>,
    pub atime: Option<i64>,
    pub mtime: Option<i64>,
}

impl Use {
    /// What a history learns of it.
    pub fn learned(&self) -> history::Use {
        history::Use::new(self.size, (self.reads, self.writes), (self.atime, self.mtime))
    }

    /// When it was young.
    pub(super) fn early(early: &Early) -> Use {
        Use {
            size: early.size,
            reads: Some(early.reads.into()),
            writes: Some(early.writes.into()),
            atime: early.atime,
            mtime: early.mtime,
        }
    }

    /// That of a file until now.
    fn of_file(inode: &Inode) -> Use {
        let life = &inode.life;
        Use {
            size: life.max_size,
            reads: Some(life.reads),
            writes: Some(life.writes),
            atime: life.atime,
            mtime: life.mtime,
        }
    }

    /// That of the file of a name until now, as the names table has it.
    fn of_name(inode: &Inode) -> Use {
        let born = inode.handle.is_some() && inode.life.birth.is_some();
        let (size, writes) = (inode.life.max_size, Some(inode.life.writes));
        Use { size: size.filter(|_| born), writes: writes.filter(|_| born), ..Use::default() }
    }
}

/// What is known, until it is told and taken.
#[derive(Debug, Serialize, Deserialize)]
pub struct Events {
    files: Waiting,
    names: Waiting,
    told: Vec<Event>,
}

impl Events {
    fn new(most: usize) -> Events {
        let waiting = |subject| Waiting::new(subject, most);
        Events { files: waiting(Subject::File), names: waiting(Subject::Name), told: Vec::new() }
    }

    /// Notes the birth of a regular file that has just got its name; gives its number.
    fn file_born(&mut self, inode: &Inode) -> Option<u64> {
        let birth = inode.life.birth.filter(|_| inode.life.kind == Some(Kind::File))?;
        let origin = inode.life.origin.as_ref()?;
        let create = Create::new(inode, birth, (&origin.dir, &origin.name));
        let create =
            Create { dir_name: origin.dir_name.as_ref().map(|own| own.name.clone()), ..create };
        Some(self.files.born(Newborn { at: birth.at, handle: inode.handle.clone(), create }))
    }

    /// Notes the birth of a name of a regular file; gives its number.
    fn name_born(&mut self, inode: &Inode, name: &NameLife) -> Option<u64> {
        let birth = name.birth.filter(|_| inode.life.kind == Some(Kind::File))?;
        let create = Create::new(inode, birth, (&name.dir, &name.name));
        Some(self.names.born(Newborn { at: birth.at, handle: inode.handle.clone(), create }))
    }

    /// Notes the end of a file, which was told of now; `died` is when, if that was seen.
    pub fn file_ended(&mut self, now: i64, inode: &Inode, died: Option<i64>) {
        if let Some(birth) = inode.life.birth.filter(|birth| birth.number != UNTOLD) {
            let (last, early) = (Use::of_file(inode), Use::early(&inode.life.early));
            let ending = Ending::new(birth, now, died, (last, early));
            self.files.ended(ending);
        }
    }

    /// Notes the end of a name that a file had.
    pub fn name_ended(&mut self, now: i64, inode: &Inode, birth: Option<Birth>, died: Option<i64>) {
        if let Some(birth) = birth.filter(|birth| birth.number != UNTOLD) {
            let ending = Ending::new(birth, now, died, (Use::of_name(inode), Use::default()));
            self.names.ended(ending);
        }
    }

    /// Notes that what was taken for a birth was none.
    pub fn unborn(&mut self, now: i64, subject: Subject, birth: Option<Birth>) {
        if let Some(birth) = birth.filter(|birth| birth.number != UNTOLD) {
            let ending = Ending::unborn(birth, now);
            match subject {
                Subject::File => self.files.ended(ending),
                Subject::Name => self.names.ended(ending),
            }
        }
    }

    /// Tells all that was known before a time.
    #[inline]
    pub fn advance(&mut self, until: i64, inodes: &mut Inodes, servers: &Interner) {
        loop {
            let due = self.files.due().min(self.names.due());
            if due >= until {
                return;
            }
            for waiting in [&mut self.files, &mut self.names] {
                if waiting.due() == due {
                    waiting.tell(inodes, servers, &mut self.told);
                }
            }
        }
    }
}

impl Lives {
    /// The same lives, which also tell [`Event`]s, to be taken after each batch. Of so many births
    /// of each subject the outcomes are awaited; of earlier ones they are not told.
    pub fn with_events(self, most: usize) -> Lives {
        Lives { events: Some(Box::new(Events::new(most))), ..self }
    }

    /// What was told since the last time.
    pub fn take_events(&mut self) -> Vec<Event> {
        let told = self.events.as_mut().map(|events| std::mem::take(&mut events.told));
        told.unwrap_or_default()
    }

    /// A server by its number.
    pub fn server(&self, number: u32) -> Option<&str> {
        self.servers.names().get(number as usize).map(String::as_str)
    }

    /// A client by its number.
    pub fn client(&self, number: u32) -> Option<&str> {
        self.clients.names().get(number as usize).map(String::as_str)
    }

    /// How many outcomes were not told, because too many births came after theirs.
    pub fn dropped(&self) -> u64 {
        self.events.as_ref().map_or(0, |events| events.files.dropped() + events.names.dropped())
    }

    /// Tells what was known before a time: nothing that is older will come any more, as far as the
    /// caller knows. Of a server that has nothing to do, the trace's time does not move on by
    /// itself.
    #[inline]
    pub fn advance(&mut self, until: i64) {
        if let Some(events) = &mut self.events {
            events.advance(until, &mut self.inodes, &self.servers);
        }
    }

    /// Notes that a file was born, if that is to be told.
    pub(super) fn file_born(&mut self, slot: Slot) {
        let inode = self.inodes.get(slot);
        if let Some(origin) = &inode.life.origin {
            self.directories.used(inode.server, &origin.dir);
        }
        let told = |events: &mut Box<Events>| events.file_born(self.inodes.get(slot));
        if let Some(number) = self.events.as_mut().and_then(told) {
            if let Some(birth) = &mut self.inodes.get_mut(slot).life.birth {
                birth.number = number;
            }
            self.inodes.watch(slot, number);
        }
    }

    /// Notes that a name was born, if that is to be told.
    pub(super) fn name_born(&mut self, slot: Slot, index: usize) {
        let inode = self.inodes.get_mut(slot);
        let told = |events: &mut Box<Events>| events.name_born(inode, &inode.names[index]);
        let number = self.events.as_mut().and_then(told);
        if let Some((birth, number)) = inode.names[index].birth.as_mut().zip(number) {
            birth.number = number;
        }
    }

    /// Notes that what was taken for a birth was none.
    pub(super) fn unborn(&mut self, subject: Subject, birth: Option<Birth>) {
        if let Some(events) = &mut self.events {
            events.unborn(self.gaps.now(), subject, birth);
        }
    }
}
