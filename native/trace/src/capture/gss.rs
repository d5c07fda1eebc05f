//! Bodies protected by RPCSEC_GSS (RFC 2203): signed ones are readable, encrypted ones are not.

use super::xdr::{Decoded, Fault, Xdr};
use crate::message::CallKey;
use hashbrown::HashMap;

/// `rpc_gss_proc_t`: a call with arguments; the others set up or end a security context.
const DATA: u32 = 0;
/// `rpc_gss_service_t`: the arguments as they are.
const NONE: u32 = 1;
/// `rpc_gss_service_t`: the arguments with a checksum.
const INTEGRITY: u32 = 2;
/// `rpc_gss_service_t`: the arguments encrypted.
const PRIVACY: u32 = 3;

/// The most calls with protected bodies remembered in each of two generations.
const REMEMBERED: usize = 32_768;

/// The protection of a call's arguments and its reply's results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protection {
    /// As they are.
    #[default]
    None,
    /// Signed: plain after a length and a sequence number, with a checksum (krb5i).
    Integrity,
    /// Encrypted (krb5p).
    Privacy,
    /// A step in the setup or end of a security context, without arguments.
    Control,
}

/// Reads `rpc_gss_cred_t` (RFC 2203 section 5) up to its service.
pub fn credential(x: &mut Xdr) -> Decoded<Protection> {
    let (_version, procedure, _sequence, service) = (x.u32()?, x.u32()?, x.u32()?, x.u32()?);
    Ok(match (procedure, service) {
        (DATA, NONE) => Protection::None,
        (DATA, INTEGRITY) => Protection::Integrity,
        (DATA, PRIVACY) => Protection::Privacy,
        (DATA, _) => return Err(Fault::Bad("a service of RPCSEC_GSS, 1 to 3")),
        _ => Protection::Control,
    })
}

/// The body in `rpc_gss_integ_data` (RFC 2203 section 5.3.2.2), after its sequence number, and
/// whether it is complete. Its checksum is not verified.
pub fn signed<'a>(x: &mut Xdr<'a>) -> Decoded<(Xdr<'a>, bool)> {
    let (mut body, whole) = x.within()?;
    body.u32()?;
    Ok((body, whole))
}

/// The calls with protected bodies: their replies do not say so.
#[derive(Default)]
pub struct ProtectedCalls([HashMap<CallKey, Protection>; 2]);

impl ProtectedCalls {
    /// Remembers a call's protection.
    pub fn remember(&mut self, key: CallKey, protection: Protection) {
        let [recent, earlier] = &mut self.0;
        if protection == Protection::None {
            recent.remove(&key);
            earlier.remove(&key);
            return;
        }
        if recent.len() >= REMEMBERED {
            std::mem::swap(recent, earlier);
            recent.clear();
        }
        recent.insert(key, protection);
    }

    /// The protection of a call.
    pub fn protection(&self, key: &CallKey) -> Protection {
        self.0.iter().find_map(|calls| calls.get(key)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn a_credential_says_how_the_body_is_protected() {
        // RFC 2203 section 5.3.1: service 1 is none, 2 integrity, 3 privacy; procedure 1 is INIT
        let read =
            |procedure, service| credential(&mut Xdr::new(&words(&[1, procedure, 1, service])));
        assert_eq!(read(0, 1), Ok(Protection::None));
        assert_eq!(read(0, 2), Ok(Protection::Integrity));
        assert_eq!(read(0, 3), Ok(Protection::Privacy));
        assert!(matches!(read(0, 4), Err(Fault::Bad(_))));
        assert_eq!([1, 2, 3].map(|step| read(step, 2)), [Ok(Protection::Control); 3]);
    }

    #[test]
    fn a_signed_body_begins_behind_its_sequence_number() {
        let message = words(&[8, 77, 5, 28]);
        let (body, whole) = signed(&mut Xdr::new(&message)).unwrap();
        assert_eq!((body.rest(), whole), (&words(&[5])[..], true));
        let (body, whole) = signed(&mut Xdr::new(&message[..10])).unwrap();
        assert_eq!((body.rest(), whole), (&message[8..10], false));
    }

    #[test]
    fn the_latest_call_with_a_key_counts_and_memory_is_bounded() {
        use crate::message::Endpoint;
        let end = Endpoint { host: 0, port: 1 };
        let key = |xid| CallKey { client: end, server: end, xid };
        let mut calls = ProtectedCalls::default();
        calls.remember(key(1), Protection::None);
        assert!(calls.0.iter().all(HashMap::is_empty));
        calls.remember(key(1), Protection::Integrity);
        assert_eq!(calls.protection(&key(1)), Protection::Integrity);
        calls.remember(key(1), Protection::None); // the XID is used again
        assert_eq!(calls.protection(&key(1)), Protection::None);
        for xid in 0..3 * REMEMBERED as u32 {
            calls.remember(key(xid), Protection::Privacy);
        }
        assert!(calls.0.iter().all(|calls| calls.len() <= REMEMBERED));
    }
}
