//! Anonymizes nfsdump text line by line. Output is built from decoded values only. A line that the
//! decoder would set aside is dropped, since it may hold a name in an unexpected place, and so is a
//! comment.

use super::{mapping, quote, Mapping};
use birthmark_trace::fields::Fields;
use birthmark_trace::input::Input;
use birthmark_trace::message::{Interner, Procedure};
use birthmark_trace::schema::Op;
use birthmark_trace::text::fields;
use birthmark_trace::text::line::{Endpoints, Line};
use birthmark_trace::text::trailer;
use birthmark_trace::text::value::{hex, time};
use birthmark_trace::text::words::Direction;
use birthmark_trace::text::{Damage, LONGEST};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

/// Counts of the input and its fate.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Lines; a block of zero bytes counts as one.
    pub lines: u64,
    /// Lines passed on.
    pub written: u64,
    /// Comments and empty lines, dropped.
    pub comments: u64,
    /// Damaged lines, dropped, by the reason for which the decoder would set them aside.
    pub damaged: BTreeMap<&'static str, u64>,
    /// Bytes read, after decompression.
    pub bytes: u64,
}

/// Why a line is not passed on.
enum Stop {
    Damage(&'static str),
    Io(io::Error),
}

impl From<Damage> for Stop {
    fn from(damage: Damage) -> Stop {
        Stop::Damage(damage.0)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Io(error)
    }
}

/// Reads text and writes its anonymized form.
#[derive(Default)]
pub struct Rewriter {
    /// The counts so far.
    pub counts: Counts,
    endpoints: Endpoints,
    hosts: Interner,
    fields: Fields,
    /// Hosts as the text writes them, with their images.
    known: HashMap<Box<[u8]>, Box<[u8]>>,
    plain: Vec<u8>,
    mapped: Vec<u8>,
}

/// The kind of a key's value.
#[derive(Clone, Copy)]
enum Value {
    Name,
    User,
    Group,
    Handle,
    Plain,
}

impl Rewriter {
    /// Rewrites the buffered lines, about a megabyte of them, to `out`; returns false when the
    /// trace has ended.
    pub fn step(
        &mut self,
        input: &mut Input,
        mapping: &mut Mapping,
        out: &mut Vec<u8>,
    ) -> io::Result<bool> {
        self.zeros(input.skip_zeros());
        let window = input.peek(1);
        let mut done = 0;
        // a block of zero bytes ends a line as a newline does
        while let Some(end) = memchr::memchr2(b'\n', 0, &window[done..]) {
            let zeros = window[done + end] == 0;
            if !(zeros && end == 0) {
                self.line(&window[done..done + end], mapping, out)?;
            }
            done += end;
            if zeros {
                break;
            }
            done += 1;
        }
        if done == 0 {
            return self.long_or_last(input, mapping, out);
        }
        self.counts.bytes += done as u64;
        input.consume(done);
        Ok(true)
    }

    /// Counts a block of `length` zero bytes, if there is one.
    pub fn zeros(&mut self, length: u64) {
        if length > 0 {
            self.counts.bytes += length;
            self.counts.lines += 1;
            self.damaged("zero-block");
        }
    }

    /// Counts an early end of the stream, if there was one.
    pub fn end(&mut self, input: &mut Input) {
        if input.take_error().is_some() {
            self.counts.lines += 1;
            self.damaged("compression-damaged");
        }
    }

    /// Reads a line longer than the buffer, or the last one, or finds the end.
    fn long_or_last(
        &mut self,
        input: &mut Input,
        mapping: &mut Mapping,
        out: &mut Vec<u8>,
    ) -> io::Result<bool> {
        let seen = input.peek(1).len();
        if seen < LONGEST && input.more() {
            return Ok(true);
        }
        let window = input.peek(1);
        if window.len() > seen {
            return Ok(true); // the stream's last bytes have just arrived
        }
        if seen >= LONGEST {
            self.counts.lines += 1;
            self.damaged("too-long");
        } else if seen > 0 {
            self.line(window, mapping, out)?;
        }
        self.counts.bytes += seen as u64;
        input.consume(seen);
        Ok(seen > 0)
    }

    fn damaged(&mut self, reason: &'static str) {
        *self.counts.damaged.entry(reason).or_default() += 1;
    }

    /// Reads one line, and writes it if it may be passed on.
    fn line(&mut self, text: &[u8], mapping: &mut Mapping, out: &mut Vec<u8>) -> io::Result<()> {
        self.counts.lines += 1;
        if matches!(text, [] | [b'\r'] | [b'#', ..]) {
            self.counts.comments += 1;
            return Ok(());
        }
        if self.rewrite(text, mapping, out)? {
            out.push(b'\n');
            self.counts.written += 1;
        }
        Ok(())
    }

