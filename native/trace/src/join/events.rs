//! Messages passed to a listener as they come, so that the joiner does not depend on printers.

use super::Joiner;
use crate::fields::Fields;
use crate::message::{Envelope, Interner, Procedure};
use crate::messages::Kind;

/// A message that has come.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Its kind, if it has no row.
    pub kind: Option<Kind>,
    /// Its envelope.
    pub envelope: &'a Envelope,
    /// Its contents.
    pub what: What<'a>,
}

/// A call or a reply, and whether it was cut.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // as in Joiner::call and Joiner::reply
pub enum What<'a> {
    Call {
        procedure: Procedure,
        short: bool,
        fields: &'a Fields,
    },
    Reply {
        procedure: Procedure,
        status: Option<u32>,
        short: bool,
        fields: &'a Fields,
    },
    /// A reply whose call was not seen, as passed to [`Joiner::hold`].
    Orphan {
        kind: &'static str,
        bytes: &'a [u8],
    },
}

/// A listener to messages.
pub trait Listener: Send {
    /// A message came, from one of the hosts to another.
    fn hear(&mut self, hosts: &Interner, event: &Event);
}

impl What<'_> {
    /// Its kind, if it has no row, because it was sent `again` or is not a call or reply of NFS.
    fn kind(&self, again: bool) -> Option<Kind> {
        match self {
            What::Orphan { .. } => Some(Kind::ReplyWithoutCall),
            What::Call { procedure: Procedure::Other(_), .. }
            | What::Reply { procedure: Procedure::Other(_), .. } => Some(Kind::OtherProgram),
            What::Call { .. } => again.then_some(Kind::Retransmission),
            What::Reply { .. } => again.then_some(Kind::DuplicateReply),
        }
    }
}

impl Joiner {
    /// From now on passes messages without a row, or `all` messages, to `listener`.
    pub fn tell(&mut self, listener: Box<dyn Listener>, all: bool) {
        self.listener = Some((listener, all));
    }

    /// Passes on a message, which may have been sent `again`.
    #[inline]
    pub(super) fn emit(&mut self, envelope: &Envelope, again: bool, what: What) {
        let Some((listener, all)) = &mut self.listener else {
            return;
        };
        let kind = what.kind(again);
        if *all || kind.is_some() {
            listener.hear(&self.hosts, &Event { kind, envelope, what });
        }
    }
}
