//! RPC messages, whole or cut, made into calls and replies for the [`Joiner`].

use super::codec::Reader;
use super::counts::CaptureCounts;
use super::rpc::{self, Body, Call};
use super::xdr::{Decoded, Fault, Xdr};
use super::{nfs2, nfs3, nfs4};
use crate::fields::Fields;
use crate::join::{HeldReply, Joiner};
use crate::loss::{Gap, Hole};
use crate::message::{CallKey, Endpoint, Envelope, Procedure, Transport};
use crate::schema::Op;
use hashbrown::HashSet;
use std::net::SocketAddr;

/// The most bytes of a reply that waits for its call.
const HELD: usize = 64 << 10;

/// How many calls with wrapped bodies are remembered, twice over.
const WRAPPED: usize = 32_768;

/// The most servers remembered.
const SERVERS: usize = 4096;

/// Statuses of NFS lie below this; above are RPC's refusals.
const STATUSES: u32 = rpc::REFUSED;

/// Where a message begins: in time, and in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The time of the packet in which it begins, in microseconds since the epoch.
    pub time: i64,
    /// That packet's place in the file.
    pub offset: u64,
}

/// Who sends to whom, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    /// The sender.
    pub from: SocketAddr,
    /// The receiver.
    pub to: SocketAddr,
    /// The transport.
    pub transport: Transport,
}

/// How much of a message there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// Its beginning; the rest is lost.
    Cut,
    /// Its beginning; the rest may come.
    Growing,
}

/// Reads messages.
#[derive(Default)]
pub struct Messages {
    fields: Fields,
    wrapped: [HashSet<CallKey>; 2],
    /// Where calls have gone to.
    servers: HashSet<SocketAddr>,
}