    /// Writes a line without its newline; returns false, and writes nothing, if it cannot be passed
    /// on.
    pub fn rewrite(
        &mut self,
        text: &[u8],
        mapping: &mut Mapping,
        out: &mut Vec<u8>,
    ) -> io::Result<bool> {
        let start = out.len();
        match self.message(text.strip_suffix(b"\r").unwrap_or(text), mapping, out) {
            Ok(()) => Ok(true),
            Err(Stop::Damage(reason)) => {
                out.truncate(start);
                self.damaged(reason);
                Ok(false)
            }
            Err(Stop::Io(error)) => Err(error),
        }
    }

    fn message(
        &mut self,
        text: &[u8],
        mapping: &mut Mapping,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        let line = Line::parse(text, &mut self.endpoints, &mut self.hosts)?;
        self.fields.clear();
        fields::read(&line, text, &mut self.fields)?;
        let mut rest = text;
        copy(&mut rest, out); // the time
        self.host(&mut rest, mapping, out)?;
        self.host(&mut rest, mapping, out)?;
        for _ in 0..3 {
            copy(&mut rest, out); // transport, direction, XID
        }
        let number = copy(&mut rest, out);
        if hex(number).is_none() {
            return Err(Stop::Damage("bad-procedure"));
        }
        copy(&mut rest, out); // the procedure's name
        if line.status.is_some() {
            copy(&mut rest, out);
        }
        self.body(&line, rest, mapping, out)
    }

    /// A host and port, `31.03f7`.
    fn host(
        &mut self,
        rest: &mut &[u8],
        mapping: &mut Mapping,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        out.push(b' ');
        let (_, text) = word(rest);
        let point = memchr::memrchr(b'.', text).unwrap_or(text.len());
        let (host, port) = text.split_at(point);
        if let Some(known) = self.known.get(host) {
            out.extend_from_slice(known);
        } else {
            let mapped = map_host(host, mapping)?;
            out.extend_from_slice(&mapped);
            self.known.insert(host.into(), mapped.into());
        }
        out.extend_from_slice(port);
        Ok(())
    }

    /// The keys and values, and the trailer.
    fn body(
        &mut self,
        line: &Line,
        mut rest: &[u8],
        mapping: &mut Mapping,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        loop {
            let (gap, key) = word(&mut rest);
            if key.is_empty() || trailer::begins(key, line.direction) {
                return finish(key, gap, rest, out);
            }
            if trailer::is_mark(key) || key == b"SHORT" {
                space(gap, out);
                mark(key, out)?;
                continue;
            }
            if key[0] == b'"' && matches!(line.procedure, Procedure::Other(_)) {
                // MOUNT's path has no key
                if !mapping.settings.omit.names {
                    space(gap, out);
                    self.value(Value::Name, key, mapping, out)?;
                }
                continue;
            }
            let kind = kind(line, key).ok_or(Stop::Damage("unknown-field"))?;
            let omit = mapping.settings.omit;
            let omitted = match kind {
                Value::Name => omit.names,
                Value::User => omit.users,
                Value::Group => omit.groups,
                _ => false,
            };
            if omitted {
                word(&mut rest);
                continue;
            }
            space(gap, out);
            out.extend_from_slice(key);
            let (gap, value) = word(&mut rest);
            space(gap, out);
            self.value(kind, value, mapping, out)?;
        }
    }

    fn value(
        &mut self,
        kind: Value,
        value: &[u8],
        mapping: &mut Mapping,
        out: &mut Vec<u8>,
    ) -> Result<(), Stop> {
        match kind {
            Value::Plain if is_plain(value) => out.extend_from_slice(value),
            Value::Plain => return Err(Stop::Damage("bad-number")),
            Value::User | Value::Group => {
                let id = hex(value).and_then(|id| u32::try_from(id).ok());
                let id = id.ok_or(Stop::Damage("bad-number"))?;
                let user = matches!(kind, Value::User);
                let id = if user { mapping.user(id)? } else { mapping.group(id)? };
                quote::number(id, 1, out);
            }
            Value::Name | Value::Handle => {
                let is_quoted = value.first() == Some(&b'"');
                self.plain.clear();
                self.mapped.clear();
                let read = if is_quoted { quote::unquote } else { quote::unhex };
                if !read(value, &mut self.plain) {
                    return Err(Stop::Damage("bad-name"));
                }
                match kind {
                    Value::Name => mapping.name(&self.plain, &mut self.mapped)?,
                    _ if !mapping.settings.handles => self.mapped.extend_from_slice(&self.plain),
                    _ => mapping.handle(&self.plain, &mut self.mapped)?,
                }
                if is_quoted {
                    quote::quote(&self.mapped, false, out);
                } else {
                    self.mapped.iter().for_each(|byte| quote::hex(*byte, out));
                }
            }
        }
        Ok(())
    }
}

/// Copies the next word, which the decoder has understood, after one space unless it is the first.
fn copy<'a>(rest: &mut &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let first = out.is_empty() || out.ends_with(b"\n");
    let (_, text) = word(rest);
    space(usize::from(!first), out);
    out.extend_from_slice(text);
    text
}

