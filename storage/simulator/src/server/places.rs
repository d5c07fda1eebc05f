//! Placement of files on disks with an arm: in groups of cylinders, as in the fast file system
//! (McKusick, Joy, Leffler and Fabry, "A fast file system for UNIX", ACM Transactions on Computer
//! Systems 2(3), 1984), and hot files in a region (docs/layout.md).

use super::area::Area;
use super::call::{Call, Class};
use super::per_file::PerFile;
use super::work::mix;
use foldhash::fast::FixedState;
use std::collections::{HashMap, HashSet};

/// Bytes of a block of the file system, as in FreeBSD 4.8.
pub const FILE_BLOCK: u64 = 16 << 10;
/// Bytes of a group of such blocks.
pub const GROUP: u64 = 178 << 20;
/// One part in this many of a group is for inodes: 22,400 of 128 bytes.
const GROUP_INODES: u64 = 64;
/// One part in this many of a region is for inodes.
const REGION_INODES: u64 = 8;
/// The first blocks of a hot file lie in the region: 4 MB.
const HOT_BLOCKS: u64 = 256;
/// A group takes no more directories once its free space is below the mean by one part in this many
/// of a group.
const FULLER: u64 = 4;

/// A position: the area, and the block or inode in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot {
    area: usize,
    slot: u64,
}

/// Placement of files.
#[derive(Debug)]
pub struct Places {
    /// The groups, and behind them the region, if there is one.
    areas: Vec<Area>,
    groups: usize,
    /// The hints that are followed.
    follow: u8,
    /// The groups of files.
    homes: HashMap<u32, usize, FixedState>,
    hot: HashSet<u32, FixedState>,
    inodes: HashMap<u32, Spot, FixedState>,
    blocks: PerFile<Spot>,
}

impl Places {
    /// An empty volume, with a region of `region` bytes, if any, in the middle, where seeks are
    /// shortest.
    pub fn new(capacity: u64, region: u64, follow: u8) -> Self {
        let groups = (capacity / GROUP).max(1);
        let (size, middle) = (capacity / groups, groups / 2);
        let areas = (0..groups).map(|group| {
            let reserved = if group == middle { region } else { 0 };
            Area::new(group * size + reserved, size - reserved, GROUP_INODES)
        });
        let region = (region > 0).then(|| Area::new(middle * size, region, REGION_INODES));
        Self {
            areas: areas.chain(region).collect(),
            groups: groups as usize,
            follow,
            homes: HashMap::with_hasher(FixedState::default()),
            hot: HashSet::with_hasher(FixedState::default()),
            inodes: HashMap::with_hasher(FixedState::default()),
            blocks: PerFile::default(),
        }
    }

    /// The position of a byte's block of a file.
    pub fn block(&mut self, file: u32, offset: u64) -> u64 {
        let block = offset / FILE_BLOCK;
        let spot = self.blocks.get(file, block).unwrap_or_else(|| {
            let spot = self.new_block(file, block);
            self.blocks.insert(file, block, spot);
            spot
        });
        self.areas[spot.area].block(spot.slot)
    }

    /// The position of the block with a file's inode.
    pub fn inode(&mut self, file: u32) -> u64 {
        let spot = self.inodes.get(&file).copied().unwrap_or_else(|| {
            let spot = self.search(file, self.hot.contains(&file), |area| area.inodes.take());
            self.inodes.insert(file, spot);
            spot
        });
        self.areas[spot.area].inode(spot.slot)
    }

    /// Learn from a call: a file goes to its directory's group, or to the region if a hint says so.
    pub fn learn(&mut self, call: &Call) {
        let named = matches!(call.class, Class::Create | Class::Lookup) && call.target != 0;
        if !named || self.homes.contains_key(&call.target) {
            return;
        }
        let hot = call.class == Class::Create && call.hints & self.follow != 0;
        let home = match (hot && call.directory, call.directory) {
            (true, _) => self.groups / 2,
            (false, true) => self.directory(call.file, call.target),
            (false, false) => self.home(call.file),
        };
        self.homes.insert(call.target, home);
        if hot {
            self.hot.insert(call.target);
        }
    }

    /// Free the blocks that a call removes or cuts.
    pub fn forget(&mut self, call: &Call) {
        if let Some((file, end)) = call.cut() {
            for spot in self.blocks.take(file, end.div_ceil(FILE_BLOCK)) {
                self.areas[spot.area].blocks.give(spot.slot);
            }
        }
        if let Some(file) = call.removed() {
            if let Some(spot) = self.inodes.remove(&file) {
                self.areas[spot.area].inodes.give(spot.slot);
            }
            self.homes.remove(&file);
            self.hot.remove(&file);
        }
    }

    /// The group of a file: any, if its directory is unknown.
    fn home(&self, file: u32) -> usize {
        let anywhere = || (mix(u64::from(file)) % self.groups as u64) as usize;
        self.homes.get(&file).copied().unwrap_or_else(anywhere)
    }

    /// The group of a new directory: any, if its parent's is unknown, as for the root of an export;
    /// else its parent's, or a later one that is not much fuller than others.
    fn directory(&self, parent: u32, own: u32) -> usize {
        let Some(&near) = self.homes.get(&parent) else {
            return self.home(own);
        };
        let free = |group: usize| self.areas[group].blocks.free();
        let mean = (0..self.groups).map(free).sum::<u64>() / self.groups as u64;
        let least = mean.saturating_sub(GROUP / FILE_BLOCK / FULLER);
        let on = (near..near + self.groups).map(|group| group % self.groups);
        on.into_iter().find(|group| free(*group) >= least).unwrap_or(near)
    }

    /// Place a block behind the one before it, or else near the file's blocks.
    fn new_block(&mut self, file: u32, block: u64) -> Spot {
        let hot = block < HOT_BLOCKS && self.hot.contains(&file);
        let before = block.checked_sub(1).and_then(|before| self.blocks.get(file, before));
        if let Some(Spot { area, slot }) = before.filter(|own| hot || own.area < self.groups) {
            if self.areas[area].blocks.take_own(slot + 1) {
                return Spot { area, slot: slot + 1 };
            }
        }
        self.search(file, hot, |area| area.blocks.take())
    }

    /// Search the region, for a hot file, and the groups from the file's on.
    fn search(&mut self, file: u32, hot: bool, take: impl Fn(&mut Area) -> Option<u64>) -> Spot {
        let (home, groups) = (self.home(file), self.groups);
        let region = (hot && self.areas.len() > groups).then_some(groups);
        let all = region.into_iter().chain((home..home + groups).map(|group| group % groups));
        let mut found =
            all.filter_map(|area| take(&mut self.areas[area]).map(|slot| Spot { area, slot }));
        // all is full: the capture needs more space than there is, and shares it
        found.next().unwrap_or(Spot { area: home, slot: 0 })
    }
}

#[cfg(test)]
mod tests;
