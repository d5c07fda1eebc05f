//! The operations of NFS version 4, each in both directions up to where the next one begins.
//! Written down from the XDR of RFC 7531 (to 39), RFC 5662 (to 58), RFC 7863 (to 71) and RFC 8276.

use super::testing::Words;
use crate::capture::nfs4::{arguments, results};
use crate::capture::xdr::{Fault, Xdr};
use crate::fields::{Fields, Section};
use crate::schema::Column::{self, *};
use crate::schema::{EntryColumn, Op};

const PUTROOTFH: u32 = 24;
const ID: &[u8; 16] = b"sixteen bytes id";

fn w(words: &[u32]) -> Words {
    Words::of(words)
}

fn id() -> Words {
    Words::default().raw(ID)
}

/// A change, before 7 and after 8.
fn change() -> Words {
    w(&[1]).long(7).long(8)
}

fn join(parts: &[Words]) -> Words {
    parts.iter().fold(Words::default(), |all, part| all.raw(&part.0))
}

/// An attribute list with only the mode.
fn mode(mode: u32) -> Words {
    w(&[2, 0, 2, 4, mode])
}

/// An operation's arguments, and the results of its success.
fn operations() -> Vec<(u32, Words, Words)> {
    let none = Words::default;
    let name = || none().opaque(b"name");
    let range = || none().long(10).long(20);
    let owner = || none().long(99).opaque(b"owner");
    let time = || none().long(5).words(&[6]);
    let channel = || w(&[0, 1, 2, 3, 4, 5, 1, 6]);
    let callback = || w(&[3, 0, 1, 77]).opaque(b"pc").words(&[1, 2, 2, 3, 4]);
    let security = || join(&[callback(), w(&[6, 1]).opaque(b"h1").opaque(b"handle")]);
    let implementation = || w(&[1]).opaque(b"domain").opaque(b"name").long(1).words(&[2]);
    let map = || w(&[2, 1, 2]);
    let ace = || w(&[0, 0, 1]).opaque(b"EVERYONE@");
    let typed = || w(&[1]).opaque(b"what only that type knows");
    let address = || none().opaque(b"tcp").opaque(b"10.0.0.1.8.1");
    let location = || join(&[w(&[3]), address()]);
    let locations = || join(&[w(&[2, 1]).opaque(b"server"), location()]);
    let protect = || join(&[w(&[1]), map(), map()]);
    let written = || join(&[w(&[1]), id(), none().long(4096), w(&[2]).raw(b"verifier")]);
    let read_delegation = || join(&[w(&[1]), id(), w(&[0]), ace()]);
    let write_delegation = || join(&[w(&[2]), id(), w(&[0, 2, 3, 4]), ace()]);
    let secret = || join(&[w(&[2]), map(), map(), w(&[1]).opaque(b"sha"), w(&[1]).opaque(b"aes")]);
    let secret_result = || join(&[w(&[2]), map(), map(), w(&[1, 2, 3, 4, 1]).opaque(b"gss")]);
    vec![
        (3, w(&[63]), w(&[63, 31])),
        (4, w(&[1]).raw(ID), id()),
        (5, none().long(10).words(&[20]), none().raw(b"verifier")),
        (6, join(&[w(&[5]).opaque(b"target"), name(), mode(0o777)]), join(&[change(), map()])),
        (6, join(&[w(&[3, 8, 1]), name(), mode(0o600)]), join(&[change(), map()])),
        (6, join(&[w(&[2]), name(), mode(0o755)]), join(&[change(), map()])),
        (7, none().long(99), none()),
        (8, id(), none()),
        (9, map(), mode(0o644)),
        (10, none(), none().opaque(b"handle")),
        (11, name(), change()),
        (12, join(&[w(&[2, 0]), range(), w(&[1, 5]), id(), w(&[6]), owner()]), id()),
        (12, join(&[w(&[1, 1]), range(), w(&[0]), id(), w(&[6])]), id()),
        (13, join(&[w(&[1]), range(), owner()]), none()),
        (14, join(&[w(&[1, 6]), id(), range()]), id()),
        (15, name(), none()),
        (16, none(), none()),
        (17, mode(0), none()),
        (18, open(w(&[0]), w(&[0]).opaque(b"name")), opened(w(&[0]))),
        (
            18,
            open(join(&[w(&[1, 0]), mode(0o644)]), w(&[0]).opaque(b"name")),
            opened(read_delegation()),
        ),
        (
            18,
            open(w(&[1, 2]).raw(b"verifier"), w(&[3]).opaque(b"name")),
            opened(write_delegation()),
        ),
        (18, open(join(&[w(&[1, 3]).raw(b"verifier"), mode(0)]), w(&[4])), opened(w(&[3, 1, 1]))),
        (18, open(w(&[0]), w(&[1, 1])), opened(w(&[3, 0]))),
        (18, open(w(&[0]), join(&[w(&[2]), id(), name()])), opened(w(&[3, 2, 0]))),
        (18, open(w(&[0]), join(&[w(&[5]), id()])), opened(w(&[0]))),
        (18, open(w(&[0]), w(&[6])), opened(w(&[0]))),
        (19, w(&[1]), none()),
        (20, id().words(&[6]), id()),
        (21, id().words(&[6, 1, 0]), id()),
        (22, none().opaque(b"handle"), none()),
        (23, none(), none()),
        (24, none(), none()),
        (25, id().long(10).words(&[20]), w(&[1]).opaque(b"data of the file")),
        (
            26,
            none().long(3).raw(b"verifier").words(&[512, 4096, 1, 2]),
            none().raw(b"verifier").words(&[0, 1]),
        ),
        (27, none(), none().opaque(b"target")),
        (28, name(), change()),
        (29, name().opaque(b"other"), join(&[change(), change()])),
        (30, none().long(99), none()),
        (31, none(), none()),
        (32, none(), none()),
        (33, name(), w(&[2, 1, 6]).opaque(b"oid").words(&[0, 1])),
        (34, join(&[id(), mode(0o600)]), map()),
        (
            35,
            join(&[none().raw(b"verifier").opaque(b"id").words(&[9]), address(), w(&[1])]),
            none().long(99).raw(b"verifier"),
        ),
        (36, none().long(99).raw(b"verifier"), none()),
        (37, mode(0), none()),
        (38, id().long(10).words(&[2]).opaque(b"data"), w(&[4, 2]).raw(b"verifier")),
        (39, owner(), none()),
        (40, join(&[w(&[9]), security()]), none()),
        (41, id().words(&[3, 0]), id().words(&[3, 0])),
        (
            42,
            join(&[none().raw(b"verifier").opaque(b"id").words(&[1]), protect(), implementation()]),
            join(&[
                none().long(99).words(&[1, 2]),
                protect(),
                none().long(1).opaque(b"major").opaque(b"scope"),
                implementation(),
            ]),
        ),
        (
            42,
            join(&[none().raw(b"verifier").opaque(b"id").words(&[1]), secret(), w(&[7, 8, 0])]),
            join(&[
                none().long(99).words(&[1, 2]),
                secret_result(),
                none().long(1).opaque(b"major").opaque(b"scope").words(&[0]),
            ]),
        ),
        (
            43,
            join(&[none().long(99).words(&[1, 2]), channel(), channel(), w(&[9]), security()]),
            join(&[id().words(&[1, 2]), channel(), channel()]),
        ),
        (44, id(), none()),
        (45, id(), none()),
        (
            46,
            join(&[w(&[0]), map(), time(), time(), map(), map()]),
            join(&[w(&[0]).raw(b"verifier"), id(), map(), map(), map()]),
        ),
        (46, join(&[w(&[0]), map(), time(), time(), map(), map()]), w(&[1, 0])),
        (47, id().words(&[1, 4096]).raw(&map().0), join(&[typed(), map()])),
        (
            48,
            w(&[1, 10]).long(3).raw(b"verifier"),
            none().long(3).raw(b"verifier").words(&[1]).raw(ID).words(&[1]),
        ),
        (
            49,
            join(&[range(), w(&[0]), id(), w(&[1]).long(29), w(&[1]), time(), typed()]),
            w(&[1]).long(30),
        ),
        (
            50,
            join(&[w(&[0, 1, 2]), range(), none().long(1), id(), w(&[4096])]),
            join(&[w(&[1]), id(), w(&[1]), range(), w(&[2]), typed()]),
        ),
        (
            51,
            join(&[w(&[0, 1, 2, 1]), range(), id(), none().opaque(b"body")]),
            join(&[w(&[1]), id()]),
        ),
        (51, w(&[0, 1, 2, 3]), w(&[0])),
        (52, w(&[0]), w(&[1, 1])),
        (53, id().words(&[1, 2, 3, 0]), id().words(&[1, 2, 3, 4, 0])),
        (54, none().opaque(b"ssv").opaque(b"digest"), none().opaque(b"digest")),
        (55, join(&[w(&[2]), id(), id()]), w(&[2, 0, 10_025])),
        (56, w(&[1, 4]), read_delegation()),
        (56, w(&[1, 1, 1]), w(&[0])),
        (57, none().long(99), none()),
        (58, w(&[0]), none()),
        (59, join(&[id(), range()]), none()),
        (
            60,
            join(&[id(), id(), range(), none().long(4096), w(&[1, 1]), locations()]),
            join(&[written(), w(&[1, 1])]),
        ),
        (61, join(&[id(), location()]), join(&[time(), id(), locations()])),
        (62, join(&[id(), range()]), none()),
        (63, join(&[id(), range(), map()]), map()),
        (64, join(&[range(), id(), w(&[1]), id(), w(&[5, 38])]), none()),
        (65, join(&[range(), id(), range(), range(), id(), typed()]), none()),
        (66, id(), none()),
        (67, id(), none().long(4096).words(&[1, 0])),
        (
            68,
            id().long(10).words(&[20]),
            join(&[w(&[1, 2, 0]).long(10).opaque(b"data!"), w(&[1]).long(16).long(15)]),
        ),
        (69, id().long(10).words(&[1]), w(&[0]).long(4096)),
        (
            70,
            join(&[
                id(),
                w(&[2]),
                none().long(1).long(2).long(3).long(4),
                w(&[5]),
                none().long(6).opaque(b"pattern"),
            ]),
            written(),
        ),
        (71, join(&[id(), id(), range(), none().long(4096)]), none()),
        (72, none().opaque(b"user.key"), none().opaque(b"value")),
        (73, w(&[0]).opaque(b"user.key").opaque(b"value"), change()),
        (
            74,
            none().long(0).words(&[4096]),
            none().long(1).words(&[1]).opaque(b"user.key").words(&[1]),
        ),
        (75, none().opaque(b"user.key"), change()),
    ]
}

