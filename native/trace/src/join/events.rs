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

/// Who is told, and of what.
#[derive(Default)]
pub(super) struct Told {
    listener: Option<Box<dyn Listener>>,
    /// Of messages that rows are made of, too.
    all: bool,
}

impl Joiner {
    /// From now on tells `listener` of the messages that no row is made of, or of `all`.
    pub fn tell(&mut self, listener: Box<dyn Listener>, all: bool) {
        self.told = Told { listener: Some(listener), all };
    }

    pub(super) fn tell_call(
        &mut self,
        envelope: &Envelope,
        procedure: Procedure,
        (again, short): (bool, bool),
        fields: &Fields,
    ) {
        let kind = no_row(procedure, again.then_some(Kind::Retransmission));
        self.emit(Event { kind, envelope, what: What::Call { procedure, short, fields } });
    }

    pub(super) fn tell_reply(
        &mut self,
        (envelope, procedure): (&Envelope, Procedure),
        again: bool,
        (status, short): (Option<u32>, bool),
        fields: &Fields,
    ) {
        let kind = no_row(procedure, again.then_some(Kind::DuplicateReply));
        self.emit(Event { kind, envelope, what: What::Reply { procedure, status, short, fields } });
    }

    pub(super) fn tell_orphan(&mut self, envelope: &Envelope, kind: &'static str, bytes: &[u8]) {
        let what = What::Orphan { kind, bytes };
        self.emit(Event { kind: Some(Kind::ReplyWithoutCall), envelope, what });
    }

    #[inline]
    fn emit(&mut self, event: Event) {
        let Told { listener: Some(listener), all } = &mut self.told else {
            return;
        };
        if *all || event.kind.is_some() {
            listener.hear(&self.hosts, &event);
        }
    }
}

/// What a message is of which no row is made: one of another program, or one that was sent again.
fn no_row(procedure: Procedure, again: Option<Kind>) -> Option<Kind> {
    match procedure {
        Procedure::Other(_) => Some(Kind::OtherProgram),
        Procedure::Nfs(..) => again,
    }
}
