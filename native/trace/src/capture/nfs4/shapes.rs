//! Structures that several operations share (RFC 5662, RFC 7863).

use super::item::{Item, Item::*, ELSE};
use crate::schema::Column::*;

/// `stateid4` of a call.
pub const STATEID: Item = Fixed(Stateid, 16);

/// `stateid4` of a reply.
pub const REPLY_STATEID: Item = Fixed(ReplyStateid, 16);

/// `stateid4`, not stored; `deviceid4` and `sessionid4` are as long.
pub const SKIP_STATEID: Item = Skip(16);

/// `verifier4`, not stored.
pub const SKIP_VERIFIER: Item = Skip(8);

/// `bitmap4`, `gid<>`, and other counted numbers, not stored.
pub const WORDS: Item = Many(&[Skip(4)]);

/// `open_owner4`, `lock_owner4`.
pub const OWNER: Item = All(&[Long(ClientId), Bytes(StateOwner)]);

/// `nfstime4`, not stored.
pub const SKIP_TIME: Item = Skip(12);

/// `netaddr4`, not stored.
pub const ADDRESS: Item = All(&[SkipBytes, SkipBytes]);

/// `layout_content4`, `layoutupdate4`, `device_addr4`: a type and its opaque body.
pub const TYPED: Item = All(&[Word(LayoutType), SkipBytes]);

/// `change_info4` of the directory of `name`.
pub const CHANGE: Item = All(&[Flag(DirChangeAtomic), Long(DirPreChange), Long(DirChange)]);

/// `change_info4` of the directory of `name2`.
pub const CHANGE_2: Item = All(&[Flag(Dir2ChangeAtomic), Long(Dir2PreChange), Long(Dir2Change)]);

/// `channel_attrs4`.
pub const CHANNEL: Item = All(&[Skip(24), WORDS]);

/// `callback_sec_parms4<>`: none, a user (with machine and groups), a GSS context.
pub const CALLBACK_SECURITY: Item = Many(&[Union(&[
    (0, &[]),
    (1, &[Skip(4), SkipBytes, Skip(8), WORDS]),
    (6, &[Skip(4), SkipBytes, SkipBytes]),
])]);

/// `nfs_impl_id4<1>`.
pub const IMPLEMENTATION: Item = Many(&[SkipBytes, SkipBytes, SKIP_TIME]);

/// `state_protect_ops4`.
pub const PROTECTED: Item = All(&[WORDS, WORDS]);

/// `nfsace4`.
pub const ACE: Item = All(&[Skip(12), SkipBytes]);

/// `open_read_delegation4`.
const READ_DELEGATION: &[Item] = &[SKIP_STATEID, Skip(4), ACE];

/// `open_write_delegation4`, which also has a space limit.
const WRITE_DELEGATION: &[Item] =
    &[SKIP_STATEID, Skip(4), Union(&[(1, &[Skip(8)]), (2, &[Skip(8)])]), ACE];

/// `open_delegation4`; 4 and 5 delegate attributes only (RFC 9754).
pub const DELEGATION: Item = StoredUnion(
    Delegation,
    &[
        (0, &[]),
        (1, READ_DELEGATION),
        (2, WRITE_DELEGATION),
        (3, &[Union(&[(1, &[Skip(4)]), (2, &[Skip(4)]), (ELSE, &[])])]),
        (4, READ_DELEGATION),
        (5, WRITE_DELEGATION),
    ],
);

/// `netloc4`: a name, a URL or an address.
pub const LOCATION: Item = Union(&[(1, &[SkipBytes]), (2, &[SkipBytes]), (3, &[ADDRESS])]);

/// `secinfo4<>`.
pub const SECURITY: Item = Many(&[Union(&[(6, &[SkipBytes, Skip(8)]), (ELSE, &[])])]);

/// `write_response4`.
pub const WRITTEN: Item = All(&[
    Many(&[REPLY_STATEID]),
    Long(ReplyLength),
    Choice(ReplyStable, 2),
    Fixed(ReplyVerifier, 8),
]);
