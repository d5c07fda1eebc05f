//! Prints lines from messages of decoders.

use super::line::{self, Head, Printer};
use super::print;
use super::values::Values;
use crate::fields::Fields;
use crate::form::{Form, Printed};
use crate::join::{Event, What};
use crate::message::{Endpoint, Envelope, Interner, Procedure};
use crate::schema::{Column, EntryColumn, Op, COLUMNS};

/// Prints messages, one at a time.
#[derive(Default)]
pub struct MessagePrinter {
    /// The printer of lines.
    pub printer: Printer,
    /// Whether the trace is text, so that a reply without a call has a line.
    pub text: bool,
    /// Messages of NFS version 4 so far, for which the format has no form.
    pub left_out: u64,
    hosts: Vec<Box<[u8]>>,
    /// The generation of these numbers ([`Interner::generation`]).
    generation: u32,
    dense: Dense,
}

impl MessagePrinter {
    /// Prints a message, if there is a form for it. For a reply without a call, text has its line;
    /// a capture has only a readable header.
    pub fn print(&mut self, hosts: &Interner, event: &Event, out: &mut Vec<u8>) {
        let (procedure, short, fields, reply) = match event.what {
            What::Call { procedure, short, fields } => (procedure, short, fields, None),
            What::Reply { procedure, status, short, fields } => {
                (procedure, short, fields, Some(status))
            }
            What::Orphan { bytes, .. } if self.text => return print::line(out, bytes),
            What::Orphan { .. } => {
                self.learn(hosts);
                return line::unknown(&self.head(event.envelope, Op::Null, 3), out);
            }
        };
        if !fields.line.is_empty() {
            return print::line(out, &fields.line);
        }
        let Procedure::Nfs(op, version) = procedure else {
            return;
        };
        self.learn(hosts);
        self.dense.fill(fields);
        let (head, view) =
            (self.head(event.envelope, op, version), View { dense: &self.dense, fields });
        let form = fields.printed.form.with(Form::SHORT, short);
        let printed = Printed { form, ..fields.printed };
        let done = match reply {
            None => self.printer.call(&head, &printed, &view, out),
            Some(status) => self.printer.reply(&head, status, &printed, &view, out),
        };
        self.left_out += u64::from(!done);
    }

    fn head(&self, envelope: &Envelope, op: Op, version: u8) -> Head<'_> {
        let end = |end: Endpoint| {
            (self.hosts.get(end.host as usize).map_or(&b"0"[..], |host| &host[..]), end.port)
        };
        Head {
            time: envelope.time,
            client: end(envelope.key.client),
            server: end(envelope.key.server),
            transport: envelope.transport,
            version,
            op,
            xid: envelope.key.xid,
        }
    }

    /// Prints new hosts.
    fn learn(&mut self, hosts: &Interner) {
        if self.generation != hosts.generation() {
            self.generation = hosts.generation();
            self.hosts.clear();
        }
        let new = hosts.names().get(self.hosts.len()..).unwrap_or_default();
        self.hosts.extend(
            new.iter().map(|name| print::host(name).unwrap_or_else(|| name.as_bytes().into())),
        );
    }
}

/// The numbers of one message, by column.
struct Dense {
    numbers: [u64; COLUMNS.len()],
    set: [u64; COLUMNS.len().div_ceil(64)],
}

impl Default for Dense {
    fn default() -> Dense {
        Dense { numbers: [0; COLUMNS.len()], set: [0; COLUMNS.len().div_ceil(64)] }
    }
}

impl Dense {
    fn fill(&mut self, fields: &Fields) {
        self.set.fill(0);
        for &(column, value) in &fields.numbers {
            let at = column as usize;
            self.numbers[at] = value;
            self.set[at / 64] |= 1 << (at % 64);
        }
    }

    #[inline]
    fn get(&self, column: Column) -> Option<u64> {
        let at = column as usize;
        (self.set[at / 64] >> (at % 64) & 1 == 1).then(|| self.numbers[at])
    }
}

struct View<'a> {
    dense: &'a Dense,
    fields: &'a Fields,
}

impl Values for View<'_> {
    #[inline]
    fn number(&self, column: Column) -> Option<u64> {
        self.dense.get(column)
    }

    fn bytes(&self, column: Column) -> Option<&[u8]> {
        self.fields.get_text(column)
    }

    fn entries(&self) -> usize {
        self.fields.entries.as_ref().map_or(0, |entries| entries.count as usize)
    }

    fn entry_number(&self, entry: usize, column: EntryColumn) -> Option<u64> {
        let numbers = &self.fields.entries.as_ref()?.numbers;
        let first = numbers.partition_point(|(of, ..)| (*of as usize) < entry);
        let found = numbers[first..].iter().take_while(|(of, ..)| *of as usize == entry);
        found.filter(|(_, c, _)| *c == column).map(|(.., value)| *value).last()
    }

    fn entry_bytes(&self, entry: usize, column: EntryColumn) -> Option<&[u8]> {
        let bytes = &self.fields.entries.as_ref()?.bytes;
        let first = bytes.partition_point(|(of, ..)| (*of as usize) < entry);
        let found = bytes[first..].iter().take_while(|(of, ..)| *of as usize == entry);
        let (_, _, start, len) = found.filter(|(_, c, ..)| *c == column).last()?;
        Some(self.fields.slice(*start, *len))
    }
}
