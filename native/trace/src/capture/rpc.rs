//! RPC headers (RFC 5531): credentials, verifiers, refusals.

use super::gss::{self, Protection};
use super::xdr::{Decoded, Fault, Xdr};
use crate::fields::Fields;
use crate::message::Procedure;
use crate::schema::{Column, Op};

/// The version of RPC itself.
pub const RPC_VERSION: u32 = 2;
/// `msg_type`: a call.
pub const CALL: u32 = 0;
/// `msg_type`: a reply.
pub const REPLY: u32 = 1;
/// The NFS program.
pub const NFS: u32 = 100_003;
/// The longest credential or verifier.
pub const AUTH_BYTES: u32 = 400;

/// `accept_stat`: the server has the program in other versions.
pub const PROG_MISMATCH: u32 = 2;
/// `reply_stat`: the server rejected the call before running it.
const DENIED: u32 = 1;
/// `reject_stat`: for the caller's credentials.
const AUTH_ERROR: u32 = 1;

/// Credentials that name the caller by numbers.
pub const AUTH_UNIX: u32 = 1;
/// Credentials by Kerberos or the like (RFC 2203), whose calls may be protected.
const RPCSEC_GSS: u32 = 6;

/// Added to a refusal's `accept_stat` to make a status, beyond every NFS status.
pub const REFUSED: u32 = 65_536;
/// Added to [`REFUSED`] and the `auth_stat` for a denied call: 0 for a wrong version of RPC, else
/// the authentication's fault.
pub const DENIAL: u32 = 256;

/// The fixed part of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Program, version and procedure number.
    pub program: u32,
    /// The program's version.
    pub version: u32,
    /// The procedure's number in it.
    pub procedure: u32,
}

impl Call {
    /// Reads what follows the XID and the message type.
    pub fn read(x: &mut Xdr) -> Decoded<Call> {
        if x.u32()? != RPC_VERSION {
            return Err(Fault::Bad("RPC version 2"));
        }
        Ok(Call { program: x.u32()?, version: x.u32()?, procedure: x.u32()? })
    }

    /// The procedure. Procedures that NFS does not have, and its versions other than 2 to 4, count
    /// as another program's.
    pub fn procedure(&self) -> Procedure {
        let op = match (self.program, self.version) {
            (NFS, 2) => Op::from_v2(self.procedure),
            (NFS, 3) => Op::from_v3(self.procedure),
            (NFS, 4) => match self.procedure {
                0 => Some(Op::Null),
                1 => Some(Op::Compound),
                _ => None,
            },
            _ => None,
        };
        match op {
            Some(op) => Procedure::Nfs(op, self.version as u8),
            None => Procedure::Other(self.program),
        }
    }
}

/// Reads a call's credentials and verifier; the caller goes to the fields.
pub fn credentials(x: &mut Xdr, f: &mut Fields) -> Decoded<Protection> {
    let flavour = x.u32()?;
    let mut credential = Xdr::new(x.opaque(AUTH_BYTES, "credentials of at most 400 bytes")?);
    let protection = match flavour {
        AUTH_UNIX => {
            unix(&mut credential, f).map_err(|_| Fault::Bad("AUTH_UNIX credentials"))?;
            Protection::None
        }
        RPCSEC_GSS => {
            gss::credential(&mut credential).map_err(|_| Fault::Bad("RPCSEC_GSS credentials"))?
        }
        _ => Protection::None,
    };
    verifier(x)?;
    Ok(protection)
}

/// `authsys_parms` (RFC 5531 appendix A).
fn unix(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    x.u32()?; // an arbitrary stamp
    let machine = x.opaque(255, "a machine's name")?;
    let (uid, gid, count) = (x.u32()?, x.u32()?, x.u32()?);
    let mut gids = Vec::with_capacity(x.rest().len().min(4 * count as usize) / 4);
    for _ in 0..count {
        gids.push(x.u32()?);
    }
    f.text(Column::Machine, machine);
    f.number(Column::Uid, uid.into());
    f.number(Column::Gid, gid.into());
    f.gids = Some(gids);
    Ok(())
}

fn verifier(x: &mut Xdr) -> Decoded<()> {
    x.u32()?;
    x.opaque(AUTH_BYTES, "a verifier of at most 400 bytes")?;
    Ok(())
}

/// Reads the refusal after a reply's XID and message type: `None` if the call was executed, so that
/// results follow, else the refusal as a status.
pub fn refusal(x: &mut Xdr) -> Decoded<Option<u32>> {
    if x.choice(DENIED, "an accepted or a denied reply")? == DENIED {
        let denied = match x.choice(AUTH_ERROR, "a reason for denial, 0 or 1")? {
            AUTH_ERROR => x.u32()?.min(DENIAL),
            _ => 0,
        };
        return Ok(Some(REFUSED + DENIAL + denied));
    }
    verifier(x)?;
    match x.choice(5, "an acceptance from 0 to 5")? {
        0 => Ok(None),
        accept => Ok(Some(REFUSED + accept)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn auth_unix_tells_the_caller_its_groups_and_its_machine() {
        let mut bytes = words(&[AUTH_UNIX, 32, 7, 2]);
        bytes.extend(b"pc\0\0");
        bytes.extend(words(&[1001, 100, 2, 5, 6, 0, 0, 99]));
        let (mut x, mut f) = (Xdr::new(&bytes), Fields::default());
        assert_eq!(credentials(&mut x, &mut f), Ok(Protection::None));
        assert_eq!(f.get_text(Column::Machine), Some(&b"pc"[..]));
        assert_eq!((f.get(Column::Uid), f.get(Column::Gid)), (Some(1001), Some(100)));
        assert_eq!(f.gids, Some(vec![5, 6]));
        assert_eq!(x.rest(), words(&[99]));
    }

    #[test]
    fn refusals_become_statuses_beyond_those_of_nfs() {
        assert_eq!(refusal(&mut Xdr::new(&words(&[0, 0, 0, 0]))), Ok(None));
        assert_eq!(refusal(&mut Xdr::new(&words(&[0, 0, 0, 1]))), Ok(Some(65_537)));
        assert_eq!(refusal(&mut Xdr::new(&words(&[1, 1, 5]))), Ok(Some(65_536 + 256 + 5)));
        assert_eq!(refusal(&mut Xdr::new(&words(&[1, 0, 2, 2]))), Ok(Some(65_536 + 256)));
    }

    #[test]
    fn versions_and_procedures_that_nfs_does_not_have_are_another_programs() {
        let call = |version, procedure| Call { program: NFS, version, procedure }.procedure();
        assert_eq!(call(3, 8), Procedure::Nfs(Op::Create, 3));
        assert_eq!(call(2, 17), Procedure::Nfs(Op::Fsstat, 2));
        assert_eq!(call(4, 1), Procedure::Nfs(Op::Compound, 4));
        assert_eq!(call(3, 22), Procedure::Other(NFS));
        assert_eq!(call(5, 0), Procedure::Other(NFS));
    }
}
