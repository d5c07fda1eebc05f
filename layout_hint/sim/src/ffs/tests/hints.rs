//! Hints: placement in a region, and that nobody is worse off for space.

use super::{addresses, fresh, geometries, made, todays, Small};
use crate::ffs::recording::Lcg;
use crate::ffs::{Change, Detached, Error, Geometry, Kernel, Random, Region, RegionMode, ROOT};
use birthmark_hook::Outcome;

/// State of a run: files and directories, and removed ones that are not free.
struct Run {
    filesystem: Small,
    alive: Vec<(u32, bool)>,
    detached: Vec<Detached>,
    random: Lcg,
}

/// A random operation, which can be done to a file system and to its copy.
#[derive(Clone, Copy, Debug)]
enum Step {
    Mkdir(u32, bool),
    Create(u32, bool),
    Write(u32, u64, u64),
    Truncate(u32, u64),
    Reallocate(u32, u32, u32),
    DetachBlocks(u32, u64),
    Unlink(u32),
    Detach(u32),
    Release(usize),
}

impl Run {
    fn new(kernel: Kernel, geometry: Geometry, region: Option<Region>) -> Run {
        let mut filesystem = made(kernel, geometry);
        filesystem.volume.region = region;
        filesystem.log_changes();
        Run { filesystem, alive: vec![(ROOT, true)], detached: vec![], random: Lcg::default() }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.random.next_u32() as usize % bound
    }

    /// The next step. A file is hinted if `hint` accepts a random number.
    fn choose(&mut self, hint: fn(u32) -> bool) -> Step {
        if !self.detached.is_empty() && self.below(4) == 0 {
            return Step::Release(self.below(self.detached.len()));
        }
        let at = self.below(self.alive.len());
        let (inode, directory) = self.alive[at];
        let size = self.filesystem.file(inode).map_or(0, |file| file.size);
        let scale = self.below(4);
        let more = self.below([2000, 20_000, 200_000, 2_000_000][scale]) as u64;
        let hot = hint(self.random.next_u32());
        match (self.below(16), directory) {
            (0, true) => Step::Mkdir(inode, hot),
            (1, true) => Step::Write(inode, size, size + 512),
            (_, true) => Step::Create(inode, hot),
            (0..=7, false) => Step::Write(inode, size, size + more),
            (8..=9, false) if size > 0 => {
                let lbn = self.below((size / 4096 + 1) as usize) as u32;
                Step::Reallocate(inode, lbn, 2 + self.below(6) as u32)
            }
            (10, false) => Step::Write(inode, more, more + 3000),
            (11, false) => Step::Truncate(inode, more),
            (12, false) => Step::DetachBlocks(inode, more),
            (13, false) => Step::Detach(inode),
            (_, false) => Step::Unlink(inode),
        }
    }

    /// Does a step. Returns the new inode, if any.
    fn step(&mut self, step: Step) -> Result<Option<u32>, Error> {
        let filesystem = &mut self.filesystem;
        match step {
            Step::Mkdir(parent, hot) => {
                let made = filesystem.mkdir(parent, hot)?;
                self.alive.push((made, true));
                return Ok(Some(made));
            }
            Step::Create(parent, hot) => {
                let made = filesystem.create(parent, hot)?;
                self.alive.push((made, false));
                return Ok(Some(made));
            }
            Step::Write(inode, from, to) => filesystem.write(inode, from, to)?,
            Step::Truncate(inode, size) => filesystem.truncate(inode, size)?,
            Step::DetachBlocks(inode, size) => {
                self.detached.push(filesystem.detach_blocks(inode, size)?);
            }
            Step::Reallocate(inode, lbn, blocks) => {
                filesystem.reallocate(inode, lbn, blocks);
            }
            Step::Unlink(inode) => {
                filesystem.unlink(inode)?;
                self.alive.retain(|&(alive, _)| alive != inode);
            }
            Step::Detach(inode) => {
                self.detached.push(filesystem.detach(inode)?);
                self.alive.retain(|&(alive, _)| alive != inode);
            }
            Step::Release(at) => filesystem.release(self.detached.swap_remove(at)),
        }
        Ok(None)
    }
}

const MODES: [RegionMode; 3] = [RegionMode::Preferred, RegionMode::Data, RegionMode::Reserved];

