//! The sender, receiver, time and procedure of a message.

use crate::budget::{Budget, Part};
use crate::schema::Op;
use hashbrown::HashMap;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;

/// How long a call is remembered, in microseconds of the trace's time.
pub const WINDOW: i64 = 60_000_000;

/// The bytes of a text, with its index entries.
const HOST: usize = 160;

/// A host's number in [`Interner`].
pub type HostId = u32;

/// Texts by number: hosts, names of procedures, paths. A host is written as in the trace: dotted or
/// colon form for an address, the anonymized number for nfsdump text.
///
/// Numbers of texts dropped by [`Interner::retain`] are reused.
#[derive(Debug, Default)]
pub struct Interner {
    names: Vec<String>,
    ids: HashMap<String, HostId>,
    addresses: HashMap<IpAddr, HostId>,
    free: Vec<HostId>,
    generation: u32,
}

impl Interner {
    /// The number of a text, a new one if it was not seen before.
    pub fn intern(&mut self, name: &str) -> HostId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.free.pop().unwrap_or(self.names.len() as HostId);
        match self.names.get_mut(id as usize) {
            Some(place) => name.clone_into(place),
            None => self.names.push(name.to_owned()),
        }
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// Returns texts with their former numbers ([`Interner::names`]).
    pub fn with_names(names: Vec<String>) -> Interner {
        let (mut ids, mut free) = (HashMap::new(), Vec::new());
        for (name, id) in names.iter().zip(0..) {
            match name.is_empty() {
                true => free.push(id),
                false => drop(ids.insert(name.clone(), id)),
            }
        }
        free.reverse();
        Interner { names, ids, free, ..Interner::default() }
    }

    /// The number of a host with an address.
    pub fn address(&mut self, address: IpAddr) -> HostId {
        if let Some(id) = self.known(address) {
            return id;
        }
        let id = self.intern(&address.to_string());
        self.addresses.insert(address, id);
        id
    }

    /// The number of a host with an address, if it has one.
    pub fn known(&self, address: IpAddr) -> Option<HostId> {
        self.addresses.get(&address).copied()
    }

    /// All names, by number; empty where a number is free.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Whether a text has a number.
    pub fn has(&self, name: &str) -> bool {
        self.ids.contains_key(name)
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The number of texts that fit into a share of memory.
    pub fn most(budget: Budget) -> usize {
        budget.share(Part::Hosts) / HOST
    }

    /// Drops the texts whose numbers are not in use.
    pub fn retain(&mut self, in_use: impl Fn(HostId) -> bool) {
        let Interner { names, ids, addresses, free, .. } = self;
        addresses.retain(|_, id| in_use(*id));
        ids.retain(|_, id| {
            let used = in_use(*id);
            if !used {
                names[*id as usize] = String::new();
                free.push(*id);
            }
            used
        });
        // the lowest first, so that numbers do not depend on the table's order
        free.sort_unstable_by(|a, b| b.cmp(a));
        ids.shrink_to_fit();
        addresses.shrink_to_fit();
        self.generation += 1;
    }

    /// The number of times that texts were dropped: numbers stored earlier may have changed their
    /// meaning.
    #[inline]
    pub fn generation(&self) -> u32 {
        self.generation
    }
}

/// A host and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint {
    /// The host.
    pub host: HostId,
    /// The port.
    pub port: u16,
}

/// UDP or TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Transport {
    /// User datagrams.
    Udp,
    /// A stream.
    Tcp,
}

/// The words of the `transport` column, in the order of [`Transport`].
pub const TRANSPORTS: [&str; 2] = ["udp", "tcp"];

/// What identifies a call, and joins its reply to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallKey {
    /// The caller.
    pub client: Endpoint,
    /// The server.
    pub server: Endpoint,
    /// The RPC transaction id.
    pub xid: u32,
}

impl Hash for CallKey {
    /// Hashes two words, since it is needed several times per message and a word is as fast as a
    /// byte.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let CallKey { client, server, xid } = self;
        state.write_u64(u64::from(client.host) << 32 | u64::from(*xid));
        let ports = u64::from(client.port) << 16 | u64::from(server.port);
        state.write_u64(u64::from(server.host) << 32 | ports);
    }
}

/// A call's or reply's time and identity.
#[derive(Clone, Copy, Debug)]
pub struct Envelope {
    /// Microseconds since the epoch, UTC.
    pub time: i64,
    /// The call that it is, or answers.
    pub key: CallKey,
    /// Its transport.
    pub transport: Transport,
}

/// The procedure of a call, as needed to decode its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// NFS, in the version of the call.
    Nfs(Op, u8),
    /// Another RPC program (MOUNT, NFSACL, …), by its number; its calls and replies are counted and
    /// have no row.
    Other(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_numbers_are_reused_and_used_ones_stay() {
        let mut hosts = Interner::default();
        let numbers = ["a", "b", "c"].map(|name| hosts.intern(name));
        hosts.retain(|id| id == numbers[1]);
        assert_eq!((hosts.len(), hosts.has("a"), hosts.generation()), (1, false, 1));
        let mut saved = Interner::with_names(hosts.names().to_vec());
        for hosts in [&mut hosts, &mut saved] {
            let more = ["b", "d", "e", "f"].map(|name| hosts.intern(name));
            assert_eq!(more, [1, 0, 2, 3]);
        }
    }
}
