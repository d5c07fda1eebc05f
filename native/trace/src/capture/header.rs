//! Evidence that bytes are the header of an RPC message (RFC 5531 section 9), from its XID on.

use super::rpc::{AUTH_BYTES, CALL, NFS, PROG_MISMATCH, REPLY, RPC_VERSION};

/// The fewest bytes of a call, of an accepted reply, and the bytes of both kinds of denied ones.
const CALL_BYTES: usize = 40;
const ACCEPTED_BYTES: usize = 24;
const MISMATCH_BYTES: usize = 24;
const AUTH_ERROR_BYTES: usize = 20;

/// The highest assigned `auth_stat` (RFC 5531) and version of RPC.
const AUTH_STATS: u32 = 14;
const RPC_VERSIONS: u32 = 16;

/// `accept_stat`: carried out; the highest one.
const SUCCESS: u32 = 0;
const ACCEPT_STATS: u32 = 5;

/// Programs up to here are assigned numbers; transient ones follow (RFC 5531 section 8.3).
const ASSIGNED: std::ops::RangeInclusive<u32> = 100_000..=0x4fff_ffff;

/// The highest plausible versions of NFS and of other programs. (rpcinfo(8) asks for version 0 and
/// for the highest number to learn the existing ones.)
const NFS_VERSIONS: u32 = 4;
const VERSIONS: u32 = 16;

/// The big-endian word at a place.
pub fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_be_bytes(*word))
}

/// Whether a message of `length` bytes is a call, as far as it is present. The program and its
/// version must be.
pub fn is_call(message: &[u8], length: usize) -> bool {
    let (Some(CALL), Some(RPC_VERSION), Some(program), Some(version)) =
        (word(message, 4), word(message, 8), word(message, 12), word(message, 16))
    else {
        return false;
    };
    let highest = if program == NFS { NFS_VERSIONS } else { VERSIONS };
    ASSIGNED.contains(&program)
        && (version <= highest || version == u32::MAX)
        && word(message, 20).is_none_or(|procedure| procedure <= 64)
        && word(message, 24).is_none_or(is_flavour)
        && fits(word(message, 28), CALL_BYTES, length)
}

/// Whether a message of `length` bytes is a reply, as far as it is present. The acceptance status
/// must be.
pub fn is_reply(message: &[u8], length: usize) -> bool {
    match (word(message, 4), word(message, 8)) {
        (Some(REPLY), Some(0)) => is_accepted(message, length),
        (Some(REPLY), Some(1)) => is_denied(message, length),
        _ => false,
    }
}

fn is_accepted(message: &[u8], length: usize) -> bool {
    let size = word(message, 16);
    if !fits(size, ACCEPTED_BYTES, length) || !word(message, 12).is_none_or(is_flavour) {
        return false;
    }
    let verifier = size.unwrap_or(0).next_multiple_of(4) as usize;
    let rest = length.saturating_sub(ACCEPTED_BYTES + verifier);
    match word(message, 20 + verifier).filter(|_| size.is_some()) {
        None | Some(SUCCESS) => true,
        Some(PROG_MISMATCH) => rest == 8,
        Some(accept) => accept <= ACCEPT_STATS && rest == 0,
    }
}

fn is_denied(message: &[u8], length: usize) -> bool {
    let detail = word(message, 16);
    match word(message, 12) {
        Some(0) => length == MISMATCH_BYTES && detail.is_none_or(|low| low <= RPC_VERSIONS),
        Some(1) => length == AUTH_ERROR_BYTES && detail.is_none_or(|stat| stat <= AUTH_STATS),
        Some(_) => false,
        None => length == MISMATCH_BYTES || length == AUTH_ERROR_BYTES,
    }
}

/// Whether a credential or verifier of this size, if known, fits into a message that has at least
/// `least` bytes without it.
fn fits(size: Option<u32>, least: usize, length: usize) -> bool {
    let size = size.unwrap_or(0);
    size <= AUTH_BYTES && least + size.next_multiple_of(4) as usize <= length
}

/// Flavours of authentication: the assigned ones, and pseudo-flavours (RFC 2623).
fn is_flavour(flavour: u32) -> bool {
    flavour <= 7 || (300_000..400_000).contains(&flavour)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn a_reply_has_the_length_that_its_kind_has() {
        let accepted = words(&[7, 1, 0, 0, 0, 0]);
        assert!(is_reply(&accepted, 24) && is_reply(&accepted, 4000));
        for short in 0..24 {
            assert!(!is_reply(&accepted[..short], short), "{short} bytes");
        }
        // PROG_MISMATCH has two versions behind it, the other refusals nothing
        assert!(is_reply(&words(&[7, 1, 0, 0, 0, 2, 2, 4]), 32));
        assert!(!is_reply(&words(&[7, 1, 0, 0, 0, 1, 2, 4]), 32));
        assert!(!is_reply(&words(&[7, 1, 0, 0, 0, 6]), 24));
        // denied for the version of RPC, and for the credentials
        assert!(is_reply(&words(&[7, 1, 1, 0, 2, 2]), 24));
        assert!(is_reply(&words(&[7, 1, 1, 1, 13]), 20));
        assert!(!is_reply(&words(&[7, 1, 1, 1, 15]), 20));
        assert!(!is_reply(&words(&[7, 1, 1, 1, 13]), 24));
    }

    #[test]
    fn a_verifier_of_any_flavour_must_fit_into_its_reply() {
        let gss = [words(&[7, 1, 0, 6, 37]), vec![9; 40], words(&[0, 0])].concat();
        assert!(is_reply(&gss, gss.len()));
        assert!(is_reply(&gss[..18], gss.len()));
        assert!(!is_reply(&gss, 60));
        assert!(!is_reply(&words(&[7, 1, 0, 6, 401]), 4000));
        assert!(!is_reply(&words(&[7, 1, 0, 99, 8]), 4000));
    }

    #[test]
    fn a_call_names_a_program_and_has_room_for_its_credentials() {
        let call = words(&[7, 0, 2, NFS, 3, 1, 1, 24]);
        assert!(is_call(&call, 64) && is_call(&call[..20], 40));
        assert!(!is_call(&call, 60) && !is_call(&call[..20], 39) && !is_call(&call[..16], 64));
        assert!(is_call(&words(&[7, 0, 2, NFS, 0, 0, 0, 0]), 40)); // rpcinfo(8)
        assert!(!is_call(&words(&[7, 0, 2, NFS, 9, 0, 0, 0]), 40));
    }
}