/// Regions of a file system's first group, in all modes: one block, half of it, few inodes, data alone, all.
fn regions(geometry: &Geometry) -> Vec<Region> {
    let bytes = u64::from(geometry.fpg.min(geometry.size)) * u64::from(geometry.fsize);
    let data = u64::from(geometry.metadata(0).end) * u64::from(geometry.fsize);
    let (block, middle) = (u64::from(geometry.bsize), data + (bytes - data) / 2);
    let few = geometry.inode_table() + 8 * u64::from(geometry.inode_size());
    let ranges = [(middle, block), (0, middle), (0, few), (data, bytes - data), (0, bytes)];
    let all = ranges.iter().flat_map(|&range| MODES.map(|mode| (range, mode)));
    all.map(|((start, length), mode)| Region::of(geometry, start, length, 0, mode).unwrap())
        .collect()
}

/// The allocated fragments, as a file system has them.
fn allocated(filesystem: &Small) -> Vec<bool> {
    let geometry = &filesystem.volume.geometry;
    let free = |address: u32| {
        let (cg, at) = (geometry.group(address), address % geometry.fpg);
        let block = filesystem.volume.groups[cg as usize].block(at / geometry.frag());
        block >> (at % geometry.frag()) & 1 != 0
    };
    (0..geometry.size).map(|address| !free(address)).collect()
}

/// Applies a log of changes to a map of allocated fragments.
fn follow(allocated: &mut [bool], changes: &[Change], frag: u32) {
    for change in changes {
        let (address, n, value) = match *change {
            Change::Placed { address, fragments, .. } => (address, fragments, true),
            Change::Indirect { address, .. } => (address, frag, true),
            Change::Freed { address, fragments } => (address, fragments, false),
            _ => continue,
        };
        allocated[address as usize..(address + n) as usize].fill(value);
    }
}

/// Does random steps with hints in a region; after each the log must match the changes.
fn run_logged(kernel: Kernel, geometry: Geometry, region: Region, hint: fn(u32) -> bool) {
    let mut run = Run::new(kernel, geometry, Some(region));
    let mut map = allocated(&run.filesystem);
    for count in 0..160 {
        let before = run.filesystem.volume.groups.clone();
        let step = run.choose(hint);
        match run.step(step) {
            Ok(_) | Err(Error::NoSpace | Error::NoInodes) => {}
            Err(error) => panic!("{step:?}: {error}"),
        }
        if count % 20 == 19 {
            assert_eq!(run.filesystem.check(), Ok(()));
        }
        let changes: Vec<_> = run.filesystem.take_changes().collect();
        follow(&mut map, &changes, geometry.frag());
        let groups = before.iter().zip(&run.filesystem.volume.groups);
        for (cg, (before, after)) in (0..).zip(groups) {
            assert!(before == after || changes.contains(&Change::Group(cg)), "{step:?}");
        }
    }
    assert_eq!(map, allocated(&run.filesystem));
}

#[test]
fn with_any_hints_and_regions_all_stays_consistent_and_the_log_tells_all() {
    let hints: [fn(u32) -> bool; 3] = [|_| true, |random| random & 1 != 0, |_| false];
    for hint in hints {
        for geometry in geometries() {
            let regions = regions(&geometry).into_iter();
            regions.for_each(|region| run_logged(Kernel::FreeBsd48, geometry, region, hint));
        }
        for geometry in todays() {
            let regions = regions(&geometry).into_iter();
            regions.for_each(|region| run_logged(Kernel::FreeBsd14, geometry, region, hint));
        }
    }
}

