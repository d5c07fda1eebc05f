//! The head of a line: time, hosts, transport, direction and version, XID, procedure, status.

use super::value::{hex, time};
use super::Damage;
use crate::join::Procedure;
use crate::message::{CallKey, Endpoint, Envelope, Hosts, Transport};
use crate::schema::Op;
use hashbrown::HashMap;
use std::net::Ipv4Addr;

/// MOUNT, of which nfsdump prints calls among those of NFS.
const MOUNT: u32 = 100_005;

/// The program of calls that nfsdump itself could not name.
const UNKNOWN: u32 = 0;

/// Call or reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a client.
    Call,
    /// From a server.
    Reply,
}

/// The head of a line, and what follows it.
#[derive(Debug)]
pub struct Line<'a> {
    /// Call or reply.
    pub direction: Direction,
    /// When, between whom, which.
    pub envelope: Envelope,
    /// What is called or answered.
    pub procedure: Procedure,
    /// A reply's status; `None` in the null procedure, and where the packet was cut before it.
    pub status: Option<u32>,
    /// The keys and values, and the trailer.
    pub rest: &'a [u8],
}

/// Takes the next word off a line. Words are separated by one space, sometimes two.
#[inline]
pub fn word<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let mut text = *rest;
    while let [b' ', tail @ ..] = text {
        text = tail;
    }
    let end = space(text);
    *rest = &text[end..];
    &text[..end]
}

/// Where the first space is, or the end: eight bytes at a time, since most words are short.
#[inline]
fn space(text: &[u8]) -> usize {
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
        hosts: &mut Hosts,
    ) -> Result<Line<'a>, Damage> {
        let mut rest = text;
        let stamp = word(&mut rest);
        if stamp == b"XX" {
            return Err(remark(rest));
        }
        let time = time(stamp).ok_or(("bad-time", "a time, seconds.microseconds, first"))?;
        let from = known.get(word(&mut rest), hosts)?;
        let to = known.get(word(&mut rest), hosts)?;
        let transport = match word(&mut rest) {
            b"U" => Transport::Udp,
            b"T" => Transport::Tcp,
            _ => return Err(("bad-transport", "U or T as the fourth word")),
        };
        let (direction, version) = match word(&mut rest) {
            b"C2" => (Direction::Call, 2),
            b"C3" => (Direction::Call, 3),
            b"R2" => (Direction::Reply, 2),
            b"R3" => (Direction::Reply, 3),
            b"CU4" | b"RU4" | b"C4" | b"R4" => {
                return Err(("nfs-version-4", "NFS version 2 or 3, which nfsdump can decode"))
            }
            _ => return Err(("bad-direction", "C2, C3, R2 or R3 as the fifth word")),
        };
        let xid = hex(word(&mut rest)).and_then(|xid| u32::try_from(xid).ok());
        let xid =
            xid.ok_or(("bad-xid", "an XID of up to 8 hexadecimal digits as the sixth word"))?;
        let number = word(&mut rest);
        let procedure = procedure(number, word(&mut rest), version)?;
        let (client, server) = match direction {
            Direction::Call => (from, to),
            Direction::Reply => (to, from),
        };
        let envelope = Envelope { time, key: CallKey { client, server, xid }, transport };
        let mut line = Line { direction, envelope, procedure, status: None, rest };
        if direction == Direction::Reply {
            line.take_status()?;
        }
        Ok(line)
    }

    /// The word that names the procedure among orphans.
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
        let mut rest = self.rest;
        let status = word(&mut rest);
        if status == b"SHORT" {
            return Ok(());
        }
        self.status = match status {
            b"OK" => Some(0),
            code => hex(code).and_then(|code| u32::try_from(code).ok()),
        };
        self.rest = rest;
        match self.status {
            Some(_) => Ok(()),
            None => Err(("bad-status", "OK or an error in hexadecimal after the procedure")),
        }
    }
}

/// What the tool or its anonymizer says instead of a record.
fn remark(rest: &[u8]) -> Damage {
    if rest.starts_with(b" Not Auth_Unix") {
        ("not-auth-unix", "credentials of AUTH_UNIX, which nfsdump can decode")
    } else {
        ("funny-line", "a line that the anonymizer could read")
    }
}

/// The endpoints read last, by their text: the same few stand on line after line.
#[derive(Default)]
pub struct Endpoints(HashMap<Box<[u8]>, Endpoint>);

impl Endpoints {
    const MOST: usize = 1 << 16;

    #[inline]
    fn get(&mut self, text: &[u8], hosts: &mut Hosts) -> Result<Endpoint, Damage> {
        if let Some(endpoint) = self.0.get(text) {
            return Ok(*endpoint);
        }
        let endpoint = endpoint(text, hosts)?;
        if self.0.len() >= Self::MOST {
            self.0.clear();
        }
        self.0.insert(text.into(), endpoint);
        Ok(endpoint)
    }
}

/// A host and port, `31.03f7`: the host an anonymized number or an address of 8 hexadecimal
/// digits, the port in hexadecimal.
fn endpoint(text: &[u8], hosts: &mut Hosts) -> Result<Endpoint, Damage> {
    const EXPECTED: Damage = ("bad-address", "host.port, both in hexadecimal");
    let point = memchr::memrchr(b'.', text).ok_or(EXPECTED)?;
    let (host, port) = (&text[..point], &text[point + 1..]);
    let port = hex(port).and_then(|port| u16::try_from(port).ok()).ok_or(EXPECTED)?;
    let number = hex(host).and_then(|host| u32::try_from(host).ok()).ok_or(EXPECTED)?;
    let host = if host.len() == 8 {
        hosts.address(Ipv4Addr::from(number).into())
    } else {
        hosts.intern(std::str::from_utf8(host).map_err(|_| EXPECTED)?)
    };
    Ok(Endpoint { host, port })
}

fn procedure(number: &[u8], name: &[u8], version: u8) -> Result<Procedure, Damage> {
    const EXPECTED: Damage =
        ("bad-procedure", "the number and the name of one NFS procedure, seventh and eighth");
    match name {
        b"mnt" => return Ok(Procedure::Other(MOUNT)),
        b"unknown" => return Ok(Procedure::Other(UNKNOWN)),
        _ => {}
    }
    let number = hex(number).and_then(|number| u32::try_from(number).ok());
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

/// What nfsdump calls a procedure.
pub fn procedure_name(op: Op, version: u8) -> &'static str {
    match op {
        Op::Readdirplus => "readdirp",
        Op::Writecache => "wrcache",
        Op::Fsstat if version == 2 => "statfs",
        op => op.word(),
    }
}
