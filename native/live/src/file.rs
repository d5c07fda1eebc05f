//! A shared history as a file: in a directory of the runtime, best on tmpfs.
//!
//! **One writer.** The writer holds a lock on `PATH.lock` (`flock`), which the system releases when
//! the process ends in any way. A new writer creates a new file beside the old one, fills it, renames
//! it over the old one, and marks the old one superseded. Readers see that mark at their next lookup,
//! and open the new file.
//!
//! **No file kills a reader** (accessing a page beyond a file's end raises `SIGBUS`). The writer
//! gives a file its final length before readers can find it, never shortens it, and replaces it by
//! renaming. It allocates all pages at once (`fallocate`), so that a full file system is an error at
//! creation only. A reader opens a file only if nobody but its owner can shorten it: file and
//! directory must belong to the writer or root, and be writable by no other. (Sealing,
//! `memfd_create`, would bind the writer's own account, too; but such a file has no name for
//! readers.) That account, or root, can still shorten it by mistake (`> history`). So reader and
//! writer check the file's length before each access: a shortened file is damaged to the reader, and
//! an error to the writer. Only shortening during an access, within microseconds, still kills the
//! process. Readers open file and mapping read-only.

use super::freshness::{Limits, StaleReason};
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
/// Interval of readers' attempts to open another file, microseconds.
const AGAIN: i64 = 100_000;

/// An error in creating a file.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CreateError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("another follower writes it")]
    Locked,
    #[error(
        "others than the owner may write the directory: expected one that they may not (chmod go-w)"
    )]
    Shared,
    #[error(
        "expected a regular file or a free name: not a link or a device, which it would replace"
    )]
    NotRegular,
    #[error("room for {keys} keys and {aliases} aliases is more than there can be")]
    Room { keys: usize, aliases: usize },
}

/// An error in opening a file.
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
    fn why_not(&self) -> StaleReason {
        match self {
            OpenError::Header(HeaderError::Version(_)) => StaleReason::OtherVersion,
            OpenError::Header(HeaderError::Boot) => StaleReason::Stale,
            OpenError::Header(_) => StaleReason::Damaged,
            OpenError::Io(_) | OpenError::Untrusted(_) => StaleReason::Absent,
        }
    }
}

/// A system error as one of the standard library.
fn io<T>(done: rustix::io::Result<T>) -> io::Result<T> {
    done.map_err(io::Error::from)
}

impl Clocks {
    /// The current time of both.
    pub fn now() -> Clocks {
        Clocks { wall: micros(clock_gettime(ClockId::Realtime)), monotonic: monotonic() }
    }
}

/// The time of the monotonic clock.
fn monotonic() -> i64 {
    micros(clock_gettime(ClockId::Monotonic))
}

fn micros(time: Timespec) -> i64 {
    time.tv_sec.saturating_mul(1_000_000).saturating_add(time.tv_nsec / 1_000)
}

/// A number of this boot of the machine; 0 if the system has none.
fn boot() -> u64 {
    std::fs::read("/proc/sys/kernel/random/boot_id").map_or(0, |id| hash(&id))
}

/// The file of the one writer.
pub struct Publisher {
    writer: Writer<WritableMapping>,
    file: SizedFile,
    path: PathBuf,
    published: bool,
    _lock: OwnedFd,
}

impl Publisher {
    /// Creates a file for at most `keys` keys and `aliases` aliases, invisible to readers until
    /// [`Publisher::publish`]. `follower` is the writer's version, at most 64 bytes.
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
        match fs::lstat(path) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile => {
                return Err(CreateError::NotRegular)
            }
            _ => {}
        }
        let lock = lock(path)?;
        let draft = with_suffix(path, ".new");
        match fs::unlink(&draft) {
            Err(error) if error != Errno::NOENT => return Err(io::Error::from(error).into()),
            _ => {}
        }
        let (words, file) = map_new(&draft, layout.words(), length).inspect_err(|_| {
            // release its pages; the next start removes the file, as above
            let _ = fs::unlink(&draft);
        })?;
        let generation = Clocks::now().wall as u64;
        let writer = Writer::new(words, layout, boot(), generation, follower);
        Ok(Publisher { writer, file, path: path.into(), published: false, _lock: lock })
    }

    /// Checks that the file was not shortened: writing into it would kill the process.
    ///
    /// # Errors
    ///
    /// If it was.
    pub fn check(&self) -> io::Result<()> {
        let short = || io::Error::new(io::ErrorKind::UnexpectedEof, "it has become shorter");
        self.file.is_whole().then_some(()).ok_or_else(short)
    }

    /// The writer of the file.
    pub fn writer(&mut self) -> &mut Writer<WritableMapping> {
        &mut self.writer
    }

    /// Stores all changes since the last commit as one update.
    pub fn commit(&mut self, report: Report) {
        self.writer.commit(report, Clocks::now());
    }

    /// Makes the file visible to readers in place of an earlier one, after the first commit.
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

