//! Files read one after the other, in the order of their first records; the last may still grow.
//! They are a folder in which a monitor begins a new file every so often, or one file.
//!
//! The folder is looked at again and again, rather than watched with inotify: a look is due only
//! where a file has been read to its end, it takes microseconds, and file systems that other
//! hosts write to tell nobody of changes.

use super::head::Head;
use super::{Next, Place, Source};
use crate::input::Input;
use birthmark_source::{decompress, Compression};
use hashbrown::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often a folder, and the end of its last file, is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A file is known again by so many bytes from its first record on: the record's time is in them.
const KNOWN_BY: u64 = 64;

/// Files, one after the other.
pub struct Folder {
    listing: Arc<Mutex<Listing>>,
    from: Option<Place>,
    idle: Idle,
}

/// How long nothing has come, and how long that may last.
#[derive(Clone, Copy)]
struct Idle {
    most: Option<Duration>,
    since: Option<Instant>,
}

impl Idle {
    fn ended(&mut self) -> bool {
        let since = *self.since.get_or_insert_with(Instant::now);
        self.most.is_some_and(|most| since.elapsed() >= most)
    }
}

/// What is known of the files.
struct Listing {
    folder: PathBuf,
    /// The one file that is meant, if it is not all of them.
    only: Option<PathBuf>,
    heads: HashMap<PathBuf, (Seen, Option<Head>)>,
    /// The time of the first record of the file that is read, or was last.
    current: i64,
    missed: u64,
    /// Whether it was never looked at.
    is_new: bool,
    earlier: Vec<PathBuf>,
}

/// What changes when a file is written to, or another takes its name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Seen {
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Seen {
    fn of(about: &Metadata) -> Seen {
        let changed = (about.mtime(), about.mtime_nsec());
        Seen { inode: about.ino(), size: about.len(), changed }
    }
}

impl Folder {
    /// Opens a folder, or a file that grows, to be read from a place on.
    pub fn open(
        path: &Path,
        from: Option<Place>,
        until_idle: Option<Duration>,
    ) -> io::Result<Folder> {
        let is_folder = fs::metadata(path)?.is_dir();
        let above = path.parent().filter(|above| *above != Path::new(""));
        let listing = Listing {
            folder: if is_folder { path } else { above.unwrap_or(Path::new(".")) }.to_owned(),
            only: (!is_folder).then(|| path.to_owned()),
            heads: HashMap::new(),
            current: from.as_ref().map_or(i64::MIN, |place| place.began.saturating_sub(1)),
            missed: 0,
            is_new: true,
            earlier: Vec::new(),
        };
        let listing = Arc::new(Mutex::new(listing));
        Ok(Folder { listing, from, idle: Idle { most: until_idle, since: None } })
    }
}

impl Source for Folder {
    fn next(&mut self) -> io::Result<Next> {
        let found = held(&self.listing).next()?;
        let Some((path, head)) = found else {
            if self.idle.ended() {
                return Ok(Next::End);
            }
            thread::sleep(LOOK);
            return Ok(Next::Nothing);
        };
        self.idle.since = None;
        held(&self.listing).current = head.began;
        let from = self.from.take().filter(|place| place.began == head.began);
        let offset = from.map_or(0, |place| place.offset.max(head.length));
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Next::Nothing),
            Err(error) => return Err(error),
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = Place { file: name, began: head.began, offset };
        let listing = self.listing.clone();
        let tail = Tail { file, first: Vec::new(), listing, read: 0, idle: self.idle };
        Ok(Next::Input(tail.input(head, offset)?, place))
    }

    fn take_missed(&mut self) -> u64 {
        std::mem::take(&mut held(&self.listing).missed)
    }

    fn take_earlier(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut held(&self.listing).earlier)
    }
}

