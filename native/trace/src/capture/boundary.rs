//! Where a message begins in a stream of RPC records (RFC 5531 section 11): a record mark, then
//! the header of a call or a reply.

use super::rpc::{AUTH_BYTES, CALL, NFS, REPLY, RPC_VERSION};
use memchr::memmem;

/// The bytes that tell a message: the record mark and the header up to a call's credentials.
pub const TELLING: usize = 36;

/// The longest fragment believed: far beyond the transfer sizes of servers.
const LONGEST: u32 = 16 << 20;

/// The shortest message: a denied reply.
const SHORTEST: u32 = 20;

/// The shortest fragment that a message can begin with: an XID and a message type.
const SHORTEST_FRAGMENT: u32 = 8;

/// Searched at a time, so that a match near the front costs no search to the end.
const STRIDE: usize = 4096;

/// Programs up to here are assigned numbers; transient ones follow (RFC 5531 section 8.3).
const ASSIGNED: std::ops::RangeInclusive<u32> = 100_000..=0x4fff_ffff;

/// A record mark: the length of a fragment, and whether it is its record's last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The fragment's bytes.
    pub length: u32,
    /// Whether the record ends with it.
    pub last: bool,
}

impl Mark {
    /// The length of a mark itself.
    pub const LENGTH: usize = 4;

    /// Reads a mark, if the bytes begin with one that can be believed.
    pub fn read(bytes: &[u8]) -> Option<Mark> {
        let word = word(bytes, 0)?;
        let mark = Mark { length: word & 0x7fff_ffff, last: word >> 31 == 1 };
        (mark.length <= LONGEST).then_some(mark)
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_be_bytes(*word))
}

/// Whether a message can begin here, where one is expected: nothing that is there contradicts.
pub fn may_begin(bytes: &[u8]) -> bool {
    let Some(mark) = Mark::read(bytes) else {
        return false;
    };
    if mark.length < if mark.last { SHORTEST } else { SHORTEST_FRAGMENT } {
        return false;
    }
    let there = bytes.len().min(Mark::LENGTH + mark.length as usize);
    let word = |at| word(&bytes[..there], at);
    match word(8) {
        Some(CALL) => word(12).is_none_or(|version| version == RPC_VERSION),
        Some(REPLY) => word(12).is_none_or(|accepted| accepted <= 1),
        Some(_) => false,
        None => true,
    }
}

/// Finds the first place from which a message can be read, where none is expected in
/// particular. What is there must prove it; `awaited` tells an XID to which a reply is awaited.
pub fn find(bytes: &[u8], awaited: &dyn Fn(u32) -> bool) -> Option<usize> {
    let mut from = 0;
    while from < bytes.len() {
        let to = bytes.len().min(from + STRIDE + TELLING);
        let window = &bytes[from..to];
        let call = candidates(window, &[0, 0, 0, 0, 0, 0, 0, 2]).find(|&at| call_at(&window[at..]));
        let reply = candidates(window, &[0, 0, 0, 1, 0, 0, 0])
            .find(|&at| reply_at(&bytes[from + at..], awaited));
        if let Some(at) = call.into_iter().chain(reply).min() {
            return Some(from + at);
        }
        from += STRIDE;
    }
    None
}

/// Where messages would begin that hold the words behind their XID. An XID may look like the
/// beginning of these words, so that finds may overlap.
fn candidates<'a>(bytes: &'a [u8], words: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let finder = memmem::Finder::new(words);
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + finder.find(bytes.get(from..)?)?;
        from = at + 1;
        Some(at)
    })
    .filter_map(|at| at.checked_sub(8))
}

fn call_at(bytes: &[u8]) -> bool {
    let Some(mark) = Mark::read(bytes) else {
        return false;
    };
    let credentials = word(bytes, 32).unwrap_or(0);
    mark.length >= 40 && mark.length - 40 >= credentials && is_call(&bytes[Mark::LENGTH..])
}

