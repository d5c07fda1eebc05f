//! The results of every operation.

use super::fattr;
use super::item::{Item, Item::*};
use super::layout;
use super::listing;
use super::shapes::*;
use crate::schema::Column::*;

/// Statuses other than OK that have results.
const TOO_SMALL: u32 = 10_005;
const DENIED: u32 = 10_010;
const CLIENT_IN_USE: u32 = 10_017;
const TRY_LATER: u32 = 10_058;
const CANNOT_OFFLOAD: u32 = 10_094;

const EXCHANGE_ID: &[Item] = &[
    Long(ClientId),
    Word(Sequence),
    Skip(4),
    Union(&[(0, &[]), (1, &[PROTECTED]), (2, &[PROTECTED, Skip(16), Many(&[SkipBytes])])]),
    Skip(8),
    SkipBytes,
    SkipBytes,
    IMPLEMENTATION,
];

const GET_DIR_DELEGATION: &[Item] =
    &[Union(&[(0, &[SKIP_VERIFIER, REPLY_STATEID, WORDS, WORDS, WORDS]), (1, &[Skip(4)])])];

const LAYOUTS: &[Item] = &[
    Skip(4),
    REPLY_STATEID,
    Many(&[Long(ReplyOffset), Long(ReplyLength), Skip(4), Other(layout::content)]),
];

const OPEN: &[Item] = &[REPLY_STATEID, CHANGE, Word(OpenFlags), Map(AttributesSet), DELEGATION];

/// The results after a status of the operation with that number, if there are any.
pub fn results(opcode: u32, status: u32) -> Option<&'static [Item]> {
    match status {
        0 => done(opcode),
        _ => failed(opcode, status),
    }
}

fn failed(opcode: u32, status: u32) -> Option<&'static [Item]> {
    super::calls::arguments(opcode)?;
    Some(match (opcode, status) {
        (12 | 13, DENIED) => &[Skip(16), Skip(4), Skip(8), SkipBytes], // LOCK, LOCKT
        (34, _) => &[Map(AttributesSet)], // SETATTR: those set before it failed
        (35, CLIENT_IN_USE) => &[ADDRESS],
        (47, TOO_SMALL) => &[Skip(4)],
        (50, TRY_LATER) => &[Skip(4)],
        (60, CANNOT_OFFLOAD) => &[Skip(8)],
        _ => &[],
    })
}

fn done(opcode: u32) -> Option<&'static [Item]> {
    Some(match opcode {
        3 => &[Skip(4), Word(ReplyAccess)],
        4 | 12 | 14 | 20 | 21 => &[REPLY_STATEID], // CLOSE, LOCK, LOCKU, OPEN_*
        5 => &[Fixed(ReplyVerifier, 8)],
        6 => &[CHANGE, Map(AttributesSet)],
        9 => &[Other(fattr::attributes)],
        10 => &[Handle(Fh)],
        11 | 28 | 73 | 75 => &[CHANGE], // LINK, REMOVE, SETXATTR, REMOVEXATTR
        18 => OPEN,
        25 => &[Flag(Eof), Data(ReplyCount)],
        26 => &[Fixed(ReplyVerifier, 8), Other(listing::entries), Flag(Eof)],
        27 => &[Bytes(Target)],
        29 => &[CHANGE, CHANGE_2],
        33 | 52 => &[SECURITY],
        34 => &[Map(AttributesSet)],
        35 => &[Long(ClientId), SKIP_VERIFIER],
        38 => &[Word(ReplyCount), Choice(ReplyStable, 2), Fixed(ReplyVerifier, 8)],
        41 => &[Fixed(Session, 16), Skip(8)],
        42 => EXCHANGE_ID,
        43 => &[Fixed(Session, 16), Word(Sequence), Skip(4), CHANNEL, CHANNEL],
        46 => GET_DIR_DELEGATION,
        47 => &[TYPED, WORDS],
        48 => &[Skip(8), Fixed(ReplyVerifier, 8), Many(&[SKIP_STATEID]), Flag(Eof)],
        49 => &[Many(&[Long(Size)])],
        50 => LAYOUTS,
        51 => &[Many(&[REPLY_STATEID])],
        53 => &[Fixed(Session, 16), Word(Sequence), Word(SlotNumber), Skip(12)],
        54 => &[SkipBytes],
        55 => &[WORDS],
        56 => &[DELEGATION],
        60 => &[WRITTEN, Skip(8)],
        61 => &[SKIP_TIME, REPLY_STATEID, Many(&[LOCATION])],
        63 => &[WORDS],
        67 => &[Long(ReplyLength), WORDS],
        68 => &[Flag(Eof), Other(listing::contents)],
        69 => &[Flag(Eof), Long(ReplyOffset)],
        70 => &[WRITTEN],
        72 => &[Data(ReplyCount)],
        74 => &[Skip(8), Many(&[SkipBytes]), Flag(Eof)],
        _ => {
            super::calls::arguments(opcode)?;
            &[]
        }
    })
}