#[test]
fn what_stock_would_do_is_never_refused_and_a_full_region_changes_nothing() {
    let mut full = 0;
    for geometry in geometries() {
        let mut refused = 0;
        for region in
            regions(&geometry).into_iter().filter(|region| region.mode != RegionMode::Preferred)
        {
            let mut run = Run::new(Kernel::FreeBsd48, geometry, Some(region));
            for _ in 0..900 {
                let step = run.choose(|random| random & 1 != 0);
                let mut stock = run.filesystem.clone();
                let mut cold = stock.clone();
                stock.volume.region = None;
                let done = run.step(step);
                let changes: Vec<_> = run.filesystem.take_changes().collect();
                if done.is_err() {
                    let other = match step {
                        Step::Mkdir(parent, _) => stock.mkdir(parent, false).map(drop),
                        Step::Create(parent, _) => stock.create(parent, false).map(drop),
                        Step::Write(inode, from, to) => stock.write(inode, from, to),
                        Step::Truncate(inode, size) | Step::DetachBlocks(inode, size) => {
                            stock.truncate(inode, size)
                        }
                        _ => Ok(()),
                    };
                    assert_eq!(other, done.map(drop), "{step:?}");
                    refused += 1;
                } else if changes.contains(&Change::Hint(Outcome::InodesFull)) {
                    let made = match step {
                        Step::Mkdir(parent, _) => cold.mkdir(parent, false),
                        Step::Create(parent, _) => cold.create(parent, false),
                        _ => panic!("{step:?} asked for no inode"),
                    };
                    assert_eq!(made.map(Some), done, "{step:?}");
                    assert!(!run.filesystem.file(made.unwrap()).unwrap().hot);
                    full += 1;
                }
            }
        }
        assert!(refused > 0, "{geometry:?}: never full");
    }
    assert!(full > 0, "no region was full");
}

#[test]
fn a_region_that_is_merely_preferred_changes_nothing_for_what_is_not_hot() {
    for geometry in geometries() {
        for region in
            regions(&geometry).into_iter().filter(|region| region.mode == RegionMode::Preferred)
        {
            let mut one = Run::new(Kernel::FreeBsd48, geometry, Some(region));
            let mut other = Run::new(Kernel::FreeBsd48, geometry, None);
            for _ in 0..600 {
                let step = one.choose(|_| false);
                assert_eq!(one.step(step), other.step(step));
            }
            other.filesystem.volume.region = one.filesystem.volume.region.clone();
            assert_eq!(one.filesystem.volume, other.filesystem.volume);
        }
    }
}

/// A partition with the groups and the region of the thesis, but fewer groups.
fn thesis(groups: u32) -> Small {
    let mut filesystem = fresh(Geometry::new(groups * 91136, 91136, 22400));
    let region =
        Region::of(&filesystem.volume.geometry, 0, 4 << 20, 0, RegionMode::Reserved).unwrap();
    filesystem.volume.region = Some(region);
    filesystem.log_changes();
    filesystem
}

#[test]
fn in_the_region_of_the_thesis_hot_things_lie_behind_each_other_and_others_elsewhere() {
    let mut filesystem = thesis(23);
    let directory = filesystem.mkdir(ROOT, true).unwrap();
    let file = filesystem.create(directory, true).unwrap();
    filesystem.extend(file, 2048).unwrap();
    assert_eq!((directory, file), (3, 4));
    // the root has the first fragment, and a block's rest is free behind it
    assert_eq!(
        (addresses(&filesystem, directory), addresses(&filesystem, file)),
        (vec![1426], vec![1427])
    );
    let hints: Vec<_> =
        filesystem.take_changes().filter(|c| matches!(c, Change::Hint(_))).collect();
    let (inode, block) = (Change::Hint(Outcome::InodePlaced), Change::Hint(Outcome::BlockPlaced));
    assert_eq!(hints, [inode, block, inode, block]);
    // others, in the same directory and of the root, are of another group with blocks and all
    let cold = filesystem.create(directory, false).unwrap();
    filesystem.extend(cold, 100_000).unwrap();
    assert_eq!(
        (cold, filesystem.volume.geometry.group(addresses(&filesystem, cold)[0])),
        (22400, 1)
    );
    let made: Vec<_> = (0..22).map(|_| filesystem.mkdir(ROOT, false).unwrap() / 22400).collect();
    assert!(!made.contains(&0) && made.iter().any(|&cg| cg != made[0]));
    assert_eq!(filesystem.check(), Ok(()));
}

#[test]
fn in_mode_data_others_have_the_inodes_of_a_region_and_not_its_blocks() {
    let mut filesystem = thesis(2);
    let region = filesystem.volume.region.clone().unwrap();
    filesystem.volume.region = Some(Region { mode: RegionMode::Data, ..region.clone() });
    let directory = filesystem.mkdir(ROOT, true).unwrap();
    let (hot, cold) = (filesystem.create(directory, true), filesystem.create(directory, false));
    assert_eq!((directory, &hot, &cold), (3, &Ok(4), &Ok(5)));
    for (file, inside) in [(hot.unwrap(), true), (cold.unwrap(), false)] {
        filesystem.extend(file, 100_000).unwrap();
        for address in addresses(&filesystem, file) {
            assert_eq!(region.fragments.contains(&address), inside);
        }
    }
    assert_eq!(filesystem.check(), Ok(()));
}

