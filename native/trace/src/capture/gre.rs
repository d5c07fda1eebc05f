//! GRE (RFC 2784, 2890), NVGRE (RFC 7637), PPTP's version of it (RFC 2637), and mirrored traffic in
//! it (ERSPAN, draft-foschiano-erspan).

use super::ethertype::{half, Layer, Payload};
use super::ppp;
use super::unread::Reason;

const CHECKSUM: u16 = 0x8000;
const ROUTING: u16 = 0x4000;
const KEY: u16 = 0x2000;
const SEQUENCE: u16 = 0x1000;
const ACKNOWLEDGEMENT: u16 = 0x0080;
const VERSION: u16 = 7;

const ERSPAN: u16 = 0x88be;
const ERSPAN3: u16 = 0x22eb;

const UNREAD: Layer = Layer::Unread(Reason::Tunnel);

/// The contents of a GRE packet.
pub fn payload(bytes: &[u8]) -> Payload {
    let (flags, kind) = (half(bytes, 0)?, half(bytes, 2)?);
    let has = |flag: u16| if flags & flag != 0 { 4 } else { 0 };
    if flags & VERSION == 1 {
        return ppp::payload(bytes, 8 + has(SEQUENCE) + has(ACKNOWLEDGEMENT));
    }
    if flags & (VERSION | ROUTING) != 0 {
        return Some((UNREAD, 0));
    }
    let at = 4 + has(CHECKSUM) + has(KEY) + has(SEQUENCE);
    match kind {
        // type I has no header
        ERSPAN if flags & SEQUENCE == 0 => Some((Layer::FRAME, at)),
        ERSPAN | ERSPAN3 => erspan(bytes, at),
        0 => None, // a keepalive
        _ if Layer::Type(kind).is_known() => Some((Layer::Type(kind), at)),
        _ => Some((UNREAD, at)),
    }
}

/// The layer after an ERSPAN header of type II or III, by its version.
fn erspan(bytes: &[u8], at: usize) -> Payload {
    match bytes.get(at)? >> 4 {
        1 => Some((Layer::FRAME, at + 8)),
        2 => {
            let flags = half(bytes, at + 10)?;
            let layer = match flags >> 10 & 0x1f {
                0 => Layer::FRAME,
                2 => Layer::IP,
                _ => UNREAD,
            };
            // the last bit announces the sub-header of a platform
            Some((layer, at + if flags & 1 == 1 { 20 } else { 12 }))
        }
        _ => Some((UNREAD, at)),
    }
}
