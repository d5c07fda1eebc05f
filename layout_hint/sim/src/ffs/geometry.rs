//! The sizes of a file system, and derived ones.

use thiserror::Error;

/// Bytes of a superblock (`SBSIZE`).
pub const SUPERBLOCK: u32 = 8192;
/// Bytes of a group's summary.
const SUMMARY: u32 = 16;
const MOST: u32 = Geometry::MOST;

/// Format of a file system on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The first, with inodes of 128 bytes and addresses of 4.
    Ufs1,
    /// The second, with inodes of 256 bytes, addresses of 8, and the superblock at 64 KB.
    Ufs2,
}

/// A file system's sizes, as `newfs` has them. Fields have their names in `fs.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Fragments of the file system.
    pub size: u32,
    /// Fragments per cylinder group.
    pub fpg: u32,
    /// Inodes per cylinder group.
    pub ipg: u32,
    /// Bytes of a block.
    pub bsize: u32,
    /// Bytes of a fragment.
    pub fsize: u32,
    /// Percent of the space that only the superuser may fill.
    pub minfree: u32,
    /// Expected bytes of a file.
    pub avgfilesize: u32,
    /// Expected files of a directory.
    pub avgfpdir: u32,
    /// Its format on disk.
    pub format: Format,
    /// Fragments at the beginning of a group's data for directories and indirect blocks, if the
    /// kernel has that feature.
    pub metaspace: u32,
    /// Most blocks that may be moved together.
    pub contigsumsize: u32,
}

/// An invalid size of a file system.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name}={value}: expected {expected}")]
pub struct GeometryError {
    name: &'static str,
    value: u32,
    expected: String,
}

impl Geometry {
    /// The default sizes of FreeBSD 4.8's `newfs`.
    pub fn new(size: u32, fpg: u32, ipg: u32) -> Geometry {
        Geometry {
            size,
            fpg,
            ipg,
            bsize: 16384,
            fsize: 2048,
            minfree: 8,
            avgfilesize: 16384,
            avgfpdir: 64,
            format: Format::Ufs1,
            metaspace: 0,
            contigsumsize: 7,
        }
    }

    /// Most fragments: 512 GB in fragments of 2 KB, whose maps take 64 MB here.
    pub(super) const MOST: u32 = 1 << 28;

    /// More fragments than there may be.
    pub(super) fn too_large() -> GeometryError {
        let expected = format!("from 1 to {}", Geometry::MOST);
        GeometryError { name: "size_frags", value: u32::MAX, expected }
    }

    /// Returns the first invalid size, if any.
    pub fn check(&self) -> Result<(), GeometryError> {
        self.check_units()?;
        self.check_groups()?;
        match self.minfree {
            0..=99 => Ok(()),
            minfree => wrong("minfree", minfree, "a percentage from 0 to 99"),
        }
    }

    /// The sizes of blocks and fragments, and of what inodes must fill: fragments, and bytes of maps.
    fn check_units(&self) -> Result<(), GeometryError> {
        let (Geometry { bsize, fsize, ipg, .. }, inode) = (*self, self.inode_size());
        if !bsize.is_power_of_two() || !(4096..=65536).contains(&bsize) {
            return wrong("bsize", bsize, "a power of two from 4096 to 65536");
        }
        let least = (bsize / 8).max(512);
        if !fsize.is_power_of_two() || fsize < least || fsize > bsize {
            return wrong("fsize", fsize, format!("a power of two from {least} to {bsize}"));
        }
        let unit = (fsize / inode).max(8);
        if ipg == 0 || !ipg.is_multiple_of(unit) || ipg > MOST {
            return wrong("ipg", ipg, format!("a multiple of {unit} from {unit} to {MOST}"));
        }
        Ok(())
    }