/// An OPEN: its way to create, and its claim.
fn open(how: Words, claim: Words) -> Words {
    join(&[w(&[1, 3, 0]).long(99).opaque(b"owner"), how, claim])
}

/// The results of an OPEN, with a delegation.
fn opened(delegation: Words) -> Words {
    join(&[id(), change(), w(&[4, 2, 0, 2]), delegation])
}

fn asked(minor: u32, operations: &[Words]) -> Fields {
    let (head, mut f) = (w(&[0, minor, operations.len() as u32]), Fields::default());
    let words = join(&[head, join(operations)]);
    let mut x = Xdr::new(&words.0);
    assert_eq!(arguments(&mut x, &mut f), Ok(false));
    assert!(x.rest().is_empty());
    f
}

fn answered(operations: &[Words]) -> Fields {
    let (head, mut f) = (w(&[0, operations.len() as u32]), Fields::default());
    let words = join(&[head, join(operations)]);
    let mut x = Xdr::new(&words.0);
    assert_eq!(results(&mut x, &mut f), Ok(false));
    assert!(x.rest().is_empty());
    f
}

fn one(opcode: u32, arguments: Words) -> Fields {
    asked(2, &[join(&[w(&[opcode]), arguments])])
}

fn done(opcode: u32, results: Words) -> Fields {
    answered(&[join(&[w(&[opcode, 0]), results])])
}

