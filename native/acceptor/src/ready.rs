//! The queue of connections that have sent data, which serves client addresses in turn.

use rustix::fd::OwnedFd;
use rustix::net::SocketAddrAny;
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

/// The client's host: an IPv4 address, or the network of an IPv6 address, as one host may have a
/// whole /64. 0 for Unix sockets.
pub type Address = u64;

/// The host of a peer's address.
pub fn host_of(peer: Option<SocketAddrAny>) -> Address {
    match peer.and_then(|peer| SocketAddr::try_from(peer).ok()).map(|peer| peer.ip().to_canonical())
    {
        Some(IpAddr::V4(address)) => address.to_bits().into(),
        Some(IpAddr::V6(address)) => (address.to_bits() >> 64) as u64,
        None => 0,
    }
}

/// The queue. It serves addresses in turn; the one with most connections makes room for others.
#[derive(Default)]
pub struct Ready {
    by_address: HashMap<Address, VecDeque<OwnedFd>>,
    /// The addresses with connections, the next one first.
    turns: VecDeque<Address>,
    count: usize,
}

impl Ready {
    /// The number of connections.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Adds a connection.
    pub fn push(&mut self, address: Address, socket: OwnedFd) {
        let sockets = self.by_address.entry(address).or_default();
        if sockets.is_empty() {
            self.turns.push_back(address);
        }
        sockets.push_back(socket);
        self.count += 1;
    }

    /// Removes the first connection of the next address.
    pub fn pop(&mut self) -> Option<(Address, OwnedFd)> {
        let address = self.turns.pop_front()?;
        let socket = self.by_address.get_mut(&address)?.pop_front()?;
        self.count_removed(address);
        if self.by_address.contains_key(&address) {
            self.turns.push_back(address);
        }
        Some((address, socket))
    }

    /// Removes the newest connection of the address with most, to make room for one of `address`;
    /// None if that would then have as many.
    pub fn make_room(&mut self, address: Address) -> Option<OwnedFd> {
        let count = self.by_address.get(&address).map_or(0, VecDeque::len);
        let (&most, sockets) = self.by_address.iter_mut().max_by_key(|(_, each)| each.len())?;
        if sockets.len() <= count + 1 {
            return None;
        }
        let socket = sockets.pop_back()?;
        self.count_removed(most);
        Some(socket)
    }

    fn count_removed(&mut self, address: Address) {
        self.count -= 1;
        if self.by_address.get(&address).is_some_and(VecDeque::is_empty) {
            self.by_address.remove(&address);
        }
    }
}
