//! Reads RPC messages, whole or cut, into calls and replies for the [`Joiner`].

use super::boundary::{self, Proof};
use super::codec::Reader;
use super::counts::CaptureCounts;
use super::gss::{self, ProtectedCalls, Protection};
use super::header::is_reply;
use super::rpc::{self, Call};
use super::unread::Reason;
use super::xdr::{Decoded, Fault, Xdr};
use super::{nfs2, nfs3, nfs4};
use crate::fields::Fields;
use crate::join::{HeldReply, Joiner};
use crate::loss::{Gap, Hole};
use crate::message::{CallKey, Endpoint, Envelope, Procedure, Transport};
use crate::schema::Op;
use hashbrown::{HashMap, HashSet};
use std::net::SocketAddr;

/// The most bytes of a reply that waits for its call.
const HELD: usize = 64 << 10;

/// The most servers remembered.
const SERVERS: usize = 4096;

/// The most unreadable directions remembered.
const OPAQUE: usize = 16_384;

/// The ports of NFS, and of NFS over RDMA (RFC 5666).
const NFS_PORTS: [u16; 2] = [2049, 20_049];

/// The bytes of XID and message type.
const HEAD: usize = 8;

/// Statuses of NFS lie below this; above are RPC's refusals.
const STATUSES: u32 = rpc::REFUSED;

/// The begin of a message: its time, and its place in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The time of the packet in which it begins, in microseconds since the epoch.
    pub time: i64,
    /// The packet's offset in the file.
    pub offset: u64,
}

/// The sender, the receiver and the transport of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flow {
    /// The sender.
    pub from: SocketAddr,
    /// The receiver.
    pub to: SocketAddr,
    /// The transport.
    pub transport: Transport,
}

impl Flow {
    /// Whether either end has a port of NFS's.
    pub fn is_nfs(&self) -> bool {
        NFS_PORTS.contains(&self.from.port()) || NFS_PORTS.contains(&self.to.port())
    }
}

/// How much of a message is present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// Its beginning; the rest was lost.
    Cut,
    /// Its beginning; more may come.
    Growing,
}

/// How much of a message's arguments or results was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coverage {
    /// All.
    All,
    /// The values before a cut.
    Cut,
    /// The parts before damage, or before an operation that no version has.
    Partial,
    /// Nothing: they are encrypted.
    Encrypted,
}

impl Coverage {
    fn of(unknown_operation: bool) -> Coverage {
        if unknown_operation {
            Coverage::Partial
        } else {
            Coverage::All
        }
    }
}

/// Reads messages.
#[derive(Default)]
pub struct Messages {
    fields: Fields,
    protected: ProtectedCalls,
    /// The receivers of calls.
    servers: HashSet<SocketAddr>,
    /// Unreadable directions of conversations, with the reason.
    opaque: HashMap<Flow, Reason>,
    /// The versions of NFS that a server offered when it refused another.
    offered: Option<(u32, u32)>,
}