fn has(section: Section, expected: &[(Column, u64)]) {
    for (column, value) in expected {
        assert_eq!(section.get(*column), Some(*value), "{column:?}");
    }
}

#[test]
fn every_operation_is_read_up_to_the_next_one() {
    let mut seen = Vec::new();
    for (opcode, arguments, results) in operations() {
        let call = asked(2, &[join(&[w(&[opcode]), arguments]), w(&[PUTROOTFH])]);
        let reply = answered(&[join(&[w(&[opcode, 0]), results]), w(&[PUTROOTFH, 0])]);
        for f in [call, reply] {
            assert_eq!(f.parts.len(), 2, "{opcode}");
            assert_eq!((f.parts[0].opcode, f.parts[1].op), (opcode, Op::Putrootfh));
            assert!(!f.parts.iter().any(|part| part.short), "{opcode}");
        }
        seen.push(opcode);
    }
    seen.dedup();
    assert_eq!(seen, (3..=75).collect::<Vec<_>>());
}

#[test]
fn every_operation_may_fail_with_or_without_more_to_say() {
    let denied = join(&[Words::default().long(1).long(2).words(&[1]).long(99).opaque(b"owner")]);
    let address = Words::default().opaque(b"tcp").opaque(b"10.0.0.1.8.1");
    let results = |opcode, status| match (opcode, status) {
        (12 | 13, 10_010) => denied.clone(),
        (34, _) => w(&[1, 0]),
        (35, 10_017) => address.clone(),
        (47, 10_005) | (50, 10_058) => w(&[9]),
        (60, 10_094) => w(&[1, 1]),
        _ => Words::default(),
    };
    for opcode in (3..=75).chain([10_044]) {
        for status in [10_005, 10_010, 10_017, 10_026, 10_058, 10_094] {
            let failed = join(&[w(&[opcode, status]), results(opcode, status)]);
            let f = answered(&[failed, w(&[PUTROOTFH, 0])]);
            assert_eq!(f.parts[0].status, Some(status));
            assert_eq!(f.parts[1].opcode, PUTROOTFH);
        }
    }
}

