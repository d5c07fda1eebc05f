//! Maps hosts: addresses to addresses that belong to nobody, numbers to numbers.

use super::pairs::Pairs;
use super::random::Random;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// IPv4 addresses that nobody uses: 240.0.0.0/4 (RFC 1112, section 4).
const RESERVED: u32 = 0xf000_0000;

/// The IPv6 prefix of examples: 2001:db8::/32 (RFC 3849).
const EXAMPLES: u128 = 0x2001_0db8 << 96;

/// How often a value is drawn from these ranges before any other is accepted.
const TRIES: u32 = 1000;

/// Returns the image of a host, a new value of its kind if it is new. A host is written as in the
/// operations table: an address, or the number that stands for one.
pub fn map(hosts: &mut Pairs, host: &[u8], random: &mut Random) -> io::Result<String> {
    if let Some(value) = hosts.get(host) {
        return Ok(String::from_utf8_lossy(value).into_owned());
    }
    let address: Option<IpAddr> = std::str::from_utf8(host).ok().and_then(|text| text.parse().ok());
    for tries in 0.. {
        let bits = u128::from(random.bits()?) << 64 | u128::from(random.bits()?);
        let narrow = tries < TRIES;
        let value = match address {
            Some(IpAddr::V4(_)) => {
                let mask = if narrow { !RESERVED } else { u32::MAX };
                let high = if narrow { RESERVED } else { 0 };
                Ipv4Addr::from(high | (bits as u32 & mask)).to_string()
            }
            Some(IpAddr::V6(_)) => Ipv6Addr::from(EXAMPLES | (bits >> 32)).to_string(),
            // four to seven digits: eight would be an address
            None => format!("{:x}", 0x1000 + (bits as u32 % 0x0fff_f000)),
        };
        if hosts.add(host, value.as_bytes()) {
            return Ok(value);
        }
    }
    Err(io::Error::other("no address is left"))
}
