//! Keeps the image and the settings in the device, also after it was away.

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
use birthmark_hook::wire::{Config, Region, State, VERSION};

/// Explanation of a policy that the device refuses.
const ALONE: &str = "--policy: expected name or dir with write, which alone takes files away from \
    their directories and makes a file system slower";

/// Position of the current image.
#[derive(Debug, PartialEq, Eq)]
pub enum Held {
    /// In the device.
    There,
    /// Only here: the device refused it, with this status.
    Refused(u32),
}

/// Keeps a device's image and settings.
pub struct Keeper<'a> {
    place: &'a Place,
    config: Option<Config>,
    counters: &'a Counters,
    /// The checksum of the last image in the device.
    had: Option<u32>,
    /// A refused image and the device's state then; retried only after one of them changes.
    refused: Option<(u32, u32, u32)>,
    /// First fragment and end of the region whose use was logged last.
    region: (u64, u64),
}

impl<'a> Keeper<'a> {
    /// Keeps the device at `place` supplied and, with a `config`, configured.
    pub fn new(place: &'a Place, config: Option<Config>, counters: &'a Counters) -> Self {
        Keeper { place, config, counters, had: None, refused: None, region: (0, 0) }
    }

    /// Looks after the device forever: every `pause`, and on a new image.
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

    /// Loads and configures whatever the device lacks.
    pub async fn look_after(&mut self, image: Option<&Image>) -> Result<Held, DeviceError> {
        let mut device = self.place.open().await?;
        let state = device.state().await?;
        self.log_region(&state.region);
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

    /// Logs the use of a new region when it takes effect.
    fn log_region(&mut self, region: &Region) {
        let found = (region.fragment_low, region.fragment_high);
        if found != std::mem::replace(&mut self.region, found) && region.mode != 0 {
            line(in_use(region));
        }
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
            // The device drops the old image's decisions on its own, but not the old service's
            // answers.
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

/// Use of a region, with advice if it is mostly full.
fn in_use(region: &Region) -> String {
    let fragments = region.fragment_high.saturating_sub(region.fragment_low);
    let inodes = u64::from(region.inode_high.saturating_sub(region.inode_low));
    let (data, files) = (region.fragments_used, region.inodes_used);
    let full = match 2 * data > fragments || 2 * files > inodes {
        true => ": `birthmark layout region` suggests one that is free",
        false => "",
    };
    format!("region: {data} of {fragments} fragments and {files} of {inodes} inodes in use{full}")
}

fn same(wanted: &Config, found: &Config) -> bool {
    let region =
        |c: &Config| (c.region_mode, c.region_start, c.region_length, c.region_inodes, c.fsid);
    let seen = |c: &Config| (c.mode, c.policy, region(c));
    // 0 selects the device's default, which it reports in its place.
    let blocks = [0, found.hot_blocks].contains(&wanted.hot_blocks);
    seen(wanted) == seen(found) && blocks
}

/// The configuration from `settings`, if any.
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

#[cfg(test)]
mod tests {
    use super::{in_use, Region};

    #[test]
    fn a_region_that_is_mostly_in_use_is_logged_with_what_to_do() {
        let region = |fragments_used, inodes_used| Region {
            mode: 2,
            cg: 0,
            inode_low: 3,
            inode_high: 16384,
            fragment_low: 5056,
            fragment_high: 6080,
            inodes_used,
            fragments_used,
        };
        let free = "region: 0 of 1024 fragments and 2 of 16381 inodes in use";
        assert_eq!(in_use(&region(0, 2)), free);
        let hint = "in use: `birthmark layout region` suggests one that is free";
        assert!(in_use(&region(1002, 2)).ends_with(hint));
        assert!(in_use(&region(0, 16000)).ends_with(hint));
    }
}