#[test]
fn an_operation_that_no_version_has_ends_what_can_be_known() {
    let words = join(&[w(&[0, 2, 3, PUTROOTFH, 76]), w(&[PUTROOTFH])]);
    let mut f = Fields::default();
    assert_eq!(arguments(&mut Xdr::new(&words.0), &mut f), Ok(true));
    assert_eq!(f.parts.len(), 2);
    assert_eq!((f.parts[1].op, f.parts[1].opcode, f.parts[1].short), (Op::Illegal, 76, true));
    // a future minor version may mean anything
    let mut f = Fields::default();
    assert_eq!(arguments(&mut Xdr::new(&w(&[0, 3, 1, PUTROOTFH]).0), &mut f), Ok(true));
    assert_eq!((f.get(MinorVersion), f.parts.len()), (Some(3), 0));
    // nor are a million operations believed
    let many = w(&[0, 0, 1_000_000, PUTROOTFH]);
    assert!(matches!(arguments(&mut Xdr::new(&many.0), &mut f), Err(Fault::Bad(_))));
}

#[test]
fn made_objects_have_the_words_of_version_3() {
    let ops: Vec<_> = [(2, vec![]), (5, vec![0]), (4, vec![1, 2]), (7, vec![])]
        .into_iter()
        .map(|(ftype, more)| {
            one(6, join(&[w(&[ftype]), w(&more), Words::default().opaque(b"n"), mode(0o700)]))
        })
        .map(|f| (f.parts[0].op, f.section(0).unwrap().get(SetMode)))
        .collect();
    let made = [Op::Mkdir, Op::Symlink, Op::Mknod, Op::Mknod];
    assert_eq!(ops, made.map(|op| (op, Some(0o700))));
}

