//! Sees to it that the device has the image, and its settings, also after it was away.

use std::io::{self, ErrorKind::InvalidInput};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::counters::Counters;
use crate::device::{Device, DeviceError, Place};
use crate::image::{text, Image};
use crate::log::{line, Trouble};
use crate::settings::DeviceSettings;
use birthmark_contract::hints::HOT_WRITE;
use birthmark_hook::wire::{Config, State, VERSION};

/// What is said of a policy that the device refuses.
const ALONE: &str = "--policy: expected name or dir with write, which alone takes files away from \
    their directories and makes a file system slower";

/// Where an image is that should be in the device.
#[derive(Debug, PartialEq, Eq)]
pub enum Held {
    /// There.
    There,
    /// Here alone: the device looked at it and refused it, with this status.
    Refused(u32),
}

/// Who keeps it.
pub struct Keeper<'a> {
    place: &'a Place,
    config: Option<Config>,
    counters: &'a Counters,
    /// The checksum that the device had last.
    had: Option<u32>,
    /// What it refused, and when: it is not asked again before either is another.
    refused: Option<(u32, u32, u32)>,
}

impl<'a> Keeper<'a> {
    /// Keeps the device at `place` informed and, if `config` says how, set.
    pub fn new(place: &'a Place, config: Option<Config>, counters: &'a Counters) -> Self {
        Keeper { place, config, counters, had: None, refused: None }
    }

    /// Looks after the device for ever: `pause` after each time, and when there is an image.
    pub async fn keep(&mut self, pause: Duration, mut images: watch::Receiver<Option<Rc<Image>>>) {
        let trouble = Trouble::new(format_args!("the device {}", self.place.path.display()));
        loop {
            let image = images.borrow_and_update().clone();
            match self.look_after(image.as_deref()).await {
                Ok(_) => trouble.is_over(),
                Err(error) => {
                    self.counters.device_failures.add();
                    trouble.is(error);
                }
            }
            // Either is a reason to look again; the sender lives as long as this.
            let _ = timeout(pause, images.changed()).await;
        }
    }

    /// Gives the device what it lacks of the image and the settings.
    pub async fn look_after(&mut self, image: Option<&Image>) -> Result<Held, DeviceError> {
        let mut device = self.place.open().await?;
        let state = device.state().await?;
        let held = match image {
            Some(image) => self.give(&mut device, &state, image).await?,
            None => Held::There,
        };
        if let Some(config) = self.config.as_ref().filter(|wanted| !same(wanted, &state.config)) {
            device.configure(config.clone()).await?;
            line(format_args!("device set: mode {}, policy {}", config.mode, config.policy));
        }
        Ok(held)
    }

    async fn give(
        &mut self,
        device: &mut Device,
        state: &State,
        image: &Image,
    ) -> Result<Held, DeviceError> {
        let (size, checksum) = (image.size(), image.checksum());
        if (state.image_size, state.image_checksum) == (size, checksum) {
            self.had = Some(checksum);
            return Ok(Held::There);
        }
        if let Some((.., status)) =
            self.refused.filter(|(of, when, _)| (*of, *when) == (checksum, state.generation))
        {
            return Ok(Held::Refused(status));
        }
        if self.had == Some(checksum) {
            line("device is without the image that it had");
            self.counters.device_returns.add();
        }
        self.had = None;
        let (status, mut generation) = device.load(image).await?;
        if status != 0 {
            // It forgets with a new image what the old one decided, and what the service did then.
            generation = device.flush().await?.generation;
        }
        Ok(self.loaded(image, status, generation))
    }

    fn loaded(&mut self, image: &Image, status: u32, generation: u32) -> Held {
        if status != 0 {
            self.counters.loads_refused.add();
            self.refused = Some((image.checksum(), generation, status));
            line(format_args!("device refused the image and keeps what it had: {}", text(status)));
            return Held::Refused(status);
        }
        self.counters.loads.add();
        self.had = Some(image.checksum());
        line(format_args!("image {:08x} loaded: generation {generation}", image.checksum()));
        Held::There
    }
}

fn same(wanted: &Config, found: &Config) -> bool {
    let region =
        |c: &Config| (c.region_mode, c.region_start, c.region_length, c.region_inodes, c.fsid);
    let seen = |c: &Config| (c.mode, c.policy, region(c));
    // None wanted is the device's default, which it tells in its place.
    let blocks = [0, found.hot_blocks].contains(&wanted.hot_blocks);
    seen(wanted) == seen(found) && blocks
}

/// What `settings` set the device to, if anything.
pub fn config(settings: &DeviceSettings) -> io::Result<Option<Config>> {
    let Some(mode) = settings.mode else { return Ok(None) };
    let policy = settings.policy.iter().fold(0, |mask, hint| mask | *hint as u32);
    if policy == u32::from(HOT_WRITE) {
        return Err(io::Error::new(InvalidInput, ALONE));
    }
    Ok(Some(Config {
        version: VERSION,
        mode: mode as u32,
        policy,
        region_mode: if settings.region_length > 0 { settings.region_mode as u32 } else { 0 },
        region_start: settings.region_start,
        region_length: settings.region_length,
        fsid: settings.mount.as_ref().map_or(Ok([0; 2]), |path| file_system(path))?,
        hot_blocks: settings.hot_blocks.unwrap_or(0),
        region_inodes: settings.region_inodes,
    }))
}

/// The number of the file system that holds `path`, as the module knows it.
fn file_system(path: &Path) -> io::Result<[i32; 2]> {
    crate::fsid::of(path).map_err(|error| io::Error::other(format!("{}: {error}", path.display())))
}
