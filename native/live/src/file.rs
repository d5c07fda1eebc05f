//! A shared history as a file: in a directory of the runtime, best on tmpfs.
//!
//! **One writer.** Who writes holds a lock on `PATH.lock` (`flock`), which the system lets go of
//! when the process ends, however it ends. A new writer begins a new file beside the old one, fills
//! it, renames it over the old one, and then marks the old one superseded: readers that have it open
//! see that at their next look, and open the new one.
//!
//! **No reader is ended by a file** (`SIGBUS`, what touching a page behind a file's end brings).
//! A file never gets shorter: its writer makes it as long as it will be before readers can find it,
//! never shortens it, and replaces it by renaming. All its pages are set aside at once
//! (`fallocate`), so that a full file system refuses the writer, and nobody later. A reader opens a
//! file only if nobody but its owner could shorten it: file and directory must be the writer's or
//! root's, and writable for no other. (Sealing, `memfd_create`, would hold off the writer's own
//! account, too; but such a file has no name that readers find it by, and that account is trusted
//! with what is in it anyway.) Whoever reads needs only to read: file and mapping are opened so.

use super::freshness::{Limits, WhyNot};
use super::header::{Clocks, HeaderError, Layout, Report, SUPERSEDED};
use super::mapping::{Mapping, WritableMapping};
use super::reader::{Reader, View};
use super::words::Words;
use super::writer::Writer;
use birthmark_learn::history::hash;
use rustix::fd::OwnedFd;
use rustix::fs::{self, FallocateFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::time::{clock_gettime, ClockId, Timespec};
use std::io;
use std::path::{Path, PathBuf};

const WORD: usize = size_of::<u64>();
/// How long readers wait between attempts to open another file, microseconds.
const AGAIN: i64 = 100_000;

/// Why a file could not be made.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CreateError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("another follower writes it")]
    Locked,
    #[error("others than the owner may write the directory")]
    Shared,
    #[error("room for {keys} keys and {aliases} aliases is more than there can be")]
    Room { keys: usize, aliases: usize },
}

/// Why a file could not be opened.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum OpenError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Untrusted(&'static str),
    #[error(transparent)]
    Header(#[from] HeaderError),
}

impl OpenError {
    fn why_not(&self) -> WhyNot {
        match self {
            OpenError::Header(HeaderError::Version(_)) => WhyNot::OtherVersion,
            OpenError::Header(HeaderError::Boot) => WhyNot::Stale,
            OpenError::Header(_) => WhyNot::Damaged,
            OpenError::Io(_) | OpenError::Untrusted(_) => WhyNot::Absent,
        }
    }
}

/// What the system refuses, as the standard library says it.
fn io<T>(done: rustix::io::Result<T>) -> io::Result<T> {
    done.map_err(io::Error::from)
}

impl Clocks {
    /// What they show.
    pub fn now() -> Clocks {
        Clocks { wall: micros(clock_gettime(ClockId::Realtime)), monotonic: monotonic() }
    }
}

/// What the clock shows that nobody sets.
fn monotonic() -> i64 {
    micros(clock_gettime(ClockId::Monotonic))
}

fn micros(time: Timespec) -> i64 {
    time.tv_sec.saturating_mul(1_000_000).saturating_add(time.tv_nsec / 1_000)
}

/// A number of this start of the machine; 0 where the system tells none.
fn boot() -> u64 {
    std::fs::read("/proc/sys/kernel/random/boot_id").map_or(0, |id| hash(&id))
}

/// The file of the one writer.
pub struct Publisher {
    writer: Writer<WritableMapping>,
    path: PathBuf,
    published: bool,
    _lock: OwnedFd,
}

impl Publisher {
    /// Makes a file with room for so many keys and aliases, which readers do not find before
    /// [`Publisher::publish`]. `follower` is the version of who writes, in at most 64 bytes.
    pub fn create(
        path: &Path,
        keys: usize,
        aliases: usize,
        follower: &str,
    ) -> Result<Publisher, CreateError> {
        let layout = Layout::with_room(keys, aliases);
        let layout = layout.ok_or(CreateError::Room { keys, aliases })?;
        let length = layout.words().checked_mul(WORD).and_then(|length| u64::try_from(length).ok());
        let length = length.ok_or(CreateError::Room { keys, aliases })?;
        if others_write(&io(fs::stat(folder_of(path)))?) {
            return Err(CreateError::Shared);
        }
        let lock = lock(path)?;
        let draft = with_suffix(path, ".new");
        match fs::unlink(&draft) {
            Err(error) if error != Errno::NOENT => return Err(io::Error::from(error).into()),
            _ => {}
        }
        let words = map_new(&draft, layout.words(), length).inspect_err(|_| {
            // its pages are not to stay set aside; what removes it next time is above
            let _ = fs::unlink(&draft);
        })?;
        let generation = Clocks::now().wall as u64;
        let writer = Writer::new(words, layout, boot(), generation, follower);
        Ok(Publisher { writer, path: path.into(), published: false, _lock: lock })
    }

    /// What writes into it.
    pub fn writer(&mut self) -> &mut Writer<WritableMapping> {
        &mut self.writer
    }

    /// Stores all that was put since the last time, as one update.
    pub fn commit(&mut self, report: Report) {
        self.writer.commit(report, Clocks::now());
    }