#[test]
fn an_open_tells_how_it_creates_and_what_it_claims() {
    let create = join(&[w(&[1, 1]), w(&[1, 0x10, 8]).long(0)]); // guarded, size 0
    let f = one(18, open(create, w(&[0]).opaque(b"name")));
    let s = f.section(0).unwrap();
    has(s, &[(How, 1), (SetSize, 0), (OpenClaim, 0), (ShareAccess, 3), (ClientId, 99)]);
    assert_eq!(
        (s.get_text(Name), s.get_text(StateOwner)),
        (Some(&b"name"[..]), Some(&b"owner"[..]))
    );
    assert_eq!(s.get(SetMode), None);
    let exclusive = join(&[w(&[1, 3]).raw(b"verifier"), mode(0o640)]);
    let f = one(18, open(exclusive, w(&[0]).opaque(b"name")));
    let s = f.section(0).unwrap();
    has(s, &[(How, 3), (SetMode, 0o640)]);
    assert_eq!(s.get_text(CreateVerifier), Some(&b"verifier"[..]));
    let f = done(18, opened(join(&[w(&[1]), id(), w(&[0, 0, 0, 1]).opaque(b"x")])));
    let s = f.section(0).unwrap();
    has(
        s,
        &[(Delegation, 1), (OpenFlags, 4), (DirChangeAtomic, 1), (DirPreChange, 7), (DirChange, 8)],
    );
    assert_eq!(s.get_text(ReplyStateid), Some(&ID[..]));
    assert_eq!(s.get_text(AttributesSet), Some(&[0, 0, 0, 0, 0, 0, 0, 2][..]));
}

#[test]
fn reads_and_writes_tell_ranges_states_and_lengths() {
    let f = one(38, id().long(4096).words(&[2]).opaque(b"hello"));
    has(f.section(0).unwrap(), &[(Offset, 4096), (Count, 5), (Stable, 2)]);
    assert_eq!(f.section(0).unwrap().get_text(Stateid), Some(&ID[..]));
    let f = done(25, w(&[1]).opaque(b"hello"));
    has(f.section(0).unwrap(), &[(Eof, 1), (ReplyCount, 5)]);
    let f = done(68, join(&[w(&[0, 2, 0]).long(0).opaque(b"data"), w(&[1]).long(4).long(96)]));
    has(f.section(0).unwrap(), &[(Eof, 0), (ReplyCount, 100)]);
    let from_to = Words::default().long(1).long(2).long(3);
    let f = one(71, join(&[id(), Words::default().raw(b"the other 16 b. "), from_to]));
    has(f.section(0).unwrap(), &[(Offset2, 1), (Offset, 2), (Length, 3)]);
    assert_eq!(f.section(0).unwrap().get_text(Stateid), Some(&b"the other 16 b. "[..]));
}

/// Every attribute with a value, in order (RFC 7531, RFC 5662, RFC 7863, RFC 8275, 8276, 9754).
fn every_attribute() -> Words {
    let time = |words: Words, seconds| words.long(seconds).words(&[9_000]);
    let path = || w(&[2]).opaque(b"a").opaque(b"bc");
    let ace = || w(&[1, 0, 0, 1]).opaque(b"OWNER@");
    let location = join(&[path(), w(&[1, 1]).opaque(b"server"), path()]);
    let info = join(&[w(&[0, 60]), path(), w(&[1, 1, 5]).opaque(b"info").opaque(b"s"), path()]);
    let a0 =
        w(&[1, 7, 1, 0]).long(3).long(4).words(&[1, 1, 0]).long(81).long(82).words(&[1, 90, 0]);
    let a12 = join(&[ace(), w(&[3, 0, 1, 0, 1, 1]).opaque(b"handle").long(20).long(21).long(22)]);
    let a23 = join(&[Words::default().long(23), location, w(&[0, 1]).long(27).words(&[28, 29])]);
    let a30 = Words::default().long(30).long(1 << 40).opaque(b"text/html").words(&[0o640, 1, 35]);
    let a36 = Words::default().opaque(b"1001").opaque(b"staff@example.org");
    let a38 = a36.long(38).long(39).long(40).words(&[8, 1]).long(42).long(43).long(44).long(45);
    let a46 = time(a38.words(&[0]), 47).words(&[1]);
    let a49 = time(time(time(a46, 48), 49), 50).long(0).words(&[1]);
    let a54 = time(time(a49, 52), 53).words(&[0]).long(55);
    let a58 = join(&[time(time(a54, 56), 57), w(&[0]), ace(), w(&[0]), ace()]);
    let a61 =
        time(a58.long(60).long(60).words(&[0, 1]).opaque(b"src").opaque(b"cur").words(&[5]), 61);
    let a62 = join(&[a61, w(&[1, 1, 1]).opaque(b"hint").words(&[2, 1, 3, 65, 66]), info]);
    let a68 = a62.words(&[1, 1, 1, 1]).opaque(b"hints").long(69).words(&[1]);
    let a70 = time(a68, 69).words(&[1, 1]).long(70).long(71).words(&[0, 0, 0]).long(73);
    let a74 = a70.words(&[0o600, 0o777, 2, 1, 2, 76, 77]).long(78).words(&[79]);
    let a80 = a74.words(&[1, 2]).opaque(b"label").words(&[0o666, 0o22, 1, 0]);
    let a84 = time(time(a80, 84), 85);
    join(&[a0, a12, a23, a30, a84, w(&[1, 0, 1, 0, 1, 0, 1, 0, 1, 0])])
}