fn held(listing: &Mutex<Listing>) -> MutexGuard<'_, Listing> {
    listing.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Listing {
    /// The file that begins next after the current one, if there is any yet.
    fn next(&mut self) -> io::Result<Option<(PathBuf, Head)>> {
        let before = std::mem::take(&mut self.heads);
        let mut next: Option<(PathBuf, Head)> = None;
        for path in self.files()? {
            let Ok(about) = fs::metadata(&path) else {
                continue; // it has just been removed
            };
            if !about.is_file() {
                continue;
            }
            let seen = Seen::of(&about);
            let known = before.get(&path).filter(|(known, _)| known.inode == seen.inode);
            let head = match known {
                Some((known, head)) if *known == seen => *head,
                _ => Head::read(&path).unwrap_or_default(),
            };
            let was_known = self.is_new || known.is_some_and(|(_, head)| head.is_some());
            if !was_known && head.is_some_and(|head| head.began < self.current) {
                self.earlier.push(path.clone());
            }
            if let Some(head) = head.filter(|head| head.began > self.current) {
                if next.as_ref().is_none_or(|(_, first)| head.began < first.began) {
                    next = Some((path.clone(), head));
                }
            }
            self.heads.insert(path, (seen, head));
        }
        self.is_new = false;
        Ok(next)
    }

    fn files(&self) -> io::Result<Vec<PathBuf>> {
        if let Some(file) = &self.only {
            return Ok(vec![file.clone()]);
        }
        let entries = fs::read_dir(&self.folder)?.filter_map(Result::ok);
        let shown = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
        Ok(shown.map(|entry| entry.path()).collect())
    }
}

/// A file that may still grow.
struct Tail {
    file: File,
    /// How it begins: otherwise, once it was written over.
    first: Vec<u8>,
    listing: Arc<Mutex<Listing>>,
    read: u64,
    idle: Idle,
}

impl Tail {
    /// The file's bytes, decompressed: those before its first record, then those from `offset` on.
    fn input(mut self, head: Head, offset: u64) -> io::Result<Input> {
        let mut first = [0; 6];
        let read = self.file.read(&mut first)?;
        self.file.rewind()?;
        if Compression::of(&first[..read]) == Compression::None {
            let mut before = vec![0; head.length as usize];
            self.file.read_exact(&mut before)?;
            self.first = before.clone();
            self.file.by_ref().take(KNOWN_BY).read_to_end(&mut self.first)?;
            self.read = self.file.seek(SeekFrom::Start(offset.max(head.length)))?;
            return Ok(live(Input::resume(Box::new(self), before, offset)));
        }
        let (_, mut reader) = decompress(Box::new(self.file))?;
        let mut before = Vec::new();
        reader.by_ref().take(head.length).read_to_end(&mut before)?;
        let passed = offset.saturating_sub(head.length);
        io::copy(&mut reader.by_ref().take(passed), &mut io::sink())?;
        Ok(live(Input::resume(reader, before, offset)))
    }

    /// Whether it is no longer written: there is a next one, or nothing has come for too long.
    fn ended(&mut self) -> io::Result<bool> {
        Ok(held(&self.listing).next()?.is_some() || self.idle.ended())
    }

    /// Whether other bytes than before stand where those were that were read.
    fn written_over(&self) -> io::Result<bool> {
        let mut first = vec![0; self.first.len()];
        match self.file.read_exact_at(&mut first, 0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(true),
            Err(error) => Err(error),
            Ok(()) => Ok(first != self.first || self.file.metadata()?.len() < self.read),
        }
    }
}

fn live(mut input: Input) -> Input {
    input.live = true;
    input
}

impl Read for Tail {
    /// Gives what is there; at the end of a file that may grow, after [`LOOK`], `WouldBlock`.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.written_over()? {
            held(&self.listing).missed += 1;
            return Ok(0);
        }
        let mut n = self.file.read(out)?;
        if n == 0 {
            let ended = self.ended()?;
            n = self.file.read(out)?; // what was written before the next one was begun
            if n == 0 && !ended {
                thread::sleep(LOOK);
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
        if n > 0 {
            self.idle.since = None;
        }
        self.read += n as u64;
        Ok(n)
    }
}
