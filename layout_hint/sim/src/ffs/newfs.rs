//! `newfs`'s default sizes of a file system.

use super::geometry::{Format, Geometry, GeometryError};

/// Bytes of a sector; sectors of what newfs takes for a cylinder in FreeBSD 4.8.
const SECTOR: i64 = 512;
const CYLINDER: i64 = 4096;
/// Bytes per inode in FreeBSD 4.8; fragments per inode in FreeBSD 14 (`NFPI`).
const DENSITY: i64 = 8192;
const FRAGMENTS: u32 = 2;
/// Most inodes in a group of FreeBSD 4.8 (`MAXIPG`): their map is a third of its block.
const MOST: i64 = 43776;
/// Fewest groups of FreeBSD 14, if they are not too small (`MINCYLGRPS`).
const GROUPS: u32 = 4;

impl Geometry {
    /// A file system of FreeBSD 4.8 (UFS1, blocks of 16 KB) in so many bytes.
    pub fn freebsd48(bytes: u64) -> Result<Geometry, GeometryError> {
        let sectors = sectors(bytes, 2048)?;
        let inodes = |cpg: i64| inodes48(sectors, cpg);
        // as many cylinders in a group as its maps have room for, in one block
        let fits = |&cpg: &i64| {
            let (ipg, fpg) = (inodes(cpg), cpg * CYLINDER / 4);
            let maps = 6 * cpg + ipg / 8 + fpg / 8 + 4 * 7 + (fpg / 8 + 7) / 8;
            ipg <= MOST && 172 + 4 + maps <= 16384
        };
        let cpg = (1..=128).rev().find(fits).unwrap_or(1);
        let (fpg, ipg) = ((cpg * CYLINDER / 4) as u32, inodes(cpg) as u32);
        let mut geometry = Geometry::new((sectors / 4) as u32, fpg, ipg);
        // a rest too small for a group is left out
        if geometry.ncg() > 1 && geometry.fragments(geometry.ncg() - 1) < geometry.dblkno() {
            geometry.size = (geometry.ncg() - 1) * fpg;
        }
        geometry.check().map(|()| geometry)
    }

    /// A file system of FreeBSD 14 and 15 (UFS2, blocks of 32 KB) in so many bytes.
    pub fn freebsd14(bytes: u64) -> Result<Geometry, GeometryError> {
        let size = (sectors(bytes, 4096)? / 8) as u32;
        let of = |fpg: u32| {
            let ipg = fpg.div_ceil(FRAGMENTS).next_multiple_of(128);
            let metaspace = fpg * 8 / 200 / 8 * 8;
            Geometry {
                bsize: 32768,
                fsize: 4096,
                format: Format::Ufs2,
                contigsumsize: 16,
                metaspace,
                ..Geometry::new(size, fpg, ipg)
            }
        };
        let mut fpg = (FRAGMENTS * 128).min(size / 8 * 8);
        while fpg > 0 && size / fpg >= GROUPS && maps14(&of(fpg + 8)) <= 32768 {
            fpg += 8;
        }
        // a last group that is too small gets some of the others' fragments
        while fpg > 8 && !size.is_multiple_of(fpg) && size % fpg < of(fpg).dblkno() {
            fpg -= 8;
        }
        let geometry = of(fpg);
        geometry.check().map(|()| geometry)
    }
}

/// Bytes of a group's block in FreeBSD 14 (`CGSIZE`).
fn maps14(geometry: &Geometry) -> u32 {
    let clusters = 4 * geometry.contigsumsize + (geometry.fpg / 8).div_ceil(8);
    176 + 4 + geometry.ipg / 8 + geometry.fpg.div_ceil(8) + clusters
}

/// Inodes in a group of so many cylinders in FreeBSD 4.8 (`calcipg`).
fn inodes48(sectors: i64, cpg: i64) -> i64 {
    let cylinders = (sectors + CYLINDER - 1) / CYLINDER;
    let ncg = (cylinders + cpg - 1) / cpg;
    let mut ipg = 0;
    for _ in 0..10 {
        let used = (24 + ipg / 16) * 2048;
        let room = cpg * CYLINDER * SECTOR - used;
        let fit = room / DENSITY * sectors / ncg.max(1) / CYLINDER / cpg;
        let next = (fit + 127) / 128 * 128;
        if next == ipg {
            break;
        }
        ipg = next;
    }
    ipg
}

/// The sectors in so many bytes, if there are not too many.
fn sectors(bytes: u64, fsize: u64) -> Result<i64, GeometryError> {
    match bytes / fsize {
        fragments if fragments <= u64::from(Geometry::MOST) => Ok((bytes / 512) as i64),
        _ => Err(Geometry::too_large()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1 << 30;

    #[test]
    fn freebsd_48_makes_groups_of_178_mb() {
        for (size, ncg, ipg) in [(10, 58, 22272), (37, 213, 22528), (40, 231, 22400)] {
            let geometry = Geometry::freebsd48(size * GB).unwrap();
            assert_eq!(
                (geometry.fpg, geometry.ncg(), geometry.ipg),
                (91136, ncg, ipg),
                "{size} GB"
            );
            assert_eq!((geometry.bsize, geometry.fsize, geometry.maxbpg()), (16384, 2048, 4096));
        }
        let thesis = Geometry::freebsd48(40 * GB).unwrap();
        assert_eq!((thesis.dblkno(), thesis.metadata(0)), (1424, 0..1426));
    }

    #[test]
    fn freebsd_14_makes_groups_as_large_as_their_maps_allow() {
        let geometry = Geometry::freebsd14(40 * GB).unwrap();
        assert_eq!((geometry.ncg(), geometry.fpg / 8, geometry.ipg), (66, 20007, 80128));
        assert_eq!(
            (geometry.inode_size(), geometry.nindir(), geometry.maxbpg()),
            (256, 4096, 4096)
        );
        assert_eq!((geometry.metadata(1).start, geometry.dblkno()), (24, 40 + 80128 / 16));
        assert_eq!(geometry.metaspace, 160056 * 8 / 200 / 8 * 8);
        let small = Geometry::freebsd14(GB).unwrap();
        assert!(small.ncg() >= 4 && small.fpg < geometry.fpg);
    }

    #[test]
    fn sizes_of_no_file_system_are_refused() {
        for bytes in [0, 1, 4096, 50_000, u64::MAX] {
            assert!(Geometry::freebsd48(bytes).is_err(), "{bytes}");
            assert!(Geometry::freebsd14(bytes).is_err(), "{bytes}");
        }
        for bytes in (1..400).map(|i| i * 7_654_321) {
            for made in [Geometry::freebsd48(bytes), Geometry::freebsd14(bytes)] {
                let geometry = made.unwrap();
                assert!(u64::from(geometry.size) * u64::from(geometry.fsize) <= bytes);
            }
        }
    }
}
