//! The arguments of every operation.

use super::fattr;
use super::item::{Item, Item::*};
use super::shapes::*;
use crate::schema::Column::*;

/// A range of bytes.
const RANGE: Item = All(&[Long(Offset), Long(Length)]);

/// Attributes to compare with, not stored.
const COMPARED: &[Item] = &[Map(AskedAttributes), SkipBytes];

const READDIR: &[Item] =
    &[Long(Cookie), Fixed(CookieVerifier, 8), Word(Count), Word(MaxCount), Map(AskedAttributes)];

const CREATE: &[Item] = &[
    StoredUnion(
        SetFtype,
        &[
            (3, &[Word(SetRdevMajor), Word(SetRdevMinor)]),
            (4, &[Word(SetRdevMajor), Word(SetRdevMinor)]),
            (5, &[Bytes(Target)]),
            (super::item::ELSE, &[]),
        ],
    ),
    Bytes(Name),
    Other(fattr::settable),
];

const LOCK: &[Item] = &[
    Word(LockType),
    Skip(4),
    RANGE,
    Union(&[(0, &[STATEID, Word(Sequence)]), (1, &[Skip(4), STATEID, Word(Sequence), OWNER])]),
];

const OPEN: &[Item] = &[
    Word(Sequence),
    Word(ShareAccess),
    Word(ShareDeny),
    OWNER,
    Union(&[(0, &[]), (1, &[CREATE_HOW])]),
    StoredUnion(
        OpenClaim,
        &[
            (0, &[Bytes(Name)]),
            (1, &[Skip(4)]),
            (2, &[STATEID, Bytes(Name)]),
            (3, &[Bytes(Name)]),
            (4, &[]),
            (5, &[STATEID]),
            (6, &[]),
        ],
    ),
];

/// `createhow4`: unchecked, guarded, exclusive, and exclusive with attributes.
const CREATE_HOW: Item = StoredUnion(
    How,
    &[
        (0, &[Other(fattr::settable)]),
        (1, &[Other(fattr::settable)]),
        (2, &[Fixed(CreateVerifier, 8)]),
        (3, &[Fixed(CreateVerifier, 8), Other(fattr::settable)]),
    ],
);

const SETCLIENTID: &[Item] = &[SKIP_VERIFIER, Bytes(StateOwner), Skip(4), ADDRESS, Skip(4)];

/// For a protection by a secret: operations, algorithms, window, contexts.
const EXCHANGE_ID: &[Item] = &[
    SKIP_VERIFIER,
    Bytes(StateOwner),
    Skip(4),
    Union(&[
        (0, &[]),
        (1, &[PROTECTED]),
        (2, &[PROTECTED, Many(&[SkipBytes]), Many(&[SkipBytes]), Skip(8)]),
    ]),
    IMPLEMENTATION,
];

const CREATE_SESSION: &[Item] =
    &[Long(ClientId), Word(Sequence), Skip(4), CHANNEL, CHANNEL, Skip(4), CALLBACK_SECURITY];

const GET_DIR_DELEGATION: &[Item] = &[Skip(4), WORDS, SKIP_TIME, SKIP_TIME, WORDS, WORDS];

const LAYOUTCOMMIT: &[Item] =
    &[RANGE, Skip(4), STATEID, Many(&[Long(LastOffset)]), Many(&[SKIP_TIME]), TYPED];

const LAYOUTGET: &[Item] =
    &[Skip(4), Word(LayoutType), Word(LayoutMode), RANGE, Skip(8), STATEID, Word(MaxCount)];

const LAYOUTRETURN: &[Item] = &[
    Skip(4),
    Word(LayoutType),
    Word(LayoutMode),
    Union(&[(1, &[RANGE, STATEID, SkipBytes]), (super::item::ELSE, &[])]),
];

/// The first of the two states and of the two offsets is the source's.
const CLONE: &[Item] = &[SKIP_STATEID, STATEID, Long(Offset2), Long(Offset), Long(Length)];

const COPY: &[Item] = &[All(CLONE), Skip(8), Many(&[LOCATION])];

