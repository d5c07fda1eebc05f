//! Receives creates from the kernel, predicts the files' lives, and hints them.

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

/// Bytes of a read: some hundred events, so that the first does not wait long for the last.
const AT_ONCE: usize = 8 * 1024;

/// Time between polls for events, and number of polls before waiting.
const PAUSE: Duration = Duration::from_micros(500);
const PAUSES: usize = 100;

/// A source of creates.
pub struct Watch(AsyncFd<OwnedFd>);

impl Watch {
    /// A source from fanotify.
    ///
    /// The deprecation concerns types without a file descriptor; ours owns one.
    #[allow(deprecated)]
    pub fn of(watch: OwnedFd) -> io::Result<Watch> {
        AsyncFd::with_interest(watch, Interest::READABLE).map(Watch)
    }

    /// Waits for events, and reads some.
    ///
    /// Waking a blocked reader costs the creating process more than all other work for a create. So
    /// poll every `PAUSE` while creates keep coming.
    async fn read<'b>(&self, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
        let mut read =
            |watch: &OwnedFd| rustix::io::read(watch, &mut *buffer).map_err(io::Error::from);
        for _ in 0..PAUSES {
            // Let other tasks of this thread run.
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

/// Hints files.
pub struct Hinter<'a> {
    /// The source of creates.
    pub watch: &'a Watch,
    /// Looks files up.
    pub births: &'a Births<'a>,
    /// Whether hints are on.
    pub hints: &'a Cell<bool>,
    /// The counters.
    pub counters: &'a Counters,
}

impl Hinter<'_> {
    /// Hints forever by an image, one file after the other.
    pub async fn by_image(&self, image: &ImageFile) -> io::Result<()> {
        let mut buffer = [0; AT_ONCE];
        loop {
            for file in self.files(self.watch.read(&mut buffer).await?) {
                self.hint(&file, image.class(&file));
            }
        }
    }

    /// Hints forever by the service, with one request for all files of a read.
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

    /// The files of a read that wait for a hint.
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
