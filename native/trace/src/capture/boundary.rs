//! Finds where a message begins in a stream of RPC records (RFC 5531 section 11): a record mark,
//! then the header of a call or a reply.

use super::header::{is_call, is_reply, word};
use super::record::GATHERED;
use super::rpc::{CALL, REPLY, RPC_VERSION};
use memchr::memmem;

/// The bytes that identify a message: the record mark and the header up to a call's credentials.
pub const TELLING: usize = 36;

/// The bytes that identify a reply: the record mark and the shortest header of an accepted one.
const REPLY_TELLING: usize = 28;

/// The bytes of a message that identify a call.
const CALL_TELLING: usize = 20;

/// The bytes that identify a message's type: the record mark, the XID and the type.
pub const TYPE_TELLING: usize = 12;

/// The longest fragment believed: far beyond the transfer sizes of servers.
const LONGEST: u32 = 16 << 20;

/// The shortest message: a denied reply.
const SHORTEST: u32 = 20;

/// The shortest fragment that a message can begin with: an XID and a message type.
const SHORTEST_FRAGMENT: u32 = 8;

/// Bytes searched at a time, so that an early match costs no search to the end.
const STRIDE: usize = 4096;

/// The strength of the evidence that a message begins with some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The header of a call, or of a reply that is awaited or followed by a message.
    Certain,
    /// A message as far as it goes; the bytes after it decide.
    Doubtful,
    /// Contradicted.
    Refuted,
}

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

    /// Reads a mark, if the bytes begin with a plausible one.
    pub fn read(bytes: &[u8]) -> Option<Mark> {
        let word = word(bytes, 0)?;
        let mark = Mark { length: word & 0x7fff_ffff, last: word >> 31 == 1 };
        (mark.length <= LONGEST).then_some(mark)
    }
}

/// Whether a message can begin here, where one is expected: nothing contradicts it.
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

/// The evidence that a message begins here, in a stream not known to be RPC; `awaited` says whether
/// a reply to an XID is awaited.
pub fn prove(bytes: &[u8], awaited: &dyn Fn(u32) -> bool) -> Proof {
    let Some(mark) = Mark::read(bytes).filter(|_| may_begin(bytes)) else {
        return Proof::Refuted;
    };
    let end = Mark::LENGTH + mark.length as usize;
    let message = &bytes[Mark::LENGTH..bytes.len().min(end)];
    let length = if mark.last { mark.length as usize } else { usize::MAX };
    match (prove_message(message, length, awaited), bytes.get(end..).filter(|_| mark.last)) {
        (Proof::Doubtful, Some(next)) => prove_next(next),
        (proof, _) => proof,
    }
}

/// The same for a message of `length` bytes by itself, as far as it is present.
pub fn prove_message(message: &[u8], length: usize, awaited: &dyn Fn(u32) -> bool) -> Proof {
    match (word(message, 4), word(message, 8)) {
        (Some(CALL), _) if is_call(message, length) => Proof::Certain,
        // the words that would prove a call are there
        (Some(CALL), _) if message.len() >= CALL_TELLING => Proof::Refuted,
        (Some(REPLY), Some(_)) if word(message, 0).is_some_and(awaited) => Proof::Certain,
        (Some(REPLY), Some(_)) if !is_reply(message, length) => Proof::Refuted,
        (Some(CALL | REPLY) | None, _) => Proof::Doubtful,
        _ => Proof::Refuted,
    }
}

/// The evidence from the bytes after a message.
pub fn prove_next(next: &[u8]) -> Proof {
    match next.len() {
        0 => Proof::Doubtful,
        _ if !may_begin(next) => Proof::Refuted,
        TYPE_TELLING.. => Proof::Certain,
        _ => Proof::Doubtful,
    }
}

/// Finds the first place where a message begins, certainly or doubtfully; `awaited` says whether a
/// reply to an XID is awaited.
pub fn find(bytes: &[u8], awaited: &dyn Fn(u32) -> bool) -> Option<usize> {
    let mut from = 0;
    while from < bytes.len() {
        let to = bytes.len().min(from + STRIDE + TELLING);
        let window = &bytes[from..to];
        let call =
            candidates(window, &[0, 0, 0, 0, 0, 0, 0, 2]).find(|&at| call_at(&bytes[from + at..]));
        let reply = candidates(window, &[0, 0, 0, 1, 0, 0, 0])
            .find(|&at| reply_at(&bytes[from + at..], awaited));
        if let Some(at) = call.into_iter().chain(reply).min() {
            return Some(from + at);
        }
        from += STRIDE;
    }
    None
}

/// Candidate places of messages that hold `words` after their XID. An XID may look like the
/// beginning of these words, so finds may overlap.
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
    Mark::read(bytes).is_some_and(|mark| is_call(&bytes[Mark::LENGTH..], mark.length as usize))
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
    // a reply to a call not seen: the whole header must be right, and what follows the reply
    let enough = bytes.len() >= REPLY_TELLING.min(Mark::LENGTH + mark.length as usize);
    let believable = enough && mark.last && mark.length as usize <= GATHERED;
    awaited(xid) || believable && prove(bytes, &|_| false) != Proof::Refuted
}

#[cfg(test)]
mod tests {
    use super::super::rpc::NFS;
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
