//! The words of the format, shared by reader and writer.

use crate::schema::Op;

/// Letters of access bits, in the order of the bits; `U` stands for bits unknown to early versions.
pub const ACCESS: &[u8; 7] = b"RLMEDXU";

const ESCAPED: [bool; 256] = {
    let mut escaped = [false; 256];
    let (bytes, mut at) = (b" \t\n\"\\\0", 0);
    while at < bytes.len() {
        escaped[bytes[at] as usize] = true;
        at += 1;
    }
    escaped
};

/// Call or reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From a client.
    Call,
    /// From a server.
    Reply,
}

/// Whether a byte of a name is written as `\` and two digits: a byte that would end a word, a name
/// or a line (a zero byte does, too).
#[inline]
pub fn escaped(byte: u8) -> bool {
    ESCAPED[usize::from(byte)]
}

/// The name of a procedure in nfsdump.
pub fn procedure_name(op: Op, version: u8) -> &'static str {
    match op {
        Op::Readdirplus => "readdirp",
        Op::Writecache => "wrcache",
        Op::Fsstat if version == 2 => "statfs",
        op => op.word(),
    }
}
