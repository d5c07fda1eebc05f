//! Messages printed as they come, and kept where no row is made of them.

use super::{Joiner, Procedure};
use crate::fields::Fields;
use crate::message::Envelope;
use crate::messages::{Kind, Message};
use crate::schema::Op;

impl Joiner {
    /// Prints a call where that is wanted, and keeps it if no row is made of it.
    pub(super) fn note_call(
        &mut self,
        envelope: &Envelope,
        procedure: Procedure,
        (again, short): (bool, bool),
        fields: &Fields,
    ) {
        let kind = match procedure {
            Procedure::Other(_) => Some(Kind::OtherProgram),
            Procedure::Nfs(..) => again.then_some(Kind::Retransmission),
        };
        let (printer, hosts, what) = (&mut self.printer, &self.hosts, (envelope, procedure));
        if let Some(log) = &self.log {
            log.add(|out| printer.call(hosts, what, short, fields, out));
        }
        if let Some(kind) = kind {
            let mut line = Vec::new();
            printer.call(hosts, what, short, fields, &mut line);
            self.keep(kind, what, (false, None), line);
        }
    }

    /// Prints a reply where that is wanted, and keeps it if no row is made of it.
    pub(super) fn note_reply(
        &mut self,
        (envelope, procedure): (&Envelope, Procedure),
        again: bool,
        (status, short): (Option<u32>, bool),
        fields: &Fields,
    ) {
        let kind = match procedure {
            Procedure::Other(_) => Some(Kind::OtherProgram),
            Procedure::Nfs(..) => again.then_some(Kind::DuplicateReply),
        };
        let (printer, hosts, what) = (&mut self.printer, &self.hosts, (envelope, procedure));
        if let Some(log) = &self.log {
            log.add(|out| printer.reply(hosts, what, (status, short), fields, out));
        }
        if let Some(kind) = kind {
            let mut line = Vec::new();
            printer.reply(hosts, what, (status, short), fields, &mut line);
            self.keep(kind, what, (true, status), line);
        }
    }

    /// Prints a reply whose call was not seen, and keeps it. Of text it is the line, of a capture
    /// the message, of which no more than the header can be read.
    pub(super) fn note_orphan(&mut self, envelope: &Envelope, kind: &str, bytes: &[u8]) {
        let mut line = Vec::new();
        if self.text {
            line.extend_from_slice(bytes);
            line.push(b'\n');
        } else {
            self.printer.unknown(&self.hosts, envelope, &mut line);
        }
        if let Some(log) = &self.log {
            log.add(|out| out.extend_from_slice(&line));
        }
        let op = Op::ALL.iter().find(|op| op.word() == kind);
        self.messages.push(Message {
            kind: Kind::ReplyWithoutCall,
            envelope: *envelope,
            reply: true,
            procedure: None,
            op: op.copied(),
            status: None,
            line,
        });
    }

    fn keep(
        &mut self,
        kind: Kind,
        (envelope, procedure): (&Envelope, Procedure),
        (reply, status): (bool, Option<u32>),
        line: Vec<u8>,
    ) {
        let op = match procedure {
            Procedure::Nfs(op, _) => Some(op),
            Procedure::Other(_) => None,
        };
        let (envelope, procedure) = (*envelope, Some(procedure));
        self.messages.push(Message { kind, envelope, reply, procedure, op, status, line });
    }
}