#[test]
fn a_hot_file_has_its_first_blocks_in_the_region_and_no_more() {
    let mut filesystem = thesis(2);
    let region =
        Region::of(&filesystem.volume.geometry, 0, 4 << 20, 0, RegionMode::Reserved).unwrap();
    assert_eq!(region.hot_blocks, 256); // more than this region has
    filesystem.volume.region = Some(Region { hot_blocks: 32, ..region });
    let file = filesystem.create(ROOT, true).unwrap();
    filesystem.extend(file, 40 * 16384).unwrap();
    let blocks = addresses(&filesystem, file);
    let hot: Vec<u32> = (0..12).chain(13..33).map(|i| 1432 + 8 * i).collect();
    assert_eq!(blocks[..32], hot); // the indirect block is between them
    assert!(blocks[32..].iter().all(|&address| address >= 2048), "{blocks:?}");
    let large = Change::Hint(Outcome::TooLarge);
    assert_eq!(filesystem.take_changes().filter(|change| *change == large).count(), 8);
}

#[test]
fn a_region_of_one_block_takes_one_block_and_what_then_comes_goes_where_it_would() {
    let mut filesystem = thesis(2);
    let region =
        Region::of(&filesystem.volume.geometry, 8 << 20, 16384, 0, RegionMode::Reserved).unwrap();
    assert!(region.inodes.is_empty());
    filesystem.volume.region = Some(region);
    let files: Vec<_> = (0..3).map(|_| filesystem.create(ROOT, true).unwrap()).collect();
    assert_eq!(files, [3, 4, 5]);
    files.iter().for_each(|&inode| filesystem.extend(inode, 16384).unwrap());
    let blocks: Vec<_> = files.iter().flat_map(|&file| addresses(&filesystem, file)).collect();
    assert_eq!(blocks, [4096, 1432, 1440]);
    let full = Change::Hint(Outcome::BlocksFull);
    assert_eq!(filesystem.take_changes().filter(|change| *change == full).count(), 2);
}

#[test]
fn without_a_region_a_hint_is_counted_and_does_nothing() {
    let (mut hinted, mut stock) = (fresh(geometries()[0]), fresh(geometries()[0]));
    hinted.log_changes();
    assert_eq!(hinted.create(ROOT, true), stock.create(ROOT, false));
    assert_eq!(hinted.mkdir(ROOT, true), stock.mkdir(ROOT, false));
    let none = Change::Hint(Outcome::NoRegion);
    assert_eq!(hinted.take_changes().filter(|change| *change == none).count(), 2);
    assert_eq!(hinted.volume.groups, stock.volume.groups);
}

#[test]
fn what_is_detached_stays_taken_until_it_is_released() {
    let mut filesystem = thesis(2);
    let file = filesystem.create(ROOT, false).unwrap();
    filesystem.extend(file, 14 * 16384).unwrap();
    let before = filesystem.volume.total;
    let cut = filesystem.detach_blocks(file, 5000).unwrap();
    assert_eq!(filesystem.file(file).unwrap().size, 5000);
    let gone = filesystem.detach(file).unwrap();
    assert_eq!((filesystem.volume.total, filesystem.file(file)), (before, None));
    assert_eq!(filesystem.detached[cut.key].fragments.len(), 14 + 1);
    assert_eq!(filesystem.detached[gone.key].inode, Some((file, false)));
    assert_ne!(filesystem.create(ROOT, false), Ok(file));
    assert_eq!(filesystem.check(), Ok(()));
    filesystem.take_changes();
    filesystem.release(gone);
    filesystem.release(cut);
    let freed: Vec<_> = filesystem.take_changes().collect();
    // the reserved fragments, then the others: from the last block on, except its tail
    assert!(matches!(freed[1], Change::Freed { fragments: 3, .. }), "{freed:?}");
    assert!(matches!(freed[freed.len() - 1], Change::Freed { fragments: 5, .. }), "{freed:?}");
    assert_eq!(filesystem.check(), Ok(()));
    assert_eq!(filesystem.create(ROOT, false), Ok(file));
}
