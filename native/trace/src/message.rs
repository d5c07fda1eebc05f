//! Who sent a message to whom, when, and as which remote procedure call.

use crate::schema::Op;
use hashbrown::HashMap;
use std::hash::{Hash, Hasher};
use std::net::IpAddr;

/// How long a call is remembered, in microseconds of the trace's time.
pub const WINDOW: i64 = 60_000_000;

/// A host's number in [`Interner`].
pub type HostId = u32;

/// Texts by number: hosts, names of procedures, paths. A host is written as the trace writes it:
/// dotted or colon form for an address, the anonymized number for nfsdump text.
#[derive(Debug, Default)]
pub struct Interner {
    names: Vec<String>,
    ids: HashMap<String, HostId>,
    addresses: HashMap<IpAddr, HostId>,
}

impl Interner {
    /// The number of a text, a new one if it was not seen before.
    pub fn intern(&mut self, name: &str) -> HostId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.names.len() as HostId;
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
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

    /// All names, by number.
    pub fn names(&self) -> &[String] {
        &self.names
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// As two words: several times with every message, and a word takes as long as a byte.
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
    /// The call it is, or answers.
    pub key: CallKey,
    /// How it travelled.
    pub transport: Transport,
}

/// What a call is, as far as decoding its reply needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// Of NFS, in the version of the call.
    Nfs(Op, u8),
    /// Of another RPC program (MOUNT, NFSACL, …), by its number; its calls and replies are
    /// counted and make no row.
    Other(u32),
}
