//! Births of regular files and of their names, and their outcomes, in the order in which they
//! become known. The live history learns from them.
//!
//! - A birth is emitted when its reply shows it. Births of one instant are ordered by server,
//!   directory, name and handle, so that the order does not reveal their ends. Therefore events of
//!   an instant are pending until the trace's time has moved on.
//! - The answer whether a life outlasts a mark is emitted at the mark, or at the death. The use of
//!   a young file is emitted when it is 5 s old, or at its death; the use until the last mark only
//!   then, as a death has its own. All times are the trace's.
//! - A life whose end was missed is emitted as lost when that is detected. Until a death is seen,
//!   lifespan marks and early-use events are emitted on time. If a birth is retracted, no further
//!   events are emitted for it.
//!
//! Births and outcomes equal those of the files and names tables, with three exceptions. A file
//! whose handle never became known is emitted, but has no row. A file whose kind was unknown at its
//! birth (after a rename of an unknown file) is not emitted, but may have a row. A create that
//! turns out to have opened a file is emitted, but has no birth in the table.

use super::early::Early;
use super::hosts::Hosts;
use super::inodes::{Inodes, Slot};
use super::life::{Birth, Bytes, Inode, Kind, NameLife};
use super::pending::{Ending, Newborn, PendingEvents};
use super::Lives;
use birthmark_learn::history;
use birthmark_trace::message::Interner;
use serde::{Deserialize, Serialize};

/// The number of a birth that is not emitted.
pub const NOT_EMITTED: u64 = u64::MAX;

pub use history::Subject;

/// A birth or an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Whether it concerns a file or a name.
    pub subject: Subject,
    /// The number of the birth, counted from 0 for each subject in the order of emission.
    pub birth: u64,
    /// When.
    pub at: i64,
    /// What.
    pub what: What,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum What {
    /// It happened.
    Born(Box<Create>),
    /// Whether it lives no longer than one of [`history::MARKS`].
    Mark(usize, bool),
    /// It died after this many microseconds, and its use until then.
    Died(i64, Box<Use>),
    /// The use of a file while it was young.
    Young(Box<Use>),
    /// The use of a file that outlasts the last of [`history::MARKS`], until then.
    Used(Box<Use>),
    /// Its end was missed, or it was not a birth.
    Lost,
}

/// The knowledge at a file's creation; hosts are numbers.
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
    /// Describes a name of a file in a directory.
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

/// A file's size and use, as far as known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Use {
    pub size: Option<u64>,
    pub reads: Option<u64>,
    pub writes: Option<u64>,
    pub bytes_written: Option<u64>,
    pub atime: Option<i64>,
    pub mtime: Option<i64>,
}

/// A file's use while it was young, and until now.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Uses {
    pub early: Use,
    pub last: Use,
}

impl Uses {
    /// The use of a file.
    pub(super) fn of_file(inode: &Inode) -> Uses {
        Uses { early: Use::early(&inode.life.early), last: Use::of_file(inode) }
    }
}

impl Use {
    /// The part that a history learns.
    pub fn learned(&self) -> history::Use {
        history::Use::new(self.size, (self.reads, self.writes), (self.atime, self.mtime))
    }

    /// The use while it was young.
    fn early(early: &Early) -> Use {
        Use {
            size: early.size,
            reads: Some(early.reads.into()),
            writes: Some(early.writes.into()),
            bytes_written: None,
            atime: early.atime,
            mtime: early.mtime,
        }
    }

    /// The use of a file until now.
    fn of_file(inode: &Inode) -> Use {
        let life = &inode.life;
        Use {
            size: life.max_size,
            reads: Some(life.reads),
            writes: Some(life.writes),
            bytes_written: Some(life.bytes_written),
            atime: life.atime,
            mtime: life.mtime,
        }
    }

    /// The use of a name's file until now, as in the names table.
    fn of_name(inode: &Inode) -> Use {
        let born = inode.handle.is_some() && inode.life.birth.is_some();
        let (size, writes) = (inode.life.max_size, Some(inode.life.writes));
        Use { size: size.filter(|_| born), writes: writes.filter(|_| born), ..Use::default() }
    }
}

/// Pending and emitted events.
#[derive(Debug, Serialize, Deserialize)]
pub struct Events {
    files: PendingEvents,
    names: PendingEvents,
    emitted: Vec<Event>,
}

impl Events {
    fn new(most: usize) -> Events {
        let pending = |subject| PendingEvents::new(subject, most);
        Events { files: pending(Subject::File), names: pending(Subject::Name), emitted: Vec::new() }
    }

    /// Records the birth of a regular file that has just got its name; returns its number.
    fn file_born(&mut self, inode: &Inode) -> Option<u64> {
        let birth = inode.life.birth.filter(|_| inode.life.kind == Some(Kind::File))?;
        let origin = inode.life.origin.as_ref()?;
        let create = Create::new(inode, birth, (&origin.dir, &origin.name));
        let create =
            Create { dir_name: origin.dir_name.as_ref().map(|own| own.name.clone()), ..create };
        Some(self.files.born(Newborn { at: birth.at, handle: inode.handle.clone(), create }))
    }

