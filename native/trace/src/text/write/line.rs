//! Prints lines from the values of a call or a reply: heads and trailers.

use super::super::words::{procedure_name, Direction};
use super::fields::Fields;
use super::print;
use super::values::Values;
use crate::form::{Form, Printed};
use crate::message::Transport;
use crate::schema::Op;

/// A printed host, and a port.
pub type End<'a> = (&'a [u8], u16);

/// The begin of a line.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// Microseconds since the epoch.
    pub time: i64,
    /// The caller.
    pub client: End<'a>,
    /// The server.
    pub server: End<'a>,
    /// The transport.
    pub transport: Transport,
    /// The version of NFS.
    pub version: u8,
    /// The procedure.
    pub op: Op,
    /// The transaction id, as the joiner has it.
    pub xid: u32,
}

/// Prints lines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Printer {
    /// Whether a capture's messages are printed with everything that nfsdump has a key for, rather
    /// than only with the fields of version 1.2.0c.
    pub all: bool,
}

impl Printer {
    /// Prints a call; returns false, without output, if the format has no form for it.
    pub fn call(
        &self,
        head: &Head,
        printed: &Printed,
        values: &impl Values,
        out: &mut Vec<u8>,
    ) -> bool {
        if !begin(head, Direction::Call, printed.form, out) {
            return false;
        }
        self.fields(head, printed.form, out).call(values);
        short(printed.form, out);
        trailer(printed, None, out);
        true
    }

    /// Prints a reply; returns false, without output, if the format has no form for it.
    pub fn reply(
        &self,
        head: &Head,
        status: Option<u32>,
        printed: &Printed,
        values: &impl Values,
        out: &mut Vec<u8>,
    ) -> bool {
        if !begin(head, Direction::Reply, printed.form, out) {
            return false;
        }
        let mut form = printed.form;
        match status {
            _ if head.op == Op::Null => {}
            Some(0) => out.extend_from_slice(b" OK"),
            Some(status) => {
                out.push(b' ');
                print::hex(out, status.into());
            }
            None => form = form | Form::SHORT,
        }
        self.fields(head, form, out).reply(status, values);
        short(form, out);
        if form.has(Form::TWO_SPACES) {
            out.push(b' ');
        }
        trailer(printed, Some(status.unwrap_or(0)), out);
        true
    }

    fn fields<'a>(&self, head: &Head, form: Form, out: &'a mut Vec<u8>) -> Fields<'a> {
        let all = self.all || form.has(Form::TEXT);
        Fields { op: head.op, version: head.version, form, all, out }
    }
}

/// Prints a reply with only a readable header.
pub fn unknown(head: &Head, out: &mut Vec<u8>) {
    ends(head, Direction::Reply, out);
    out.extend_from_slice(b" R3 ");
    print::hex_padded(out, head.xid.into(), 8);
    out.extend_from_slice(b" ffffffff unknown");
    trailer(&Printed::default(), Some(0), out);
}

fn begin(head: &Head, direction: Direction, form: Form, out: &mut Vec<u8>) -> bool {
    let Some(number) = number(head.op, head.version) else {
        return false;
    };
    ends(head, direction, out);
    let letter = if direction == Direction::Call { b'C' } else { b'R' };
    out.extend_from_slice(&[b' ', letter, b'0' + head.version, b' ']);
    let text = form.has(Form::TEXT);
    let unpadded = text && !form.has(Form::PADDED_XID);
    print::hex_padded(out, head.xid.into(), if unpadded { 1 } else { 8 });
    out.push(b' ');
    let padded = !text || form.has(Form::PADDED_PROCEDURE);
    print::hex_padded(out, number.into(), if padded { 2 } else { 1 });
    out.push(b' ');
    out.extend_from_slice(procedure_name(head.op, head.version).as_bytes());
    true
}

fn ends(head: &Head, direction: Direction, out: &mut Vec<u8>) {
    print::time(out, head.time, true);
    let (from, to) = match direction {
        Direction::Call => (head.client, head.server),
        Direction::Reply => (head.server, head.client),
    };
    for (host, port) in [from, to] {
        out.push(b' ');
        out.extend_from_slice(host);
        out.push(b'.');
        print::hex_padded(out, port.into(), 4);
    }
    out.extend_from_slice(match head.transport {
        Transport::Udp => b" U",
        Transport::Tcp => b" T",
    });
}

/// The number of a procedure in a version; none if the version lacks it.
fn number(op: Op, version: u8) -> Option<u32> {
    match version {
        2 => (0..18).find(|number| Op::from_v2(*number) == Some(op)),
        3 => Some(op as u32).filter(|number| Op::from_v3(*number) == Some(op)),
        _ => None,
    }
}

fn short(form: Form, out: &mut Vec<u8>) {
    if form.has(Form::SHORT) {
        out.extend_from_slice(b" SHORT PACKET");
    }
}

/// Prints the trailer, with the status for a reply.
pub fn trailer(printed: &Printed, status: Option<u32>, out: &mut Vec<u8>) {
    let (Some(con), Some(len), true) = (printed.con, printed.len, printed.form.has(Form::NUMBERS))
    else {
        out.extend_from_slice(match status {
            Some(_) => b" status=XXX pl = XXX con = XXX len = XXX\n",
            None => b" con = XXX len = XXX\n".as_slice(),
        });
        return;
    };
    let equals: &[u8] = if printed.form.has(Form::SPACED) { b" = " } else { b"=" };
    if let Some(status) = status {
        out.extend_from_slice(b" status=");
        print::hex(out, status.into());
        out.extend_from_slice(b" pl");
        out.extend_from_slice(equals);
        print::signed(out, i64::from(len) - i64::from(con));
    }
    for (key, value) in [(b" con", con), (b" len", len)] {
        out.extend_from_slice(key);
        out.extend_from_slice(equals);
        print::decimal(out, value.into(), 1);
    }
    out.push(b'\n');
}
