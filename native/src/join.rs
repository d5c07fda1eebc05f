//! Replies joined to their calls: one row per call, retransmissions counted.

use crate::batch::Batches;
use crate::fields::Fields;
use crate::message::{CallKey, Envelope, Hosts};
use crate::quarantine::Quarantine;
use crate::schema::Op;

/// What a call is, as far as decoding its reply needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Procedure {
    /// Of NFS, in the version of the call.
    Nfs(Op, u8),
    /// Of another RPC program (MOUNT, NFSACL, …), by its number; its calls and replies are
    /// counted and make no row.
    Other(u32),
}

/// A reply that came before its call, as it was given to [`Joiner::hold`].
#[derive(Debug)]
pub struct HeldReply {
    /// When and from where.
    pub envelope: Envelope,
    /// The undecoded reply.
    pub bytes: Vec<u8>,
}

/// Takes decoded calls and replies, gives rows.
pub struct Joiner {
    /// The hosts seen so far.
    pub hosts: Hosts,
    /// The damaged records seen so far.
    pub quarantine: Quarantine,
    /// The finished rows.
    pub batches: Batches,
}

impl Joiner {
    /// Takes a call; leaves `fields` cleared. Gives back the reply that was held for it, if one
    /// came earlier: decode it and hand it to [`Joiner::reply`].
    ///
    /// `short` says that the message was cut and `fields` hold only what could be read.
    pub fn call(
        &mut self,
        _envelope: Envelope,
        _procedure: Procedure,
        _short: bool,
        _fields: &mut Fields,
    ) -> Option<HeldReply> {
        todo!()
    }

    /// What the call that a reply answers is, if it was seen: how to decode the reply.
    pub fn pending(&self, _key: &CallKey) -> Option<Procedure> {
        todo!()
    }

    /// Takes the reply to a pending call; leaves `fields` cleared. `status` is the NFS status,
    /// or `None` for the null procedure, other programs, and replies cut before it.
    pub fn reply(&mut self, _envelope: Envelope, _status: Option<u32>, _short: bool, _fields: &mut Fields) {
        todo!()
    }

    /// Takes a reply whose call has not been seen: it waits a moment for it, and is otherwise
    /// counted as an orphan of kind `kind` (a procedure's word where the trace names it, else
    /// `unknown`).
    pub fn hold(&mut self, _envelope: Envelope, _kind: &'static str, _bytes: &[u8]) {
        todo!()
    }
}
