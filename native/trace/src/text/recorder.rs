//! Prints messages for a listener of the joiner: all of them, live, or those without a row, each
//! stored with its line.

use super::log::Log;
use super::write::MessagePrinter;
use crate::join::{Event, Listener, What};
use crate::message::{Interner, Procedure};
use crate::messages::{Kind, Message, Messages};
use crate::schema::Op;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The record, shared by the joiner, which passes messages, and the trace, which takes them.
#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<Record>>);

/// The printed messages, and the printer.
#[derive(Default)]
pub struct Record {
    /// The messages without a row, unless there is a log.
    pub messages: Messages,
    /// Prints messages as lines.
    pub printer: MessagePrinter,
    /// The destination of all messages, if any.
    pub log: Option<Log>,
}

impl Recorder {
    /// Returns a recorder of the messages without a row, for a trace that is text or not.
    pub fn new(text: bool) -> Recorder {
        let recorder = Recorder::default();
        recorder.get().printer.text = text;
        recorder
    }

    /// Locks the record.
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
