//! Encodings of numbers as bytes. 0 is reserved for unknown values.

/// Logarithmic: 1 for zero, then four steps to a doubling, up to 255.
#[inline]
pub fn log(number: u64) -> u8 {
    if number == 0 {
        return 1;
    }
    let doublings = u64::from(number.ilog2());
    let quarters =
        if doublings >= 2 { number >> (doublings - 2) } else { number << (2 - doublings) };
    (2 + 4 * doublings + (quarters & 3)).min(255) as u8
}

/// Elapsed time in milliseconds, at least 0 if the clock went back.
#[inline]
pub fn passed(since: i64, until: i64) -> u8 {
    log(until.saturating_sub(since).max(0) as u64 / 1000)
}

/// A share of 65,535: 1 for none, 255 for all.
#[inline]
pub fn share(of: u16) -> u8 {
    1 + (u32::from(of) * 254 / 65_535) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_have_four_steps_to_a_doubling() {
        let bytes = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, u64::MAX].map(log);
        assert_eq!(bytes, [1, 2, 6, 8, 10, 11, 12, 13, 14, 14, 15, 18, 255]);
    }

    #[test]
    fn a_clock_that_goes_back_stands_still() {
        assert_eq!((passed(5_000, 4_000), passed(i64::MIN, i64::MAX)), (1, 214));
    }

    #[test]
    fn shares_go_from_1_to_255() {
        assert_eq!([0, 32_768, 65_535].map(share), [1, 128, 255]);
    }
}
