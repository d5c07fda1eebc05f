//! The head of a line: time, hosts, transport, direction and version, XID, procedure, status.

use super::value::{digits, number, time, Fraction};
use super::words::{procedure_name, Direction};
use super::Damage;
use crate::form::Form;
use crate::message::{CallKey, Endpoint, Envelope, Interner, Procedure, Transport};
use crate::schema::Op;
use hashbrown::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};

/// MOUNT, whose calls nfsdump prints among those of NFS.
const MOUNT: u32 = 100_005;

/// The program of calls that nfsdump could not name.
const UNKNOWN: u32 = 0;

/// The head of a line, and what follows it.
#[derive(Debug)]
pub struct Line<'a> {
    /// Call or reply.
    pub direction: Direction,
    /// Its envelope.
    pub envelope: Envelope,
    /// The procedure called or answered.
    pub procedure: Procedure,
    /// A reply's status; `None` for the null procedure, and if the packet was cut before it.
    pub status: Option<u32>,
    /// The keys and values, and the trailer.
    pub words: Words<'a>,
    /// How the head of the line was printed.
    pub form: Form,
    /// Whether the form and the values are enough to print it again.
    pub plain: bool,
}

/// The words of a line. They are separated by one space, sometimes two.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// The remaining text.
    pub rest: &'a [u8],
    /// Whether there were several spaces in one place.
    pub spaced: bool,
}

impl<'a> Words<'a> {
    /// The next word; an empty one at the end.
    #[inline]
    pub fn take(&mut self) -> &'a [u8] {
        let mut text = match self.rest {
            [b' ', tail @ ..] => tail,
            text => text,
        };
        while let [b' ', tail @ ..] = text {
            self.spaced = true;
            text = tail;
        }
        let end = space(text);
        self.rest = &text[end..];
        &text[..end]
    }
}

/// Where the first space is, or the end: eight bytes at a time, since most words are short.
#[inline]
fn space(text: &[u8]) -> usize {
    // a one in each byte
    const ONES: u64 = u64::MAX / 255;
    let mut at = 0;
    while let Some(eight) = text[at..].first_chunk::<8>() {
        // a byte is zero where a space was; the lowest such byte's top bit is the lowest set
        let other = u64::from_le_bytes(*eight) ^ (ONES * b' ' as u64);
        let zeros = other.wrapping_sub(ONES) & !other & (ONES << 7);
        if zeros != 0 {
            return at + zeros.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let tail = text[at..].iter().position(|byte| *byte == b' ');
    tail.map_or(text.len(), |tail| at + tail)
}

impl<'a> Line<'a> {
    /// Reads the head of a line.
    pub fn parse(
        text: &'a [u8],
        known: &mut Endpoints,
        hosts: &mut Interner,
    ) -> Result<Line<'a>, Damage> {
        let mut words = Words { rest: text, spaced: text.first() == Some(&b' ') };
        let stamp = words.take();
        if stamp == b"XX" {
            return Err(comment(words.rest));
        }
        let (time, fraction) =
            time(stamp).ok_or(("bad-time", "a time, seconds.microseconds, first"))?;
        let from = known.get(words.take(), hosts)?;
        let to = known.get(words.take(), hosts)?;
        let mut plain = from.1 && to.1 && matches!(fraction, Fraction::Either | Fraction::Padded);
        let transport = match words.take() {
            b"U" => Transport::Udp,
            b"T" => Transport::Tcp,
            _ => return Err(("bad-transport", "U or T as the fourth word")),
        };
        let (direction, version) = direction(words.take())?;
        let (xid, mut form) = xid(words.take(), &mut plain)?;
        let number = words.take();
        let procedure = procedure(number, words.take(), version, (&mut form, &mut plain))?;
        let (client, server) = match direction {
            Direction::Call => (from.0, to.0),
            Direction::Reply => (to.0, from.0),
        };
        let envelope = Envelope { time, key: CallKey { client, server, xid }, transport };
        let status = None;
        let mut line = Line { direction, envelope, procedure, status, words, form, plain };
        if direction == Direction::Reply {
            line.take_status()?;
        }
        Ok(line)
    }

    /// The word for the procedure among orphans.
    pub fn kind(&self) -> &'static str {
        match self.procedure {
            Procedure::Nfs(op, _) => op.word(),
            Procedure::Other(MOUNT) => "mount",
            Procedure::Other(_) => "unknown",
        }
    }

    fn take_status(&mut self) -> Result<(), Damage> {
        if matches!(self.procedure, Procedure::Other(UNKNOWN) | Procedure::Nfs(Op::Null, _)) {
            return Ok(());
        }
        let mut words = self.words;
        let status = words.take();
        if status == b"SHORT" {
            return Ok(());
        }
        let code = match status {
            b"OK" => Some((0, true)),
            code => number(code).map(|(code, plain)| (code, plain && code != 0)),
        };
        let Some((Ok(code), plain)) = code.map(|(code, plain)| (u32::try_from(code), plain)) else {
            return Err(("bad-status", "OK or an error in hexadecimal after the procedure"));
        };
        (self.status, self.words) = (Some(code), words);
        self.plain &= plain;
        Ok(())
    }
}