    /// The sizes of groups. Each must have room for more than its own tables.
    fn check_groups(&self) -> Result<(), GeometryError> {
        let (Geometry { size, fpg, ipg, .. }, dblkno) = (*self, self.dblkno());
        if fpg > MOST || !fpg.is_multiple_of(self.frag()) || fpg <= dblkno {
            let frag = self.frag();
            let expected = format!("a multiple of {frag} over {dblkno}, where data begin");
            return wrong("fpg", fpg, expected);
        }
        if !self.metaspace.is_multiple_of(self.frag()) || self.metaspace > fpg - dblkno {
            let expected = format!("a multiple of {} up to {}", self.frag(), fpg - dblkno);
            return wrong("metaspace", self.metaspace, expected);
        }
        if size == 0 || size > MOST {
            return wrong("size_frags", size, format!("from 1 to {MOST}"));
        }
        if size - (self.ncg() - 1) * fpg < dblkno {
            let expected = format!("a last group over {dblkno}, where data begin");
            return wrong("size_frags", size, expected);
        }
        if self.metadata(0).end + self.frag() > size.min(fpg) {
            return wrong("fpg", fpg, "room for summaries and the root in the first group");
        }
        if u64::from(self.ncg()) * u64::from(ipg) > u64::from(MOST) {
            return wrong("ipg", ipg, format!("no more than {MOST} inodes in all groups"));
        }
        Ok(())
    }

    /// Bytes of the file system.
    pub fn bytes(&self) -> u64 {
        u64::from(self.size) * u64::from(self.fsize)
    }

    /// Fragments of a block.
    #[inline]
    pub fn frag(&self) -> u32 {
        self.bsize / self.fsize
    }

    /// Cylinder groups.
    #[inline]
    pub fn ncg(&self) -> u32 {
        self.size.div_ceil(self.fpg)
    }

    /// Addresses in an indirect block.
    #[inline]
    pub fn nindir(&self) -> u32 {
        match self.format {
            Format::Ufs1 => self.bsize / 4,
            Format::Ufs2 => self.bsize / 8,
        }
    }

    /// Blocks that a file may take one after the other in one group.
    #[inline]
    pub fn maxbpg(&self) -> u32 {
        self.nindir()
    }

    /// The group of an inode (`ino_to_cg`).
    #[inline]
    pub fn inode_group(&self, inode: u32) -> u32 {
        inode / self.ipg
    }

    /// The group of a fragment (`dtog`).
    #[inline]
    pub fn group(&self, address: u32) -> u32 {
        address / self.fpg
    }

    /// The byte at which the superblock begins.
    pub fn superblock_at(&self) -> u32 {
        match self.format {
            Format::Ufs1 => 8192,
            Format::Ufs2 => 65536,
        }
    }

    /// Where the superblock's copy is in a group.
    fn sblkno(&self) -> u32 {
        (self.superblock_at() + SUPERBLOCK).div_ceil(self.fsize).next_multiple_of(self.frag())
    }

    /// Bytes of an inode on disk.
    #[inline]
    pub fn inode_size(&self) -> u32 {
        match self.format {
            Format::Ufs1 => 128,
            Format::Ufs2 => 256,
        }
    }

    /// Inodes in a block (`INOPB`).
    #[inline]
    pub fn inodes_per_block(&self) -> u32 {
        self.bsize / self.inode_size()
    }

    /// Number of inodes of a group that `newfs` makes, from the first on: two blocks with UFS2, the
    /// others on demand.
    pub fn first_made(&self) -> u32 {
        match self.format {
            Format::Ufs1 => self.ipg,
            Format::Ufs2 => self.ipg.min(2 * self.inodes_per_block()),
        }
    }

    /// Where in a group its inodes begin, in bytes.
    pub fn inode_table(&self) -> u64 {
        let bytes = u64::from(self.ipg) * u64::from(self.inode_size());
        u64::from(self.dblkno()) * u64::from(self.fsize) - bytes
    }

    /// The bytes of a group's first inodes.
    pub fn first_inodes(&self, inodes: u32) -> std::ops::Range<u64> {
        let bytes = u64::from(inodes) * u64::from(self.inode_size());
        self.inode_table()..self.inode_table() + bytes
    }

    /// The bytes of a region; the first may be those of its group's first inodes.
    pub fn extents(&self, start: u64, length: u64, inodes: u32) -> Vec<std::ops::Range<u64>> {
        let group = u64::from(self.fpg) * u64::from(self.fsize);
        let base = start / group * group;
        let first = self.first_inodes(inodes);
        let mut extents = vec![base + first.start..base + first.end, start..start + length];
        extents.retain(|extent| !extent.is_empty());
        extents
    }