impl Messages {
    /// Reads a message. A growing message is taken only if more bytes would not change the result:
    /// false means that nothing was done, and that the caller should pass the message again with
    /// more bytes.
    pub fn message(
        &mut self,
        (flow, origin): (&Flow, Origin),
        bytes: &[u8],
        extent: Extent,
        joiner: &mut Joiner,
        counts: &mut CaptureCounts,
    ) -> bool {
        let mut x = Xdr::new(bytes);
        let dealt_with = match (x.u32(), x.u32()) {
            (Ok(xid), Ok(kind @ (rpc::CALL | rpc::REPLY))) => {
                let call = kind == rpc::CALL;
                let ends = if call { [flow.from, flow.to] } else { [flow.to, flow.from] };
                let [client, server] = ends.map(|of| end(of, joiner));
                let key = CallKey { client, server, xid };
                let envelope = Envelope { time: origin.time, key, transport: flow.transport };
                if call {
                    let called = self.call(envelope, (x, extent), joiner, counts);
                    if self.servers.len() < SERVERS && matches!(called, Ok(true)) {
                        self.servers.insert(flow.to);
                    }
                    called
                } else {
                    self.reply(envelope, (bytes, extent), joiner, counts)
                }
            }
            (Ok(_), Ok(_)) => Err(Fault::Bad("a call or a reply")),
            _ => Err(Fault::Short),
        };
        if self.offered.is_some() {
            counts.offered = self.offered.take();
        }
        let fault = match dealt_with {
            Ok(dealt_with) => {
                counts.messages += u64::from(dealt_with);
                return dealt_with;
            }
            Err(fault) => fault,
        };
        self.fields.clear();
        let expected = match (fault, extent) {
            (Fault::Short, Extent::Growing) => return false,
            (Fault::Short, Extent::Cut) => "the header of an RPC message, without missing bytes",
            (Fault::Short, Extent::Whole) => "a longer message",
            (Fault::Bad(expected), _) => expected,
        };
        counts.messages += 1;
        counts.cut_messages += u64::from(extent == Extent::Cut);
        let reply = bytes.get(4..8) == Some(&rpc::REPLY.to_be_bytes());
        let reason = match fault {
            Fault::Short if extent == Extent::Cut => "cut-header",
            _ if reply => "bad-results",
            _ => "bad-arguments",
        };
        joiner.quarantine.set_aside(origin.offset, None, reason, expected, bytes);
        true
    }

    /// Marks a direction of a conversation as unreadable.
    pub fn close(&mut self, flow: Flow, reason: Reason) {
        if self.opaque.len() >= OPAQUE {
            self.opaque.clear();
        }
        self.opaque.insert(flow, reason);
    }

    /// Marks a direction of a conversation as begun.
    pub fn open(&mut self, flow: &Flow) {
        self.opaque.remove(flow);
    }

    /// Why the other direction of a conversation is unreadable, if it is.
    pub fn other_closed(&self, flow: &Flow) -> Option<Reason> {
        let other = Flow { from: flow.to, to: flow.from, ..*flow };
        self.opaque.get(&other).copied()
    }

    /// Whether calls have gone to an endpoint.
    pub fn is_server(&self, end: &SocketAddr) -> bool {
        self.servers.contains(end)
    }

    /// Whether a datagram of `length` bytes is a message, as far as it is present: a call, an
    /// awaited reply, or one from a server or from NFS's port.
    pub fn is_message(&self, flow: &Flow, body: &[u8], length: usize, joiner: &Joiner) -> bool {
        match boundary::prove_message(body, length, &|xid| awaits(flow, xid, joiner)) {
            Proof::Certain => true,
            Proof::Doubtful => {
                is_reply(body, length) && (flow.is_nfs() || self.is_server(&flow.from))
            }
            Proof::Refuted => false,
        }
    }

    /// Records bytes of a TCP stream lost between two times. Without calls in either direction it
    /// is not an RPC conversation.
    pub fn hole(
        &mut self,
        flow: &Flow,
        (since, until): (i64, i64),
        bytes: u64,
        joiner: &mut Joiner,
    ) {
        let call = self.servers.contains(&flow.to);
        if !call && !self.servers.contains(&flow.from) {
            return;
        }
        let (from, to) = (end(flow.from, joiner), end(flow.to, joiner));
        let (client, server) = if call { (from, to) } else { (to, from) };
        let gap = Gap { server: server.host, client: client.host, since, until };
        joiner.losses.hole((client, server), &Hole { gap, bytes, call });
    }

    /// Reads a call from after its message type. An error leaves the joiner unchanged.
    fn call(
        &mut self,
        envelope: Envelope,
        (mut x, extent): (Xdr, Extent),
        joiner: &mut Joiner,
        counts: &mut CaptureCounts,
    ) -> Decoded<bool> {
        let bytes = HEAD + x.rest().len();
        let procedure = Call::read(&mut x)?.procedure();
        let read = match procedure {
            Procedure::Nfs(op, version) => self.arguments(&envelope.key, op, version, &mut x),
            Procedure::Other(_) => Ok(Coverage::All),
        };
        let coverage = self.coverage(read, extent)?;
        count(coverage, bytes, joiner, counts);
        let short = coverage != Coverage::All;
        if let Some(held) = joiner.call(envelope, procedure, short, &mut self.fields) {
            self.held(held, procedure, joiner, counts);
        }
        Ok(true)
    }

