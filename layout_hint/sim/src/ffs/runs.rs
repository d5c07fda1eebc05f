//! Runs of free fragments in a block, which is a byte with a bit set for every free one.
//!
//! A run is maximal: its neighbours in the block are taken. FFS keeps tables of them, too
//! (`fragtbl`, `around` and `inside` in `ffs_tables.c`).

/// Of every block, which lengths its runs have: bit `k - 1` is set if one has length `k`.
pub const LENGTHS: [u8; 256] = lengths();

const fn lengths() -> [u8; 256] {
    let mut table = [0; 256];
    let mut free = 0;
    while free < 256 {
        let mut rest = free as u32;
        while rest != 0 {
            rest >>= rest.trailing_zeros();
            let run = rest.trailing_ones();
            table[free] |= 1 << (run - 1);
            rest >>= run;
        }
        free += 1;
    }
    table
}

/// A block's runs: where each begins, and its length.
pub fn of(free: u8) -> impl Iterator<Item = (u32, u32)> {
    let mut rest = u32::from(free);
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let start = rest.trailing_zeros();
        let length = (rest >> start).trailing_ones();
        rest &= !(((1 << length) - 1) << start);
        Some((start, length))
    })
}

/// The fragments of a run.
#[inline]
pub fn mask(start: u32, length: u32) -> u8 {
    (((1u32 << length) - 1) << start) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs by looking at every fragment and its neighbours.
    fn naive(free: u8) -> Vec<(u32, u32)> {
        let is = |at: i32| (0..8).contains(&at) && free >> at & 1 != 0;
        let starts = (0..8).filter(|&at| is(at) && !is(at - 1));
        starts.map(|at| (at as u32, (at..9).take_while(|&i| is(i)).count() as u32)).collect()
    }

    #[test]
    fn the_runs_of_every_block_are_those_that_one_sees() {
        for free in 0..=255u8 {
            let runs: Vec<_> = of(free).collect();
            assert_eq!(runs, naive(free));
            let lengths = runs.iter().fold(0, |all, (_, length)| all | 1 << (length - 1));
            assert_eq!(LENGTHS[free as usize], lengths);
            assert_eq!(runs.iter().fold(0, |all, run| all | mask(run.0, run.1)), free);
        }
    }
}
