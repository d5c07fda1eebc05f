//! IPv4 addresses for the hosts of a table.

use hashbrown::{HashMap, HashSet};
use std::net::Ipv4Addr;

/// The network of hosts that are numbers: 10.0.0.0/8.
const NETWORK: u32 = 10 << 24;
/// The number of its broadcast address.
const LAST: u32 = (1 << 24) - 1;

/// The address of each host.
///
/// A host that is an IPv4 address keeps it. Number n, as in anonymized text, gets the n-th of
/// 10.0.0.0/8; all others, such as IPv6's, get one from its end, in the order of appearance.
#[derive(Debug)]
pub struct Addresses {
    known: HashMap<String, Ipv4Addr>,
    used: HashSet<Ipv4Addr>,
    free: u32,
}

impl Default for Addresses {
    fn default() -> Addresses {
        Addresses { known: HashMap::new(), used: HashSet::new(), free: LAST }
    }
}

impl Addresses {
    /// The address of a host.
    pub fn of(&mut self, host: &str) -> Ipv4Addr {
        if let Some(&address) = self.known.get(host) {
            return address;
        }
        let address = host.parse().ok().or_else(|| numbered(host)).unwrap_or_else(|| self.fresh());
        self.known.insert(host.to_owned(), address);
        self.used.insert(address);
        address
    }

    fn fresh(&mut self) -> Ipv4Addr {
        loop {
            self.free = self.free.saturating_sub(1);
            let address = Ipv4Addr::from(NETWORK + self.free);
            if self.free == 0 || !self.used.contains(&address) {
                return address;
            }
        }
    }
}

fn numbered(host: &str) -> Option<Ipv4Addr> {
    let number: u32 = host.parse().ok()?;
    (number < LAST).then(|| Ipv4Addr::from(NETWORK + number))
}
