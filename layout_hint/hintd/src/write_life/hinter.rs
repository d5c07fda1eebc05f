//! Takes creates as the kernel tells of them, asks what becomes of the files, and hints them.

use std::cell::Cell;
use std::io;
use std::thread::sleep;
use std::time::Duration;

use rustix::fd::OwnedFd;
use tokio::io::unix::AsyncFd;
use tokio::io::Interest;
use tokio::task::yield_now;

use super::births::{Births, File};
use super::class::Class;
use super::counters::Counters;
use super::events::{events, Event};
use super::image_file::ImageFile;
use super::service::Service;

/// Bytes of events that are read at once: some hundred, so that the first does not wait for long
/// until the last is looked up.
const AT_ONCE: usize = 8 * 1024;

/// How long it takes until events are looked for again, and how often until they are waited for.
const PAUSE: Duration = Duration::from_micros(500);
const PAUSES: usize = 100;

/// What tells of creates.
pub struct Watch(AsyncFd<OwnedFd>);

impl Watch {
    /// What fanotify tells.
    // What is unsound of this is so for what has no descriptor of its own.
    #[allow(deprecated)]
    pub fn of(watch: OwnedFd) -> io::Result<Watch> {
        AsyncFd::with_interest(watch, Interest::READABLE).map(Watch)
    }

    /// Waits until there are events, and reads some.
    ///
    /// Who creates wakes up who waits, which costs more than all else that tells of a create. So
    /// while files are created nobody waits to be woken up: they are looked for after each `PAUSE`.
    async fn read<'b>(&self, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
        let mut read =
            |watch: &OwnedFd| rustix::io::read(watch, &mut *buffer).map_err(io::Error::from);
        for _ in 0..PAUSES {
            // Others of this thread have their turn.
            yield_now().await;
            match read(self.0.get_ref()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(PAUSE),
                length => return Ok(buffer.get(..length?).unwrap_or_default()),
            }
        }
        let length = self.0.async_io(Interest::READABLE, read).await?;
        Ok(buffer.get(..length).unwrap_or_default())
    }
}

/// Who hints.
pub struct Hinter<'a> {
    /// What tells of creates.
    pub watch: &'a Watch,
    /// Who looks files up.
    pub births: &'a Births<'a>,
    /// Whether hints are on.
    pub hints: &'a Cell<bool>,
    /// What is counted.
    pub counters: &'a Counters,
}

impl Hinter<'_> {
    /// Hints for ever as an image says, each file before the next is looked at.
    pub async fn by_image(&self, image: &ImageFile) -> io::Result<()> {
        let mut buffer = [0; AT_ONCE];
        loop {
            for file in self.files(self.watch.read(&mut buffer).await?) {
                self.hint(&file, image.class(&file));
            }
        }
    }

    /// Hints for ever as the service says, which is asked about all files that were read at once.
    pub async fn by_service(&self, service: &mut Service<'_>) -> io::Result<()> {
        let mut buffer = [0; AT_ONCE];
        loop {
            let files: Vec<_> = self.files(self.watch.read(&mut buffer).await?).collect();
            if files.is_empty() {
                continue;
            }
            match service.classes(&files).await {
                Some(classes) => {
                    let both = files.iter().zip(classes);
                    both.for_each(|(file, class)| self.hint(file, class));
                }
                None => files.iter().for_each(|_| self.counters.unanswered.add()),
            }
        }
    }

    /// The files that wait for a hint, of what was read.
    fn files<'b>(&'b self, read: &'b [u8]) -> impl Iterator<Item = File<'b>> {
        let counters = self.counters;
        events(read).filter_map(move |event| {
            match event {
                Event::Birth(birth) => {
                    counters.births.add();
                    if self.hints.get() {
                        return self.births.look(birth);
                    }
                    counters.withheld.add();
                }
                Event::Overflow => counters.overflows.add(),
                Event::Unknown => counters.events_unknown.add(),
            }
            None
        })
    }

    fn hint(&self, file: &File, class: Option<Class>) {
        match class {
            Some(class) => self.births.hint(file, class),
            None => self.counters.unhinted.add(),
        }
    }
}