    /// Reads a call's credentials and arguments into the fields.
    fn arguments(&mut self, key: &CallKey, op: Op, version: u8, x: &mut Xdr) -> Decoded<Coverage> {
        let protection = rpc::credentials(x, &mut self.fields)?;
        if op == Op::Null {
            return Ok(Coverage::All);
        }
        self.protected.remember(*key, protection);
        match protection {
            Protection::None => self.plain_arguments(op, version, x),
            Protection::Integrity => {
                let (mut body, whole) = gss::signed(x)?;
                let read = self.plain_arguments(op, version, &mut body);
                read.map_err(|fault| if whole { within(fault) } else { fault })
            }
            Protection::Privacy | Protection::Control => Ok(Coverage::Encrypted),
        }
    }

    fn plain_arguments(&mut self, op: Op, version: u8, x: &mut Xdr) -> Decoded<Coverage> {
        match version {
            2 => nfs2::arguments(op, &mut Reader { x, f: &mut self.fields })?,
            3 => nfs3::arguments(op, &mut Reader { x, f: &mut self.fields })?,
            _ => return nfs4::arguments(x, &mut self.fields).map(Coverage::of),
        }
        Ok(Coverage::All)
    }

    /// Decides how much was read of arguments or results. Values before a cut are used; those
    /// before damage only with whole operations or entries among them. An error says that nothing
    /// is used.
    fn coverage(&self, read: Decoded<Coverage>, extent: Extent) -> Decoded<Coverage> {
        match (read, extent) {
            // its length is known when all of it has come
            (Ok(Coverage::Encrypted), Extent::Growing) => Err(Fault::Short),
            (Ok(coverage), _) => Ok(coverage),
            (Err(Fault::Short), Extent::Growing) => Err(Fault::Short),
            (Err(Fault::Short), Extent::Cut) => Ok(Coverage::Cut),
            (Err(_), _) if self.fields.holds_parts() => Ok(Coverage::Partial),
            (Err(fault), _) => Err(fault),
        }
    }

    /// Reads a reply that came before its call, now that the call is known. If its end is
    /// unreadable, it was cut.
    fn held(
        &mut self,
        held: HeldReply,
        procedure: Procedure,
        joiner: &mut Joiner,
        counts: &mut CaptureCounts,
    ) {
        let (status, read) = self.results(&held.envelope.key, procedure, &held.bytes, Extent::Cut);
        let coverage = read.unwrap_or(Coverage::Cut);
        count(coverage, held.bytes.len(), joiner, counts);
        joiner.reply(held.envelope, status, coverage != Coverage::All, &mut self.fields);
    }

    /// Reads a reply, from its XID on. An error leaves the joiner unchanged.
    fn reply(
        &mut self,
        envelope: Envelope,
        (bytes, extent): (&[u8], Extent),
        joiner: &mut Joiner,
        counts: &mut CaptureCounts,
    ) -> Decoded<bool> {
        let Some(procedure) = joiner.pending(&envelope.key) else {
            if extent == Extent::Growing {
                return Ok(false);
            }
            joiner.hold(envelope, "unknown", &bytes[..bytes.len().min(HELD)]);
            return Ok(true);
        };
        let (status, read) = self.results(&envelope.key, procedure, bytes, extent);
        let coverage = self.coverage(read, extent)?;
        count(coverage, bytes.len(), joiner, counts);
        joiner.reply(envelope, status, coverage != Coverage::All, &mut self.fields);
        Ok(true)
    }

