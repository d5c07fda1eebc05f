//! Counts of packets that never reached a capture (Interface Statistics Blocks of pcapng,
//! draft-ietf-opsawg-pcapng section 4.6; cumulative drops of snoop, RFC 1761).

use super::interface::options;
use super::order::Order;

/// Codes of options (`isb_ifdrop`, `isb_osdrop`).
const BY_INTERFACE: u16 = 5;
const BY_SYSTEM: u16 = 7;

/// Packets dropped in a time, in microseconds since the epoch.
pub type Drop = ((i64, i64), u64);

/// Counts of the interfaces, which increase from the beginning of a capture on, across its files.
#[derive(Debug, Default)]
pub struct Statistics {
    /// The last time and count of each interface.
    latest: Vec<(Option<i64>, u64)>,
    drops: Vec<Drop>,
}

impl Statistics {
    /// Reads a whole block about an interface, of a time. `began` is the begin of the capture, as
    /// far as known.
    pub fn read(&mut self, order: Order, block: &[u8], interface: usize, at: i64, began: i64) {
        let counts = options(order, block, 20).filter(|(code, value)| {
            [BY_INTERFACE, BY_SYSTEM].contains(code) && value.len() == size_of::<u64>()
        });
        let count = counts.fold(0_u64, |sum, (_, value)| sum.saturating_add(order.u64(value, 0)));
        self.count(interface, at, count, began);
    }

    /// Takes the number of packets of an interface dropped up to a time.
    pub fn count(&mut self, interface: usize, at: i64, count: u64, began: i64) {
        if self.latest.len() <= interface {
            self.latest.resize(interface + 1, (None, 0));
        }
        let (since, before) = std::mem::replace(&mut self.latest[interface], (Some(at), count));
        let more = if count < before { count } else { count - before };
        if more > 0 {
            self.drops.push(((since.unwrap_or(began).min(at), at), more));
        }
    }

    /// The drops that became known since the last call.
    pub fn take(&mut self) -> Vec<Drop> {
        std::mem::take(&mut self.drops)
    }
}