impl Messages {
    /// Reads a message. Of a growing one only what ends the matter is taken: false means that
    /// nothing was done, and that the message should be given again when there is more of it.
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
                    let called = self.call(envelope, x, extent, joiner);
                    if self.servers.len() < SERVERS && matches!(called, Ok(true)) {
                        self.servers.insert(flow.to);
                    }
                    called
                } else {
                    self.reply(envelope, bytes, extent, joiner)
                }
            }
            (Ok(_), Ok(_)) => Err(Fault::Bad("a call or a reply")),
            _ => Err(Fault::Short),
        };
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
            (Fault::Short, Extent::Cut) => {
                "the header of an RPC message, of which bytes are missing"
            }
            (Fault::Short, Extent::Whole) => "a longer message",
            (Fault::Bad(expected), _) => expected,
        };
        counts.messages += 1;
        let reply = bytes.get(4..8) == Some(&rpc::REPLY.to_be_bytes());
        let reason = match fault {
            Fault::Short if extent == Extent::Cut => "cut-header",
            _ if reply => "bad-results",
            _ => "bad-arguments",
        };
        joiner.quarantine.set_aside(origin.offset, None, reason, expected, bytes);
        true
    }

    /// Hears of bytes of a TCP stream that were lost between two times. Where no calls have gone
    /// either way it is not a conversation of RPC's.
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

    /// Reads a call from behind its message type. An error leaves the joiner as it was.
    fn call(
        &mut self,
        envelope: Envelope,
        mut x: Xdr,
        extent: Extent,
        joiner: &mut Joiner,
    ) -> Decoded<bool> {
        let procedure = Call::read(&mut x)?.procedure();
        let read = match procedure {
            Procedure::Nfs(op, version) => self.arguments(&envelope.key, op, version, &mut x),
            Procedure::Other(_) => Ok(false),
        };
        let short = match (read, extent) {
            (Ok(short), _) => short,
            (Err(Fault::Short), Extent::Cut) => true,
            (Err(fault), _) => return Err(fault),
        };
        if let Some(held) = joiner.call(envelope, procedure, short, &mut self.fields) {
            self.held(held, procedure, joiner);
        }
        Ok(true)
    }

    /// Reads a call's credentials and arguments into the fields; true if some of the arguments stay
    /// unknown, being wrapped, or of operations that are.
    fn arguments(&mut self, key: &CallKey, op: Op, version: u8, x: &mut Xdr) -> Decoded<bool> {
        let body = rpc::credentials(x, &mut self.fields)?;
        match (body, version) {
            (_, 4) | (Body::Wrapped, _) if op == Op::Null => {}
            (Body::Wrapped, _) => {
                self.remember_wrapped(*key);
                return Ok(true);
            }
            (Body::Plain, 2) => nfs2::arguments(op, &mut Reader { x, f: &mut self.fields })?,
            (Body::Plain, 3) => nfs3::arguments(op, &mut Reader { x, f: &mut self.fields })?,
            (Body::Plain, _) => return nfs4::arguments(x, &mut self.fields),
        }
        Ok(false)
    }

    /// Reads a reply that came before its call, now that the call is there. Where it cannot be
    /// read to its end, it was cut.
    fn held(&mut self, held: HeldReply, procedure: Procedure, joiner: &mut Joiner) {
        let read = self.results(&held.envelope.key, procedure, &held.bytes, Extent::Cut);
        let (status, short) = read.unwrap_or_else(|(status, _)| (status, true));
        joiner.reply(held.envelope, status, short, &mut self.fields);
    }

    /// Reads a reply, from its XID on. An error leaves the joiner as it was.
    fn reply(
        &mut self,
        envelope: Envelope,
        bytes: &[u8],
        extent: Extent,
        joiner: &mut Joiner,
    ) -> Decoded<bool> {
        let Some(procedure) = joiner.pending(&envelope.key) else {
            if extent == Extent::Growing {
                return Ok(false);
            }
            joiner.hold(envelope, "unknown", &bytes[..bytes.len().min(HELD)]);
            return Ok(true);
        };
        let (status, short) = match (self.results(&envelope.key, procedure, bytes, extent), extent)
        {
            (Ok(read), _) => read,
            (Err((status, Fault::Short)), Extent::Cut) => (status, true),
            (Err((_, fault)), _) => return Err(fault),
        };
        joiner.reply(envelope, status, short, &mut self.fields);
        Ok(true)
    }

    /// Reads a reply's status and results into the fields, and whether the results are only
    /// partly known; or the status, as far as it was read, and what is wrong.
    fn results(
        &mut self,
        key: &CallKey,
        procedure: Procedure,
        bytes: &[u8],
        extent: Extent,
    ) -> Result<(Option<u32>, bool), (Option<u32>, Fault)> {
        let mut x = Xdr::new(bytes.get(8..).unwrap_or_default());
        if let Some(refusal) = rpc::refusal(&mut x).map_err(|fault| (None, fault))? {
            return Ok((Some(refusal), false));
        }
        let (op, version) = match procedure {
            Procedure::Nfs(Op::Null | Op::Root | Op::Writecache, _) | Procedure::Other(_) => {
                return Ok((None, false));
            }
            Procedure::Nfs(op, version) => (op, version),
        };
        if self.wrapped.iter().any(|calls| calls.contains(key)) {
            return Ok((None, true));
        }
        let status = x.choice(STATUSES - 1, "an NFS status").map_err(|fault| (None, fault))?;
        let f = &mut self.fields;
        let read = match (version, status) {
            (4, _) if x.rest().is_empty() && extent == Extent::Whole => Ok(()),
            (4, _) => match nfs4::results(&mut x, f) {
                Ok(unknown) => return Ok((Some(status), unknown)),
                Err(fault) => Err(fault),
            },
            (2, 0) => nfs2::results(op, &mut Reader { x: &mut x, f }),
            // some servers leave out what RFC 1813 wants to follow an error
            (3, 1..) if x.rest().is_empty() && extent == Extent::Whole => Ok(()),
            (3, _) => nfs3::results(op, status == 0, &mut Reader { x: &mut x, f }),
            _ => Ok(()),
        };
        read.map(|()| (Some(status), false)).map_err(|fault| (Some(status), fault))
    }

    fn remember_wrapped(&mut self, key: CallKey) {
        if self.wrapped[0].len() >= WRAPPED {
            self.wrapped.swap(0, 1);
            self.wrapped[0].clear();
        }
        self.wrapped[0].insert(key);
    }
}

fn end(end: SocketAddr, joiner: &mut Joiner) -> Endpoint {
    Endpoint { host: joiner.hosts.address(end.ip()), port: end.port() }
}