    /// Where data begin in a group: after superblock, group and inodes.
    pub fn dblkno(&self) -> u32 {
        let superblock = SUPERBLOCK.div_ceil(self.fsize).next_multiple_of(self.frag());
        self.sblkno() + superblock + self.frag() + self.ipg / (self.fsize / self.inode_size())
    }

    /// Where a group's space for directories and indirect blocks begins (`cgmeta`).
    #[inline]
    pub fn meta(&self, group: u32) -> u32 {
        group * self.fpg + self.dblkno()
    }

    /// Where a group's space for other data begins (`cgdata`).
    #[inline]
    pub fn data(&self, group: u32) -> u32 {
        self.meta(group) + self.metaspace
    }

    /// The fragments of a group, from its beginning, that are never a file's. The first group also
    /// has the boot block and the summaries of all groups.
    pub fn metadata(&self, group: u32) -> std::ops::Range<u32> {
        if group > 0 {
            return self.sblkno()..self.dblkno();
        }
        let summaries = (u64::from(self.ncg()) * u64::from(SUMMARY)).div_ceil(self.fsize.into());
        0..self.dblkno() + summaries as u32
    }

    /// Fragments of a group; the last may have fewer than the others (`cg_ndblk`).
    pub fn fragments(&self, group: u32) -> u32 {
        self.fpg.min(self.size - group * self.fpg)
    }

    /// Fragments for data (`fs_dsize`).
    pub fn dsize(&self) -> u32 {
        let data = |group| self.fragments(group) - self.metadata(group).len() as u32;
        (0..self.ncg()).map(data).sum()
    }
}

fn wrong(name: &'static str, value: u32, expected: impl Into<String>) -> Result<(), GeometryError> {
    Err(GeometryError { name, value, expected: expected.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The partition of the thesis: 40 GB; the numbers were computed by 4.8's newfs.
    #[test]
    fn the_first_group_of_the_thesis_is_where_newfs_has_it() {
        let geometry = Geometry::new(231 * 91136, 91136, 22400);
        geometry.check().unwrap();
        assert_eq!((geometry.ncg(), geometry.dblkno()), (231, 1424));
        assert_eq!((geometry.metadata(0), geometry.metadata(1)), (0..1426, 8..1424));
        assert_eq!((geometry.frag(), geometry.nindir()), (8, 4096));
    }

    #[test]
    fn impossible_sizes_are_refused_by_name() {
        let fine = Geometry::new(65536, 4096, 1024);
        let refused = |geometry: Geometry| geometry.check().unwrap_err().name;
        assert_eq!(fine.check(), Ok(()));
        assert_eq!(refused(Geometry { bsize: 5000, ..fine }), "bsize");
        assert_eq!(refused(Geometry { bsize: 0, ..fine }), "bsize");
        assert_eq!(refused(Geometry { fsize: 1024, ..fine }), "fsize");
        assert_eq!(refused(Geometry { fsize: 0, ..fine }), "fsize");
        assert_eq!(refused(Geometry { ipg: 0, ..fine }), "ipg");
        assert_eq!(refused(Geometry { ipg: 100, ..fine }), "ipg");
        assert_eq!(refused(Geometry { ipg: u32::MAX - 127, ..fine }), "ipg");
        assert_eq!(refused(Geometry { fpg: 0, ..fine }), "fpg");
        assert_eq!(refused(Geometry { fpg: 4095, ..fine }), "fpg");
        assert_eq!(refused(Geometry { fpg: 88, ..fine }), "fpg");
        assert_eq!(refused(Geometry { size: 0, ..fine }), "size_frags");
        assert_eq!(refused(Geometry { size: 4096 + 80, ..fine }), "size_frags");
        assert_eq!(refused(Geometry { size: u32::MAX, ..fine }), "size_frags");
        assert_eq!(refused(Geometry { size: 90, ..fine }), "fpg");
        assert_eq!(refused(Geometry { minfree: 100, ..fine }), "minfree");
    }
}
