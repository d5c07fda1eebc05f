//! Interfaces of a pcapng section: their link types and clocks.

use super::file::LATEST;
use super::link::Link;
use super::order::Order;

/// Codes of options (`opt_endofopt`, `if_tsresol`, `if_tsoffset`).
const END_OF_OPTIONS: u16 = 0;
const RESOLUTION: u16 = 9;
const OFFSET: u16 = 14;

/// An interface description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The number of its link type.
    pub number: u32,
    /// Its link type, if readable.
    pub link: Option<Link>,
    /// Ticks in a second; `None` for more than fit.
    per_second: Option<u128>,
    /// Seconds to add to every time.
    offset: i64,
}

impl Interface {
    /// Reads a whole interface description block.
    pub fn read(order: Order, block: &[u8]) -> Interface {
        let number = order.u16(block, 8).into();
        let mut interface = Interface {
            number,
            link: Link::from_number(number),
            per_second: Some(1_000_000),
            offset: 0,
        };
        for (code, value) in options(order, block, 16) {
            match (code, value) {
                (RESOLUTION, [resolution]) => interface.per_second = ticks(*resolution),
                (OFFSET, [_, _, _, _, _, _, _, _]) => {
                    interface.offset = order.u64(value, 0) as i64;
                }
                _ => {}
            }
        }
        interface
    }

    /// The time of a count of ticks, in microseconds since the epoch.
    pub fn time(&self, ticks: u64) -> i64 {
        let per_second = self.per_second.unwrap_or(u128::MAX);
        let microseconds = match per_second {
            1_000_000 => u128::from(ticks),
            _ => (u128::from(ticks) * 1_000_000).checked_div(per_second).unwrap_or(0),
        };
        let microseconds = i64::try_from(microseconds).unwrap_or(LATEST);
        microseconds.saturating_add(self.offset.saturating_mul(1_000_000)).clamp(0, LATEST)
    }
}

/// The options of a whole block, from `start` on: their codes and values.
pub fn options(order: Order, block: &[u8], start: usize) -> impl Iterator<Item = (u16, &[u8])> {
    let mut options = block.get(start..block.len().saturating_sub(4)).unwrap_or_default();
    std::iter::from_fn(move || {
        let (head, rest) = options.split_first_chunk::<4>()?;
        let (code, length) = (order.u16(head, 0), usize::from(order.u16(head, 2)));
        options = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        let value = rest.get(..length)?;
        (code != END_OF_OPTIONS).then_some((code, value))
    })
}

/// Ticks in a second: a power of ten or, with the highest bit set, of two.
fn ticks(resolution: u8) -> Option<u128> {
    let exponent = u32::from(resolution & 0x7f);
    match resolution & 0x80 {
        0 => 10_u128.checked_pow(exponent),
        _ => 1_u128.checked_shl(exponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface(options: &[u8]) -> Interface {
        let block = [&[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 4, 0][..], options, &[0; 4]];
        Interface::read(Order::Little, &block.concat())
    }

    #[test]
    fn times_are_microseconds_unless_the_interface_says_otherwise() {
        assert_eq!(interface(&[]).time(1_500_000), 1_500_000);
        assert_eq!(interface(&[9, 0, 1, 0, 9, 0, 0, 0]).time(1_500_000_999), 1_500_000);
        assert_eq!(interface(&[9, 0, 1, 0, 3, 0, 0, 0]).time(1_500), 1_500_000);
    }

    #[test]
    fn resolutions_may_be_powers_of_two() {
        // draft-ietf-opsawg-pcapng section 4.2: the highest bit selects the base
        assert_eq!(interface(&[9, 0, 1, 0, 0x80 | 10, 0, 0, 0]).time(1536), 1_500_000);
        assert_eq!(interface(&[9, 0, 1, 0, 0x80 | 32, 0, 0, 0]).time(3 << 31), 1_500_000);
    }

    #[test]
    fn an_offset_in_seconds_is_added() {
        let offset = [14, 0, 8, 0, 10, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(interface(&offset).time(5), 10_000_005);
    }

    #[test]
    fn impossible_resolutions_and_offsets_do_no_harm() {
        assert_eq!(interface(&[9, 0, 1, 0, 127, 0, 0, 0]).time(u64::MAX), 0);
        assert_eq!(interface(&[9, 0, 1, 0, 0, 0, 0, 0]).time(u64::MAX), LATEST);
        assert_eq!(interface(&[14, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0x80]).time(5), 0);
        assert_eq!(interface(&[9, 0, 200, 0, 3]).time(5), 5);
    }
}