    /// Records the birth of a name of a regular file; returns its number.
    fn name_born(&mut self, inode: &Inode, name: &NameLife) -> Option<u64> {
        let birth = name.birth.filter(|_| inode.life.kind == Some(Kind::File))?;
        let create = Create::new(inode, birth, (&name.dir, &name.name));
        Some(self.names.born(Newborn { at: birth.at, handle: inode.handle.clone(), create }))
    }

    /// Records the end of a file, known now; `died` is its time, if seen.
    pub fn file_ended(&mut self, now: i64, inode: &Inode, died: Option<i64>) {
        if let Some(birth) = inode.life.birth.filter(|birth| birth.number != NOT_EMITTED) {
            self.files.ended(Ending::new(birth, now, died, Uses::of_file(inode)));
        }
    }

    /// Records the end of a name of a file.
    pub fn name_ended(&mut self, now: i64, inode: &Inode, birth: Option<Birth>, died: Option<i64>) {
        if let Some(birth) = birth.filter(|birth| birth.number != NOT_EMITTED) {
            let uses = Uses { last: Use::of_name(inode), ..Uses::default() };
            self.names.ended(Ending::new(birth, now, died, uses));
        }
    }

    /// Retracts a birth.
    pub fn unborn(&mut self, now: i64, subject: Subject, birth: Option<Birth>) {
        if let Some(birth) = birth.filter(|birth| birth.number != NOT_EMITTED) {
            let ending = Ending::unborn(birth, now);
            match subject {
                Subject::File => self.files.ended(ending),
                Subject::Name => self.names.ended(ending),
            }
        }
    }

    /// Records the hosts of pending births.
    pub fn hosts(&self, hosts: &mut Hosts) {
        for create in self.files.creates().chain(self.names.creates()) {
            hosts.server(create.server);
            hosts.client(create.client);
        }
    }

    /// Emits everything known before a time.
    #[inline]
    pub fn advance(&mut self, until: i64, inodes: &mut Inodes, servers: &Interner) {
        loop {
            let due = self.files.due().min(self.names.due());
            if due >= until {
                return;
            }
            for pending in [&mut self.files, &mut self.names] {
                if pending.due() == due {
                    pending.emit(inodes, servers, &mut self.emitted);
                }
            }
        }
    }
}

impl Lives {
    /// Enables [`Event`]s, to be taken after each batch. Outcomes are awaited for the last `most`
    /// births of each subject; earlier ones are not emitted.
    pub fn with_events(self, most: usize) -> Lives {
        Lives { events: Some(Box::new(Events::new(most))), ..self }
    }

    /// The events emitted since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        let emitted = self.events.as_mut().map(|events| std::mem::take(&mut events.emitted));
        emitted.unwrap_or_default()
    }

    /// A server by its number.
    pub fn server(&self, number: u32) -> Option<&str> {
        self.servers.names().get(number as usize).map(String::as_str)
    }

    /// A client by its number.
    pub fn client(&self, number: u32) -> Option<&str> {
        self.clients.names().get(number as usize).map(String::as_str)
    }

    /// The number of outcomes not emitted because too many births followed.
    pub fn dropped(&self) -> u64 {
        self.events.as_ref().map_or(0, |events| events.files.dropped() + events.names.dropped())
    }

    /// Emits everything known before a time, as nothing older will come any more according to the
    /// caller. The trace's time does not advance by itself while a server is idle.
    #[inline]
    pub fn advance(&mut self, until: i64) {
        if let Some(events) = &mut self.events {
            events.advance(until, &mut self.inodes, &self.servers);
        }
    }

    /// Records the birth of a file, if it is to be emitted.
    pub(super) fn file_born(&mut self, slot: Slot) {
        let inode = self.inodes.get(slot);
        if let Some(origin) = &inode.life.origin {
            self.directories.used(inode.server, &origin.dir);
        }
        let record = |events: &mut Box<Events>| events.file_born(self.inodes.get(slot));
        if let Some(number) = self.events.as_mut().and_then(record) {
            if let Some(birth) = &mut self.inodes.get_mut(slot).life.birth {
                birth.number = number;
            }
            self.inodes.watch(slot, number);
        }
    }

    /// Records the birth of a name, if it is to be emitted.
    pub(super) fn name_born(&mut self, slot: Slot, index: usize) {
        let inode = self.inodes.get_mut(slot);
        let record = |events: &mut Box<Events>| events.name_born(inode, &inode.names[index]);
        let number = self.events.as_mut().and_then(record);
        if let Some((birth, number)) = inode.names[index].birth.as_mut().zip(number) {
            birth.number = number;
        }
    }

    /// Retracts a birth.
    pub(super) fn unborn(&mut self, subject: Subject, birth: Option<Birth>) {
        if let Some(events) = &mut self.events {
            events.unborn(self.gaps.now(), subject, birth);
        }
    }
}