const LAYOUTSTATS: &[Item] = &[RANGE, STATEID, Skip(32), SKIP_STATEID, TYPED];

const WRITE_SAME: &[Item] =
    &[STATEID, Choice(Stable, 2), Long(Offset), Skip(16), Skip(8), Skip(4), Skip(8), SkipBytes];

/// The arguments of the operation with that number, if there is one.
pub fn arguments(opcode: u32) -> Option<&'static [Item]> {
    Some(match opcode {
        3 => &[Word(Access)],
        4 => &[Word(Sequence), STATEID],
        5 => &[Long(Offset), Word(Count)],
        6 => CREATE,
        7 | 30 | 57 => &[Long(ClientId)], // DELEGPURGE, RENEW, DESTROY_CLIENTID
        8 | 45 | 66 | 67 => &[STATEID],   // DELEGRETURN, FREE_STATEID, OFFLOAD_*
        9 => &[Map(AskedAttributes)],
        // GETFH, LOOKUPP, PUTPUBFH, PUTROOTFH, READLINK, RESTOREFH, SAVEFH, ILLEGAL
        10 | 16 | 23 | 24 | 27 | 31 | 32 | 10_044 => &[],
        11 | 15 | 28 | 33 => &[Bytes(Name)], // LINK, LOOKUP, REMOVE, SECINFO
        12 => LOCK,
        13 => &[Word(LockType), RANGE, OWNER],
        14 => &[Word(LockType), Word(Sequence), STATEID, RANGE],
        17 | 37 => COMPARED, // NVERIFY, VERIFY
        18 => OPEN,
        19 | 52 | 58 => &[Skip(4)], // OPENATTR, SECINFO_NO_NAME, RECLAIM_COMPLETE
        20 => &[STATEID, Word(Sequence)],
        21 => &[STATEID, Word(Sequence), Word(ShareAccess), Word(ShareDeny)],
        22 => &[Handle(Fh)],
        25 | 68 => &[STATEID, Long(Offset), Word(Count)], // READ, READ_PLUS
        26 => READDIR,
        29 => &[Bytes(Name), Bytes(Name2)],
        34 => &[STATEID, Other(fattr::settable)],
        35 => SETCLIENTID,
        36 => &[Long(ClientId), SKIP_VERIFIER],
        38 => &[STATEID, Long(Offset), Choice(Stable, 2), Data(Count)],
        39 => &[OWNER],
        40 => &[Skip(4), CALLBACK_SECURITY],
        41 => &[Fixed(Session, 16), Skip(8)],
        42 => EXCHANGE_ID,
        43 => CREATE_SESSION,
        44 => &[Fixed(Session, 16)],
        46 => GET_DIR_DELEGATION,
        47 => &[SKIP_STATEID, Word(LayoutType), Word(MaxCount), WORDS],
        48 => &[Word(LayoutType), Skip(4), Long(Cookie), Fixed(CookieVerifier, 8)],
        49 => LAYOUTCOMMIT,
        50 => LAYOUTGET,
        51 => LAYOUTRETURN,
        53 => &[Fixed(Session, 16), Word(Sequence), Word(SlotNumber), Skip(8)],
        54 => &[SkipBytes, SkipBytes],
        55 => &[Many(&[SKIP_STATEID])],
        56 => &[Skip(4), Union(&[(1, &[Skip(4)]), (4, &[]), (6, &[])])],
        59 | 62 => &[STATEID, RANGE], // ALLOCATE, DEALLOCATE
        60 => COPY,
        61 => &[STATEID, LOCATION],
        63 => &[STATEID, RANGE, WORDS],
        64 => &[RANGE, STATEID, Many(&[Skip(24)])],
        65 => LAYOUTSTATS,
        69 => &[STATEID, Long(Offset), Skip(4)],
        70 => WRITE_SAME,
        71 => CLONE,
        72 | 75 => &[Bytes(Xattr)], // GETXATTR, REMOVEXATTR
        73 => &[Skip(4), Bytes(Xattr), Data(Count)],
        74 => &[Long(Cookie), Word(MaxCount)],
        _ => return None,
    })
}
