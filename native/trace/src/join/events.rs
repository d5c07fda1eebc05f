//! Messages told to who listens, as they come: that the joiner knows nobody who prints them.

use super::Joiner;
use crate::fields::Fields;
use crate::message::{Envelope, Interner, Procedure};
use crate::messages::Kind;

/// A message that has come.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// What it is, if no row is made of it.
    pub kind: Option<Kind>,
    /// When, between whom, which.
    pub envelope: &'a Envelope,
    /// What was read of it.
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
    /// A reply whose call was not seen, as it was given to [`Joiner::hold`].
    Orphan {
        kind: &'static str,
        bytes: &'a [u8],
    },
}

/// Who wants to know of messages.
pub trait Listener: Send {
    /// A message came, from one of the hosts to another.
    fn hear(&mut self, hosts: &Interner, event: &Event);
}

impl What<'_> {
    /// What it is, if no row is made of it, having been sent `again` or being no call's or reply's
    /// of NFS.
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
    /// From now on tells `listener` of the messages that no row is made of, or of `all`.
    pub fn tell(&mut self, listener: Box<dyn Listener>, all: bool) {
        self.told = Some((listener, all));
    }

    /// Tells of a message, which may have been sent `again`.
    #[inline]
    pub(super) fn emit(&mut self, envelope: &Envelope, again: bool, what: What) {
        let Some((listener, all)) = &mut self.told else {
            return;
        };
        let kind = what.kind(again);
        if *all || kind.is_some() {
            listener.hear(&self.hosts, &Event { kind, envelope, what });
        }
    }
}
