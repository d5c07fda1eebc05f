//! The journal of soft updates, as `newfs -j` and `tunefs -j enable` make it.

use super::file::File;
use super::filesystem::{FileSystem, ROOT};
use super::geometry::Geometry;
use super::kernel::{Kernel, Random};
use super::volume::Volume;
use super::Error;

/// Bytes of the smallest journal, and of the largest up to FreeBSD 14 (`SUJ_MIN`, `SUJ_MAX`).
const SMALLEST: u64 = 4 << 20;
const LARGEST: u64 = 32 << 20;
/// The journal's inode: the first behind the root's (`cgialloc`).
const JOURNAL: u32 = ROOT + 1;

impl Geometry {
    /// The blocks of a journal's data by default (`journal_alloc` of tunefs.c). None for FreeBSD
    /// 4.8, which has no journal.
    pub fn journal_blocks(&self, kernel: Kernel) -> Option<u32> {
        let largest = match kernel {
            Kernel::FreeBsd48 => return None,
            Kernel::FreeBsd14 => LARGEST,
            Kernel::FreeBsd15 => u64::MAX,
        };
        let group = u64::from(self.fpg) * u64::from(self.fsize);
        // as tunefs has it: fragments times the size of a block, so 1/128 and not 1/1024 of the bytes
        let share = u64::from(self.size) * u64::from(self.bsize) / 1024;
        let bytes = share.min(largest).min(group).max(SMALLEST);
        Some(bytes.div_ceil(self.bsize.into()) as u32)
    }
}

impl<R: Random> FileSystem<R> {
    /// Adds a journal to a new file system. Its blocks, and then a block for the root directory in
    /// place of its fragment, are the first free ones (`journal_balloc`, `journal_insertfile`).
    pub fn add_journal(&mut self) -> Result<(), Error> {
        let geometry = self.volume.geometry;
        let blocks = geometry.journal_blocks(self.volume.kernel).ok_or(Error::NoJournal)?;
        self.adopt(JOURNAL, false)?;
        self.volume.groups[0].irotor = JOURNAL;
        let mut journal = File::new(false, false);
        let mut next = 0;
        for lbn in 0..blocks {
            for slot in geometry.slots(lbn) {
                if journal.indirect(slot).is_none() {
                    journal.set_indirect(slot, self.volume.take_first_block(&mut next)?);
                }
            }
            journal.set_block(lbn, self.volume.take_first_block(&mut next)?);
        }
        journal.size = u64::from(blocks) * u64::from(geometry.bsize);
        self.files.insert(JOURNAL, journal);
        let block = self.volume.take_first_block(&mut next)?;
        self.move_root(block)
    }

    /// Moves the root directory's fragments into a block. The next create in it would cut the rest
    /// of the block off (`ufs_direnter`), so that is done here.
    fn move_root(&mut self, block: u32) -> Result<(), Error> {
        let geometry = self.volume.geometry;
        let root = self.files.get_mut(&ROOT).ok_or(Error::NoFile(ROOT))?;
        let (fragments, before) = (root.fragments(0, &geometry), root.block(0));
        root.set_block(0, block);
        self.volume.release(block + fragments, geometry.frag() - fragments);
        if let Some(before) = before {
            self.volume.release(before, fragments);
        }
        Ok(())
    }
}

impl Volume {
    /// The first free block that does not begin before `from`.
    pub fn first_free_block(&self, from: u32) -> Option<u32> {
        let Geometry { size, fpg, .. } = self.geometry;
        let is_free = |&address: &u32| {
            let group = &self.groups[self.geometry.group(address) as usize];
            group.block(address % fpg / self.geometry.frag()) == group.whole()
        };
        (from..size).step_by(self.geometry.frag() as usize).find(is_free)
    }

    /// Takes the first free block from `next` on, and advances it (`cgballoc`).
    fn take_first_block(&mut self, next: &mut u32) -> Result<u32, Error> {
        let address = self.first_free_block(*next).ok_or(Error::NoSpace)?;
        let (cg, at) = (self.geometry.group(address), address % self.geometry.fpg);
        self.set(cg, at / self.geometry.frag(), 0);
        *next = address + self.geometry.frag();
        Ok(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffs::recording::Lcg;

    const GB: u64 = 1 << 30;

    fn with_journal(geometry: Geometry, kernel: Kernel) -> FileSystem<Lcg> {
        let mut made = FileSystem::new(geometry, kernel, Lcg::default()).unwrap();
        made.add_journal().unwrap();
        made.check().unwrap();
        made
    }

    #[test]
    fn a_journal_has_the_size_that_tunefs_gives_it() {
        let blocks = |bytes, kernel| Geometry::freebsd14(bytes).unwrap().journal_blocks(kernel);
        let mb = |megabytes: u32| Some(megabytes * 32);
        assert_eq!(blocks(GB / 4, Kernel::FreeBsd15), mb(4)); // no less
        assert_eq!(blocks(2 * GB, Kernel::FreeBsd15), mb(16));
        assert_eq!(blocks(40 * GB, Kernel::FreeBsd15), mb(320));
        assert_eq!(blocks(40 * GB, Kernel::FreeBsd14), mb(32));
        let large = Geometry::freebsd14(200 * GB).unwrap(); // no more than a group
        assert_eq!(large.journal_blocks(Kernel::FreeBsd15), Some(large.fpg / 8));
        assert_eq!(blocks(2 * GB, Kernel::FreeBsd48), None);
    }

    #[test]
    fn a_journal_and_the_root_behind_it_have_the_first_free_blocks() {
        let geometry = Geometry::freebsd14(2 * GB).unwrap();
        let made = with_journal(geometry, Kernel::FreeBsd15);
        let journal = made.file(JOURNAL).unwrap();
        let first = geometry.metadata(0).end.next_multiple_of(8);
        assert_eq!(journal.size, 16 << 20);
        let expected: Vec<u32> =
            (0..513).map(|n| first + n * 8).filter(|n| *n != first + 96).collect();
        let found: Vec<u32> = journal.blocks().filter_map(|lbn| journal.block(lbn)).collect();
        assert_eq!(found, expected);
        assert_eq!(journal.indirect_blocks().collect::<Vec<_>>(), [first + 96]);
        let root = first + 513 * 8;
        assert_eq!(made.file(ROOT).unwrap().block(0), Some(root));
        assert_eq!(made.volume.first_free_block(root), Some(root + 8));
        assert_eq!(made.volume.first_free_block(0), Some(root + 8));
    }

    #[test]
    fn a_journal_that_its_group_has_no_room_for_goes_on_in_the_next() {
        let geometry = Geometry::freebsd14(100 * GB).unwrap();
        let made = with_journal(geometry, Kernel::FreeBsd15);
        assert_eq!(made.volume.groups[0].summary.nbfree, 0);
        let next = made.volume.first_free_block(0).unwrap();
        assert_eq!(geometry.group(next), 1);
    }

    #[test]
    fn where_there_is_no_journal_or_no_room_for_one_there_is_none() {
        let new = |geometry, kernel| FileSystem::new(geometry, kernel, Lcg::default()).unwrap();
        let old = Geometry::freebsd48(GB).unwrap();
        assert_eq!(new(old, Kernel::FreeBsd48).add_journal(), Err(Error::NoJournal));
        let small = Geometry { size: 1000, ..Geometry::freebsd14(4 << 20).unwrap() };
        assert_eq!(new(small, Kernel::FreeBsd15).add_journal(), Err(Error::NoSpace));
    }
}
