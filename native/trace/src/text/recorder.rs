//! Messages printed as the joiner tells of them: all of them, live, or those of which no row is made,
//! each kept with its line.

use super::log::Log;
use super::write::MessagePrinter;
use crate::join::{Event, Listener, What};
use crate::message::{Interner, Procedure};
use crate::messages::{Kind, Message, Messages};
use crate::schema::Op;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is printed, shared by the joiner, which tells of messages, and the trace, which asks for
/// them.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<Record>>);

/// What was printed so far, and how and where more is.
#[derive(Default)]
pub struct Record {
    /// The messages that no row is made of, unless there is a log.
    pub messages: Messages,
    /// Prints messages as lines.
    pub printer: MessagePrinter,
    /// Where every message is printed, if anywhere.
    pub log: Option<Log>,
}

impl Recorder {
    /// One that keeps the messages of which no row is made, of a trace that is text or is not.
    pub fn new(text: bool) -> Recorder {
        let recorder = Recorder::default();
        recorder.get().printer.text = text;
        recorder
    }

    /// The record, for as long as it is looked at.
    pub fn get(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Recorder {
    fn hear(&mut self, hosts: &Interner, event: &Event) {
        self.get().hear(hosts, event);
    }
}

impl Record {
    fn hear(&mut self, hosts: &Interner, event: &Event) {
        if let Some(log) = &self.log {
            log.add(|out| self.printer.print(hosts, event, out));
        } else if let Some(kind) = event.kind {
            let mut line = Vec::new();
            self.printer.print(hosts, event, &mut line);
            self.messages.push(message(kind, event, line));
        }
    }
}

/// The row of the messages table.
fn message(kind: Kind, event: &Event, line: Vec<u8>) -> Message {
    let (reply, procedure, status) = match event.what {
        What::Call { procedure, .. } => (false, Some(procedure), None),
        What::Reply { procedure, status, .. } => (true, Some(procedure), status),
        What::Orphan { .. } => (true, None, None),
    };
    let op = match (event.what, procedure) {
        (What::Orphan { kind, .. }, _) => Op::of(kind),
        (_, Some(Procedure::Nfs(op, _))) => Some(op),
        _ => None,
    };
    Message { kind, envelope: *event.envelope, reply, procedure, op, status, line }
}