/// Whether a message is a call, as far as it is there; the program and its version must be.
fn is_call(message: &[u8]) -> bool {
    let (Some(CALL), Some(RPC_VERSION), Some(program), Some(version)) =
        (word(message, 4), word(message, 8), word(message, 12), word(message, 16))
    else {
        return false;
    };
    ASSIGNED.contains(&program)
        && (program != NFS || (2..=4).contains(&version))
        && version <= 16
        && word(message, 20).is_none_or(|procedure| procedure <= 64)
        && word(message, 24).is_none_or(is_flavour)
        && word(message, 28).is_none_or(|length| length <= AUTH_BYTES)
}

/// Flavours of authentication: the assigned ones, and pseudo-flavours (RFC 2623).
fn is_flavour(flavour: u32) -> bool {
    flavour <= 7 || (300_000..400_000).contains(&flavour)
}

/// Whether a datagram is an RPC message: one that stands alone, without a record mark.
pub fn is_message(message: &[u8]) -> bool {
    let accepted = match (word(message, 4), word(message, 8)) {
        (Some(REPLY), Some(0)) => true,
        (Some(REPLY), Some(1)) => false,
        _ => return is_call(message),
    };
    if !accepted {
        return word(message, 12).is_some_and(|reason| reason <= 1);
    }
    word(message, 12).is_none_or(is_flavour)
        && word(message, 16).is_none_or(|length| length <= AUTH_BYTES)
}

fn reply_at(bytes: &[u8], awaited: &dyn Fn(u32) -> bool) -> bool {
    let (Some(mark), Some(xid), Some(accepted)) =
        (Mark::read(bytes), word(bytes, 4), word(bytes, 12))
    else {
        return false;
    };
    if accepted > 1 || mark.length < SHORTEST {
        return false;
    }
    if awaited(xid) {
        return true;
    }
    // a reply to a call not seen: the whole header must be right, and what follows it
    let end = Mark::LENGTH + mark.length as usize;
    accepted == 0
        && mark.last
        && word(bytes, 16) == Some(0)
        && word(bytes, 20) == Some(0)
        && word(bytes, 24) == Some(0)
        && bytes.get(end..).is_some_and(|next| next.is_empty() || may_begin(next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn a_call_is_found_behind_other_bytes() {
        let mut bytes = vec![0; 5000];
        bytes.extend(words(&[0x8000_0028, 77, CALL, 2, NFS, 3, 1, 0, 0, 0, 0]));
        assert_eq!(find(&bytes, &|_| false), Some(5000));
        assert_eq!(find(&bytes[..5000 + 24], &|_| false), Some(5000));
        assert_eq!(find(&bytes[..5000 + 20], &|_| false), None);
    }

    #[test]
    fn a_reply_is_found_whose_xid_looks_like_the_words_searched_for() {
        let reply = words(&[0x8000_001c, 1, REPLY, 0, 0, 0, 0, 2]);
        assert_eq!(find(&reply, &|xid| xid == 1), Some(0));
    }

    #[test]
    fn a_reply_is_found_by_its_xid_or_by_all_that_surrounds_it() {
        let reply = words(&[0x8000_001c, 77, REPLY, 0, 0, 0, 0, 2]);
        let longer = [&reply[..], &words(&[9])].concat();
        assert_eq!(find(&reply, &|xid| xid == 77), Some(0));
        assert_eq!(find(&longer, &|xid| xid == 77), Some(0));
        assert_eq!(find(&reply, &|_| false), Some(0));
        assert_eq!(find(&longer, &|_| false), Some(0));
        let followed_by_text = [&reply[..], b"not a message"].concat();
        assert_eq!(find(&followed_by_text, &|_| false), None);
    }

    #[test]
    fn other_protocols_do_not_look_like_messages() {
        for bytes in [
            &b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"[..],
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
            b"\0\0\0\x45\xffSMB\x72\0\0\0\0\x18\x53\xc8",
            b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        ] {
            assert!(!may_begin(bytes));
            assert_eq!(find(bytes, &|_| true), None);
        }
    }
}
