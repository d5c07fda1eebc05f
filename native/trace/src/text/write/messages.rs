//! Lines from messages as decoders give them.

use super::line::{self, Head, Printer};
use super::print;
use super::values::Values;
use crate::fields::Fields;
use crate::form::{Form, Printed};
use crate::message::{Endpoint, Envelope, Interner, Procedure};
use crate::schema::{Column, EntryColumn, COLUMNS};

/// Prints messages, one at a time.
#[derive(Default)]
pub struct MessagePrinter {
    /// How they are printed.
    pub printer: Printer,
    /// Messages of NFS so far that the format has no form for: those of version 4.
    pub left_out: u64,
    hosts: Vec<Box<[u8]>>,
    dense: Dense,
}

impl MessagePrinter {
    /// Prints a call; false, and nothing, if there is no form for it.
    pub fn call(
        &mut self,
        hosts: &Interner,
        (envelope, procedure): (&Envelope, Procedure),
        short: bool,
        fields: &Fields,
        out: &mut Vec<u8>,
    ) -> bool {
        self.message(hosts, (envelope, procedure), fields, out, |printer, head, view, out| {
            printer.call(head, &printed(fields, short), view, out)
        })
    }

    /// Prints a reply, to a call of that procedure; false, and nothing, if there is no form for it.
    pub fn reply(
        &mut self,
        hosts: &Interner,
        (envelope, procedure): (&Envelope, Procedure),
        (status, short): (Option<u32>, bool),
        fields: &Fields,
        out: &mut Vec<u8>,
    ) -> bool {
        self.message(hosts, (envelope, procedure), fields, out, |printer, head, view, out| {
            printer.reply(head, status, &printed(fields, short), view, out)
        })
    }

    /// Prints a reply of which no more than its header could be read, its call being unknown.
    pub fn unknown(&mut self, hosts: &Interner, envelope: &Envelope, out: &mut Vec<u8>) {
        self.learn(hosts);
        line::unknown(&self.head(envelope, Procedure::Other(0)), out);
    }

    fn message(
        &mut self,
        hosts: &Interner,
        (envelope, procedure): (&Envelope, Procedure),
        fields: &Fields,
        out: &mut Vec<u8>,
        print: impl FnOnce(&Printer, &Head, &View, &mut Vec<u8>) -> bool,
    ) -> bool {
        if !fields.line.is_empty() {
            out.extend_from_slice(&fields.line);
            out.push(b'\n');
            return true;
        }
        let Procedure::Nfs(..) = procedure else {
            return false;
        };
        self.learn(hosts);
        self.dense.fill(fields);
        let view = View { dense: &self.dense, fields };
        let printed = print(&self.printer, &self.head(envelope, procedure), &view, out);
        self.left_out += u64::from(!printed);
        printed
    }

    fn head(&self, envelope: &Envelope, procedure: Procedure) -> Head<'_> {
        let (op, version) = match procedure {
            Procedure::Nfs(op, version) => (op, version),
            Procedure::Other(_) => (crate::schema::Op::Null, 3),
        };
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

    /// Prints the hosts that are new.
    fn learn(&mut self, hosts: &Interner) {
        let new = hosts.names().get(self.hosts.len()..).unwrap_or_default();
        self.hosts.extend(
            new.iter().map(|name| print::host(name).unwrap_or_else(|| name.as_bytes().into())),
        );
    }
}

fn printed(fields: &Fields, short: bool) -> Printed {
    Printed { form: fields.printed.form.with(Form::SHORT, short), ..fields.printed }
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