    /// Lets readers find it, in the place of an earlier one, as soon as something was committed.
    pub fn publish(&mut self) -> io::Result<()> {
        if self.published {
            return Ok(());
        }
        let old = fs::open(&self.path, OFlags::WRONLY | FLAGS, Mode::empty());
        io(fs::rename(with_suffix(&self.path, ".new"), &self.path))?;
        self.published = true;
        old.map_or(Ok(()), |old| io(supersede(&old)))
    }
}

const FLAGS: OFlags = OFlags::NOFOLLOW.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);

/// Takes the lock, which is held until the file is closed.
fn lock(path: &Path) -> Result<OwnedFd, CreateError> {
    let flags = OFlags::RDWR | OFlags::CREATE | FLAGS;
    let lock = io(fs::open(with_suffix(path, ".lock"), flags, Mode::from_raw_mode(0o600)))?;
    match fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(CreateError::Locked),
        locked => Ok(io(locked).map(|()| lock)?),
    }
}

/// Makes a file with all its pages, all 0.
fn map_new(draft: &Path, words: usize, length: u64) -> io::Result<WritableMapping> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = io(fs::open(draft, flags, Mode::from_raw_mode(0o644)))?;
    io(fs::fallocate(&file, FallocateFlags::empty(), 0, length))?;
    io(WritableMapping::new(&file, words))
}

/// Tells readers of an earlier file that there is another. It may be damaged, and is not made longer.
fn supersede(old: &OwnedFd) -> Result<(), Errno> {
    let offset = (SUPERSEDED * WORD) as u64;
    if fs::fstat(old)?.st_size as u64 >= offset + WORD as u64 {
        rustix::io::pwrite(old, &1_u64.to_ne_bytes(), offset)?;
    }
    Ok(())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Opens a file to read, if it is one that ends nobody.
pub fn open(path: &Path) -> Result<Reader<Mapping>, OpenError> {
    let file = io(fs::open(path, OFlags::RDONLY | FLAGS, Mode::empty()))?;
    let stat = io(fs::fstat(&file))?;
    let folder = io(fs::stat(folder_of(path)))?;
    trust(&stat, &folder).map_err(OpenError::Untrusted)?;
    let words = io(Mapping::new(&file, stat.st_size as usize / WORD))?;
    Ok(Reader::new(words, boot())?)
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn others_write(stat: &Stat) -> bool {
    Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH)
}

/// Whether nobody but a file's owner, who is its directory's or root, can make it shorter, and all
/// of it is there.
fn trust(file: &Stat, folder: &Stat) -> Result<(), &'static str> {
    if FileType::from_raw_mode(file.st_mode) != FileType::RegularFile {
        return Err("it is no regular file");
    }
    if file.st_uid != folder.st_uid && file.st_uid != 0 {
        return Err("its owner is not its directory's, nor root");
    }
    if others_write(file) || others_write(folder) {
        return Err("others than the owner may write it or its directory");
    }
    if file.st_size <= 0 || file.st_blocks.saturating_mul(512) < file.st_size {
        return Err("it is empty, or has holes");
    }
    Ok(())
}

/// A shared history, read by what is at a path: another file whenever there is one.
pub struct SharedHistory {
    path: PathBuf,
    limits: Limits,
    reader: Result<Reader<Mapping>, WhyNot>,
    opened: i64,
}

impl SharedHistory {
    /// That of a path, where there may be none yet.
    pub fn new(path: &Path, limits: Limits) -> SharedHistory {
        let mut history =
            SharedHistory { path: path.into(), limits, reader: Err(WhyNot::Absent), opened: 0 };
        history.open(monotonic());
        history
    }

    /// How old, late and lossy what it tells may be.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The file that is open.
    pub fn reader(&self) -> Result<&Reader<Mapping>, WhyNot> {
        self.reader.as_ref().map_err(|why| *why)
    }

    /// What `look` makes of a state that may be told from (see [`Reader::look`]).
    pub fn look<T>(&mut self, mut look: impl FnMut(&View<'_, Mapping>) -> T) -> Result<T, WhyNot> {
        let now = monotonic();
        if self.reader.as_ref().is_ok_and(Reader::is_superseded) {
            self.open(now);
        }
        let first = self.try_look(&mut look, now);
        if first.is_err() && now.saturating_sub(self.opened) >= AGAIN {
            self.open(now);
            return self.try_look(&mut look, now);
        }
        first
    }

    fn try_look<T>(
        &self,
        mut look: impl FnMut(&View<'_, Mapping>) -> T,
        now: i64,
    ) -> Result<T, WhyNot> {
        let reader = self.reader()?;
        let looked = reader.look(|view| {
            self.limits.check(&view.facts(), now)?;
            Ok(look(view))
        });
        reader.instead_of_busy(looked.and_then(|seen| seen), &self.limits, now)
    }

    fn open(&mut self, now: i64) {
        self.opened = now;
        self.reader = match open(&self.path) {
            // No file at the path is: it was put there by something else than a follower.
            Ok(reader) if reader.is_superseded() => Err(WhyNot::Absent),
            opened => opened.map_err(|error| error.why_not()),
        };
    }
}

impl<W: Words> Reader<W> {
    /// Which of the files that came one after the other this is.
    pub fn generation(&self) -> u64 {
        super::header::generation(self.words())
    }

    /// The version of the follower that writes it.
    pub fn follower(&self) -> String {
        super::header::follower(self.words())
    }
}