/// Acquires the lock, which is held until the file is closed.
fn lock(path: &Path) -> Result<OwnedFd, CreateError> {
    let flags = OFlags::RDWR | OFlags::CREATE | FLAGS;
    let lock = io(fs::open(with_suffix(path, ".lock"), flags, Mode::from_raw_mode(0o600)))?;
    match fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(CreateError::Locked),
        locked => Ok(io(locked).map(|()| lock)?),
    }
}

/// Creates a file with all pages allocated, all 0.
fn map_new(draft: &Path, words: usize, length: u64) -> io::Result<(WritableMapping, SizedFile)> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = io(fs::open(draft, flags, Mode::from_raw_mode(0o644)))?;
    io(fs::fallocate(&file, FallocateFlags::empty(), 0, length))?;
    let mapping = io(WritableMapping::new(&file, words))?;
    Ok((mapping, SizedFile { file, length }))
}

/// A mapped file, and its length when it was mapped.
struct SizedFile {
    file: OwnedFd,
    length: u64,
}

impl SizedFile {
    fn is_whole(&self) -> bool {
        fs::fstat(&self.file).is_ok_and(|stat| stat.st_size as u64 >= self.length)
    }
}

/// Marks an earlier file as superseded. It may be damaged, and is not extended.
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

/// Opens a file for reading, if it is safe to map.
pub fn open(path: &Path) -> Result<Reader<Mapping>, OpenError> {
    open_sized(path).map(|(reader, _)| reader)
}

fn open_sized(path: &Path) -> Result<(Reader<Mapping>, SizedFile), OpenError> {
    let file = io(fs::open(path, OFlags::RDONLY | FLAGS, Mode::empty()))?;
    let stat = io(fs::fstat(&file))?;
    let folder = io(fs::stat(folder_of(path)))?;
    trust(&stat, &folder).map_err(OpenError::Untrusted)?;
    let words = io(Mapping::new(&file, stat.st_size as usize / WORD))?;
    let reader = Reader::new(words, boot())?;
    Ok((reader, SizedFile { file, length: stat.st_size as u64 }))
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn others_write(stat: &Stat) -> bool {
    Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH)
}

/// Whether only a file's owner, who is its directory's or root, can shorten it, and all its pages
/// are allocated.
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

/// A shared history, read from the current file at a path.
pub struct SharedHistory {
    path: PathBuf,
    limits: Limits,
    reader: Result<(Reader<Mapping>, SizedFile), StaleReason>,
    opened: i64,
}

impl SharedHistory {
    /// The history at a path, which need not exist yet.
    pub fn new(path: &Path, limits: Limits) -> SharedHistory {
        let mut history = SharedHistory {
            path: path.into(),
            limits,
            reader: Err(StaleReason::Absent),
            opened: 0,
        };
        history.open(monotonic());
        history
    }

    /// The limits on its age, lag and loss.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The reader of the open file.
    pub fn reader(&self) -> Result<&Reader<Mapping>, StaleReason> {
        self.reader.as_ref().map(|(reader, _)| reader).map_err(|why| *why)
    }

    /// The result of `look` on a consistent state that is fresh (see [`Reader::look`]).
    pub fn look<T>(
        &mut self,
        mut look: impl FnMut(&View<'_, Mapping>) -> T,
    ) -> Result<T, StaleReason> {
        let now = monotonic();
        if self.reader.as_ref().is_ok_and(|(_, file)| !file.is_whole()) {
            self.reader = Err(StaleReason::Damaged);
        }
        if self.reader().is_ok_and(Reader::is_superseded) {
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
    ) -> Result<T, StaleReason> {
        let reader = self.reader()?;
        let looked = reader.look(|view| {
            self.limits.check(&view.facts(), now)?;
            Ok(look(view))
        });
        reader.instead_of_busy(looked.and_then(|seen| seen), &self.limits, now)
    }

    fn open(&mut self, now: i64) {
        self.opened = now;
        self.reader = match open_sized(&self.path) {
            // Neither is the file at the path: a program other than a follower put it there.
            Ok((reader, _)) if reader.is_superseded() => Err(StaleReason::Absent),
            opened => opened.map_err(|error| error.why_not()),
        };
    }
}

impl<W: Words> Reader<W> {
    /// The number of the file in the sequence of files.
    pub fn generation(&self) -> u64 {
        super::header::generation(self.words())
    }

    /// The version of its follower.
    pub fn follower(&self) -> String {
        super::header::follower(self.words())
    }
}