/// Takes the next word off a line, and returns the number of spaces before it, too.
fn word<'a>(rest: &mut &'a [u8]) -> (usize, &'a [u8]) {
    let start = rest.iter().position(|byte| *byte != b' ').unwrap_or(rest.len());
    let text = &rest[start..];
    let end = memchr::memchr(b' ', text).unwrap_or(text.len());
    *rest = &text[end..];
    (start, &text[..end])
}

fn space(count: usize, out: &mut Vec<u8>) {
    out.resize(out.len() + count, b' ');
}

/// The kind of a key's value; none for an unknown key.
fn kind(line: &Line, key: &[u8]) -> Option<Value> {
    let known = !matches!(line.procedure, Procedure::Other(_) | Procedure::Nfs(Op::Null, _));
    let base = match memchr::memrchr(b'-', key) {
        Some(dash) if line.direction == Direction::Reply && !key.starts_with(b"pre-") => {
            let (base, index) = (&key[..dash], &key[dash + 1..]);
            if !index.iter().all(u8::is_ascii_digit) {
                return None;
            }
            base
        }
        _ => key,
    };
    match base {
        b"name" | b"name2" | b"fn" | b"fn2" | b"sdata" => Some(Value::Name),
        b"uid" | b"euid" => Some(Value::User),
        b"gid" | b"egid" => Some(Value::Group),
        b"fh" | b"fh2" | b"file" => Some(Value::Handle),
        _ => known.then_some(Value::Plain), // the decoder has understood the key
    }
}

/// Whether a value cannot hold a name: a number, a time, or a code for one.
fn is_plain(value: &[u8]) -> bool {
    hex(value).is_some() || time(value).is_some() || matches!(value, b"SERVER" | [b'A'..=b'Z'])
}

/// A comment on a packet's size.
fn mark(text: &[u8], out: &mut Vec<u8>) -> Result<(), Stop> {
    let number = text.strip_prefix(b"LONGPKT").unwrap_or_default();
    if !number.iter().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'-' | b'=')) {
        return Err(Stop::Damage("unknown-field"));
    }
    out.extend_from_slice(text);
    Ok(())
}

/// The trailer, whose first word the decoder has not checked.
fn finish(first: &[u8], gap: usize, mut rest: &[u8], out: &mut Vec<u8>) -> Result<(), Stop> {
    let word_of = first.strip_prefix(b"PACKET").unwrap_or(first);
    let value = match memchr::memchr(b'=', word_of) {
        Some(equals) => &word_of[equals + 1..],
        None => b"",
    };
    let number = value.strip_prefix(b"-").unwrap_or(value);
    if !(value.is_empty() || value == b"XXX" || hex(number).is_some()) {
        return Err(Stop::Damage("trailing-text"));
    }
    space(gap, out);
    out.extend_from_slice(first);
    loop {
        let (gap, text) = word(&mut rest);
        if text.is_empty() {
            return Ok(());
        }
        space(gap, out);
        if trailer::is_mark(text) {
            mark(text, out)?;
        } else {
            out.extend_from_slice(text); // the decoder has understood it
        }
    }
}

fn map_host(host: &[u8], mapping: &mut Mapping) -> Result<Vec<u8>, Stop> {
    if host.len() != 8 {
        return Ok(mapping.host(host)?.into_bytes());
    }
    let number = hex(host).and_then(|host| u32::try_from(host).ok());
    let number = number.ok_or(Stop::Damage("bad-address"))?;
    let mapped = mapping.host(Ipv4Addr::from(number).to_string().as_bytes())?;
    let mut out = Vec::new();
    match mapped.parse() {
        Ok(IpAddr::V4(address)) => quote::number(u32::from(address), 8, &mut out),
        _ => out.extend_from_slice(mapping::NO_HOST.as_bytes()),
    }
    Ok(out)
}