fn direction(word: &[u8]) -> Result<(Direction, u8), Damage> {
    match word {
        b"C2" => Ok((Direction::Call, 2)),
        b"C3" => Ok((Direction::Call, 3)),
        b"R2" => Ok((Direction::Reply, 2)),
        b"R3" => Ok((Direction::Reply, 3)),
        b"CU4" | b"RU4" | b"C4" | b"R4" => {
            Err(("nfs-version-4", "NFS version 2 or 3, which nfsdump can decode"))
        }
        _ => Err(("bad-direction", "C2, C3, R2 or R3 as the fifth word")),
    }
}

/// An XID, with or without its leading zeros.
fn xid(word: &[u8], plain: &mut bool) -> Result<(u32, Form), Damage> {
    const EXPECTED: Damage = ("bad-xid", "an XID of up to 8 hexadecimal digits as the sixth word");
    let (xid, lower) = digits(word).ok_or(EXPECTED)?;
    let padded = word[0] == b'0' && word.len() == 8;
    *plain &= lower && (word[0] != b'0' || word.len() == 1 || padded);
    let xid = u32::try_from(xid).map_err(|_| EXPECTED)?;
    Ok((xid, Form::TEXT.with(Form::PADDED_XID, padded)))
}

/// The damage for a comment of the tool or its anonymizer in place of a record.
fn comment(rest: &[u8]) -> Damage {
    if rest.starts_with(b" Not Auth_Unix") {
        ("not-auth-unix", "credentials of AUTH_UNIX, which nfsdump can decode")
    } else {
        ("funny-line", "a line that the anonymizer could read")
    }
}

/// The endpoints read last, by their text, since the same few appear on line after line; with each,
/// whether it would be printed so.
#[derive(Default)]
pub struct Endpoints {
    known: HashMap<Box<[u8]>, (Endpoint, bool)>,
    generation: u32,
}

impl Endpoints {
    // a few MB: ports change with every mount, and a long trace has many
    const MOST: usize = 1 << 16;

    #[inline]
    fn get(&mut self, text: &[u8], hosts: &mut Interner) -> Result<(Endpoint, bool), Damage> {
        if self.generation != hosts.generation() {
            self.generation = hosts.generation();
            self.known.clear();
        }
        if let Some(endpoint) = self.known.get(text) {
            return Ok(*endpoint);
        }
        let endpoint = endpoint(text, hosts)?;
        if self.known.len() >= Self::MOST {
            self.known.clear();
        }
        self.known.insert(text.into(), endpoint);
        Ok(endpoint)
    }
}

/// A host and port, `31.03f7`: the host an anonymized number, or an address of 8 hexadecimal
/// digits (32 for version 6 of IP), the port in hexadecimal.
fn endpoint(text: &[u8], hosts: &mut Interner) -> Result<(Endpoint, bool), Damage> {
    const EXPECTED: Damage = ("bad-address", "host.port, both in hexadecimal");
    let point = memchr::memrchr(b'.', text).ok_or(EXPECTED)?;
    let (host, port) = (&text[..point], &text[point + 1..]);
    let (number, lower) = digits(port).ok_or(EXPECTED)?;
    let plain = lower && port.len() == 4;
    let port = u16::try_from(number).map_err(|_| EXPECTED)?;
    if let Some((high, low)) = host.split_at_checked(16).filter(|(_, low)| low.len() == 16) {
        let ((high, first), (low, second)) =
            (digits(high).ok_or(EXPECTED)?, digits(low).ok_or(EXPECTED)?);
        let address = Ipv6Addr::from(u128::from(high) << 64 | u128::from(low));
        let endpoint = Endpoint { host: hosts.address(address.into()), port };
        return Ok((endpoint, plain && first && second));
    }
    let (number, lower) = digits(host).ok_or(EXPECTED)?;
    let number = u32::try_from(number).map_err(|_| EXPECTED)?;
    if host.len() == 8 {
        let endpoint = Endpoint { host: hosts.address(Ipv4Addr::from(number).into()), port };
        return Ok((endpoint, plain && lower));
    }
    let host = hosts.intern(std::str::from_utf8(host).map_err(|_| EXPECTED)?);
    Ok((Endpoint { host, port }, plain))
}

fn procedure(
    number: &[u8],
    name: &[u8],
    version: u8,
    (form, plain): (&mut Form, &mut bool),
) -> Result<Procedure, Damage> {
    const EXPECTED: Damage =
        ("bad-procedure", "the number and the name of one NFS procedure, seventh and eighth");
    match name {
        b"mnt" => return Ok(Procedure::Other(MOUNT)),
        b"unknown" => return Ok(Procedure::Other(UNKNOWN)),
        _ => {}
    }
    let padded = number.len() == 2 && number[0] == b'0';
    *form = form.with(Form::PADDED_PROCEDURE, padded);
    let alone = number.len() == 1 || number.first() != Some(&b'0');
    let (number, lower) = digits(number).ok_or(EXPECTED)?;
    *plain &= lower && (padded || alone);
    let number = u32::try_from(number).ok();
    let op = match version {
        2 => number.and_then(Op::from_v2),
        _ => number.and_then(Op::from_v3),
    };
    let op = op.ok_or(EXPECTED)?;
    if procedure_name(op, version).as_bytes() != name {
        return Err(EXPECTED);
    }
    Ok(Procedure::Nfs(op, version))
}
