//! FreeBSD 15's preference for directories: those near the root far apart, deeper ones near their
//! parent.

use super::file::Within;

/// The first group, and the allowed excess over the average number of directories. The parent's
/// depth determines a range of groups around it; the middle comes first, then a quarter, three
/// quarters, an eighth and so on, by the parent's number of directories.
pub(super) fn start(ncg: u32, parent: u32, within: &Within) -> (u32, u32) {
    let range = ncg.checked_shr(within.depth).unwrap_or(0);
    let directories = within.directories + 1;
    let power = directories.ilog2();
    let (numerator, denominator) = ((directories - (1 << power)) * 2 + 1, 2u64 << power);
    let part = u64::from(range) * u64::from(numerator) / denominator;
    let start = parent + ncg - range / 2 + part as u32;
    (start % ncg, 1u32.checked_shl(within.depth).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_the_root_halve_the_groups_and_deeper_ones_stay_near() {
        let starts = |parent, depth| -> Vec<u32> {
            let each = |directories| {
                start(64, parent, &Within { depth, directories, ..Within::default() }).0
            };
            (0..7).map(each).collect()
        };
        assert_eq!(starts(0, 0), [0, 48, 16, 40, 56, 8, 24]);
        assert_eq!(starts(40, 1), [40, 32, 48, 28, 36, 44, 52]);
        assert_eq!(starts(2, 3), [2, 0, 4, 63, 1, 3, 5]);
        assert_eq!(starts(9, 40), [9; 7]);
    }
}