#[test]
fn every_attribute_is_read_up_to_the_next_one() {
    let map = [u32::MAX, u32::MAX, (1 << 23) - 1];
    let f = done(9, w(&[3]).words(&map).opaque(&every_attribute().0));
    let s = f.section(0).unwrap();
    assert_eq!(s.get(Short), None);
    has(s, &[(Ftype, 1), (Change, 3), (Size, 4), (Fsid, 81), (FsidMinor, 82), (FsLeaseTime, 90)]);
    has(s, &[(Fileid, 20), (FsTotalFiles, 23), (FsMaxFileSize, 27), (FsNameMax, 29)]);
    has(s, &[(FsReadMax, 30), (FsWriteMax, u32::MAX.into()), (Mode, 0o640), (Nlink, 35)]);
    has(s, &[(Owner, 1001), (RdevMajor, 8), (FsAvailableBytes, 42), (Used, 45)]);
    has(s, &[(Atime, 47_000_009), (Btime, 50_000_009), (Ctime, 52_000_009), (Mtime, 53_000_009)]);
    has(s, &[(FsTimeDelta, 1), (MountedFileid, 55)]);
    assert_eq!(s.get_text(GroupName), Some(&b"staff@example.org"[..]));
    assert_eq!((s.get(Group), s.get_text(OwnerName)), (None, None));
    assert_eq!(s.get_text(NewFh), Some(&b"handle"[..]));
}

#[test]
fn an_attribute_that_no_version_has_makes_its_operation_short() {
    let values = Words::default().long(4).words(&[1, 2, 3]);
    let unknown = w(&[9, 0, 3, 0x10, 0, 1 << 23]).opaque(&values.0);
    let f = answered(&[unknown, w(&[PUTROOTFH, 0])]);
    has(f.section(0).unwrap(), &[(Size, 4), (Short, 1)]);
    assert_eq!(f.parts[1].op, Op::Putrootfh);
    assert_eq!(f.section(1).unwrap().get(Short), None);
    // values that end too early make no sense
    let mut x = Words::of(&[0, 1, 9, 0, 1, 0x10, 4, 7]);
    x = x.words(&[PUTROOTFH, 0]);
    let read = results(&mut Xdr::new(&x.0), &mut Fields::default());
    assert!(matches!(read, Err(Fault::Bad(_))), "{read:?}");
}

