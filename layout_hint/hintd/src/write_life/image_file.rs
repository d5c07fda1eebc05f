//! An image evaluated locally, with the live history if there is one.

use std::cell::RefCell;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::sleep;

use super::births::{since_epoch, File};
use super::class::{Bits, Class, Rule};
use super::counters::Counters;
use crate::log::{line, Trouble};
use birthmark_image::{hour, regular, Create, Image};
use birthmark_live::{Asked, Limits, Live, Place, Seen};

/// The service's defaults (`--history-age`, `--history-lag`, `--history-loss`).
const FRESH: Limits = Limits { age: 5_000_000, lag: 5_000_000, loss: 10_000 };

/// An image that is reloaded when its file is replaced.
pub struct ImageFile {
    path: PathBuf,
    read: RefCell<Read>,
    live: Option<Live>,
    system: Option<Vec<u8>>,
}

struct Read {
    image: Image,
    bits: Bits,
    /// The file's identity: device, inode, size, and time of modification.
    version: [i64; 4],
}

impl ImageFile {
    /// Reads an image, with the history at a path, for a file system that handles call `system`.
    pub fn open(
        path: PathBuf,
        history: Option<&Path>,
        system: Option<Vec<u8>>,
        rule: &Rule,
    ) -> io::Result<Self> {
        let read = RefCell::new(Read::of(&path, rule)?);
        let live = history.map(|path| Live::new(path, FRESH));
        Ok(ImageFile { path, read, live, system })
    }

    /// The class of a file.
    pub fn class(&self, file: &File) -> Option<Class> {
        let read = self.read.borrow();
        let time = since_epoch().as_micros() as i64;
        let values = [Some(file.mode), Some(file.uid), Some(file.gid), None];
        let mut create = Create {
            name: Some(file.birth.name),
            values,
            hour: Some(hour(time)),
            ..Create::default()
        };
        let mut seen = Seen::default();
        if let Some(live) = &self.live {
            let system = self.system.as_deref();
            let place = system.zip(file.directory());
            let asked = Asked {
                name: create.name,
                place: place.map_or(Place::Unknown, |(system, inode)| Place::Inode(system, inode)),
                mode: Some(file.mode),
                uid: Some(file.uid),
                time: Some(time),
                ..Asked::default()
            };
            if live.tell(&asked, &mut seen).is_ok() {
                create.history = Some(&seen.files);
                create.name_history = Some(&seen.names);
            }
        }
        read.bits.class(&read.image.lookup(&create))
    }

    /// Checks for another image forever, every `pause`; an unsound one never replaces it.
    pub async fn follow(&self, pause: Duration, rule: &Rule, counters: &Counters) {
        let trouble = Trouble::new(self.path.display());
        counters.images_read.add();
        loop {
            sleep(pause).await;
            let known = self.read.borrow().version;
            if version(&self.path).is_ok_and(|version| version == known) {
                continue;
            }
            match Read::of(&self.path, rule) {
                Ok(read) => {
                    self.read.replace(read);
                    trouble.is_over();
                    counters.images_read.add();
                    line(format_args!("{}: read again", self.path.display()));
                }
                Err(error) => {
                    counters.images_unsound.add();
                    trouble.is(error);
                }
            }
        }
    }
}

impl Read {
    fn of(path: &Path, rule: &Rule) -> io::Result<Read> {
        let named = |why: String| format!("{}: {why}", path.display());
        let unsound = |why: String| io::Error::new(io::ErrorKind::InvalidData, named(why));
        let read = || Ok((version(path)?, regular::read(path, regular::LONGEST)?));
        let (version, bytes) = read()
            .map_err(|error: io::Error| io::Error::new(error.kind(), named(error.to_string())))?;
        let image = Image::read(&bytes).map_err(|error| unsound(error.to_string()))?;
        let bits = Bits::of(rule, &image)
            .ok_or_else(|| unsound(format!("expected an image with any of {rule}")))?;
        Ok(Read { image, bits, version })
    }
}

fn version(path: &Path) -> io::Result<[i64; 4]> {
    let found = std::fs::metadata(path)?;
    let written = found.mtime().wrapping_mul(1_000_000_000).wrapping_add(found.mtime_nsec());
    Ok([found.dev() as i64, found.ino() as i64, found.size() as i64, written])
}