    /// Reads a reply's status, if present, and its results into the fields.
    fn results(
        &mut self,
        key: &CallKey,
        procedure: Procedure,
        bytes: &[u8],
        extent: Extent,
    ) -> (Option<u32>, Decoded<Coverage>) {
        let mut x = Xdr::new(bytes.get(HEAD..).unwrap_or_default());
        match rpc::refusal(&mut x) {
            Ok(None) => {}
            Ok(refusal) => {
                self.note_offer(procedure, refusal, &mut x);
                return (refusal, Ok(Coverage::All));
            }
            Err(fault) => return (None, Err(fault)),
        }
        let (op, version) = match procedure {
            Procedure::Nfs(Op::Null | Op::Root | Op::Writecache, _) | Procedure::Other(_) => {
                return (None, Ok(Coverage::All));
            }
            Procedure::Nfs(op, version) => (op, version),
        };
        match self.protected.protection(key) {
            Protection::None => self.plain_results(op, version, x, extent),
            Protection::Integrity => match gss::signed(&mut x) {
                Ok((body, true)) => {
                    let (status, read) = self.plain_results(op, version, body, Extent::Whole);
                    (status, read.map_err(within))
                }
                Ok((body, false)) => self.plain_results(op, version, body, extent),
                Err(fault) => (None, Err(fault)),
            },
            Protection::Privacy | Protection::Control => (None, Ok(Coverage::Encrypted)),
        }
    }

    /// Records the versions that a server offered when it refused another version of NFS.
    fn note_offer(&mut self, procedure: Procedure, refusal: Option<u32>, x: &mut Xdr) {
        let of_nfs = matches!(procedure, Procedure::Nfs(..) | Procedure::Other(rpc::NFS));
        if of_nfs && refusal == Some(rpc::REFUSED + rpc::PROG_MISMATCH) {
            self.offered = x.u32().ok().zip(x.u32().ok());
        }
    }

    fn plain_results(
        &mut self,
        op: Op,
        version: u8,
        mut x: Xdr,
        extent: Extent,
    ) -> (Option<u32>, Decoded<Coverage>) {
        let status = match x.choice(STATUSES - 1, "an NFS status") {
            Ok(status) => status,
            Err(fault) => return (None, Err(fault)),
        };
        let f = &mut self.fields;
        let read = match (version, status) {
            // some servers omit what RFC 1813 requires after an error
            (4, _) | (3, 1..) if x.rest().is_empty() && extent == Extent::Whole => {
                Ok(Coverage::All)
            }
            (4, _) => nfs4::results(&mut x, f).map(Coverage::of),
            (2, 0) => nfs2::results(op, &mut Reader { x: &mut x, f }).map(|()| Coverage::All),
            (3, _) => {
                nfs3::results(op, status == 0, &mut Reader { x: &mut x, f }).map(|()| Coverage::All)
            }
            _ => Ok(Coverage::All),
        };
        (Some(status), read)
    }
}

/// The fault of a complete signed body: no more bytes of it will come.
fn within(fault: Fault) -> Fault {
    match fault {
        Fault::Short => Fault::Bad("a longer signed body"),
        bad => bad,
    }
}

/// Counts a message that was not read completely.
fn count(coverage: Coverage, bytes: usize, joiner: &mut Joiner, counts: &mut CaptureCounts) {
    match coverage {
        Coverage::All => {}
        Coverage::Cut => {
            joiner.counts.short += 1;
            counts.cut_messages += 1;
        }
        Coverage::Partial => counts.partial += 1,
        Coverage::Encrypted => counts.unread.add(Reason::Krb5p, bytes as u64),
    }
}

/// Whether the receiver of a flow awaits a reply with this XID.
pub fn awaits(flow: &Flow, xid: u32, joiner: &Joiner) -> bool {
    let end = |end: SocketAddr| {
        joiner.hosts.known(end.ip()).map(|host| Endpoint { host, port: end.port() })
    };
    let (Some(client), Some(server)) = (end(flow.to), end(flow.from)) else {
        return false;
    };
    joiner.pending(&CallKey { client, server, xid }).is_some()
}

fn end(end: SocketAddr, joiner: &mut Joiner) -> Endpoint {
    Endpoint { host: joiner.hosts.address(end.ip()), port: end.port() }
}