#[test]
fn a_setattr_has_version_3s_columns() {
    // size, mode, owner, group, and both times: the server's, and the client's
    let map = [0x10, 1 << 1 | 1 << 4 | 1 << 5 | 1 << 16 | 1 << 22];
    let values = Words::default().long(9).words(&[0o600]).opaque(b"1001").opaque(b"staff@x");
    let values = values.words(&[0, 1]).long(7).words(&[8_000]);
    let f = one(34, join(&[id(), w(&[2]).words(&map).opaque(&values.0)]));
    let s = f.section(0).unwrap();
    has(s, &[(SetSize, 9), (SetMode, 0o600), (SetOwner, 1001), (SetAtimeHow, 1)]);
    has(s, &[(SetMtimeHow, 2), (SetMtime, 7_000_008)]);
    assert_eq!(s.get_text(SetGroupName), Some(&b"staff@x"[..]));
    assert_eq!((s.get(SetAtime), s.get(SetGroup), s.get(Size)), (None, None, None));
    // mode and umask (RFC 8275), behind an access control list, which has no column
    let acl = w(&[1, 0, 0, 1]).opaque(b"OWNER@").words(&[0o666, 0o27]);
    let f = one(34, join(&[id(), w(&[3, 1 << 12, 0, 1 << 17]).opaque(&acl.0)]));
    has(f.section(0).unwrap(), &[(SetMode, 0o666), (SetUmask, 0o27)]);
}

#[test]
fn a_time_that_no_calendar_has_is_left_out() {
    let values = Words::default().long(i64::MAX as u64).words(&[0]).long(u64::MAX).words(&[0]);
    let f = done(9, w(&[2, 0, 1 << 15 | 1 << 21]).opaque(&values.0));
    let s = f.section(0).unwrap();
    assert_eq!((s.get(Atime), s.get(Mtime)), (None, Some(-1_000_000_i64 as u64)));
}

#[test]
fn a_listing_gives_its_entries_with_their_attributes() {
    let entry = |cookie, name: &[u8], values: Words| {
        let head = w(&[1]).long(cookie).opaque(name).words(&[1, 1 << 19 | 1 << 4 | 2]);
        head.opaque(&values.0)
    };
    let first = entry(5, b"a", w(&[2]).long(4096).opaque(b"fh a"));
    let second = entry(6, b"\xff", w(&[1]).long(7).opaque(b"fh b"));
    let end = w(&[0, 1]);
    let f = done(26, join(&[Words::default().raw(b"verifier"), first, second, end]));
    let s = f.section(0).unwrap();
    has(s, &[(Eof, 1)]);
    let entries = s.entries.unwrap();
    assert_eq!(entries.count, 2);
    for expected in [
        (0, EntryColumn::Cookie, 5),
        (0, EntryColumn::Ftype, 2),
        (0, EntryColumn::Size, 4096),
        (1, EntryColumn::Size, 7),
    ] {
        assert!(entries.numbers.contains(&expected), "{expected:?}");
    }
    let texts: Vec<_> = entries
        .bytes
        .iter()
        .map(|&(row, column, at, len)| (row, column, f.slice(at, len)))
        .collect();
    for expected in [
        (0, EntryColumn::Name, &b"a"[..]),
        (0, EntryColumn::Fh, b"fh a"),
        (1, EntryColumn::Name, b"\xff"),
        (1, EntryColumn::Fh, b"fh b"),
    ] {
        assert!(texts.contains(&expected), "{expected:?}");
    }
    // what belongs to the entries is not the directory's
    assert_eq!((s.get(Size), s.get_text(NewFh)), (None, None));
}

#[test]
fn operations_cut_anywhere_are_short_and_keep_those_before() {
    type Reads = fn(&mut Xdr, &mut Fields) -> Result<bool, Fault>;
    for (opcode, call, reply) in operations() {
        let call = join(&[w(&[0, 2, 2, PUTROOTFH, opcode]), call]).0;
        let reply = join(&[w(&[0, 2, PUTROOTFH, 0, opcode, 0]), reply]).0;
        for (message, reads) in [(call, arguments as Reads), (reply, results as Reads)] {
            for end in 0..message.len() {
                let mut f = Fields::default();
                let read = reads(&mut Xdr::new(&message[..end]), &mut f);
                // file data need not be there, nor padding at the very end
                let enough = [25, 38, 68, 72, 73].contains(&opcode) || message.len() - end < 4;
                assert!(read == Err(Fault::Short) || enough && read == Ok(false), "{opcode} {end}");
                assert!(end < 20 || f.parts[0].opcode == PUTROOTFH);
                assert!(f.parts.iter().skip(1).all(|part| part.short || read.is_ok()));
            }
        }
    }
}
