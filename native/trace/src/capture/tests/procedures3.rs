//! The procedures of NFS version 3, column by column (RFC 1813 section 3.3).

use super::testing::Words;
use crate::capture::codec::Reader;
use crate::capture::nfs3::{arguments, results};
use crate::capture::xdr::{Fault, Xdr};
use crate::fields::Fields;
use crate::schema::Column::{self, *};
use crate::schema::{EntryColumn, Op};

fn asked(op: Op, words: Words) -> Fields {
    let (mut f, mut x) = (Fields::default(), Xdr::new(&words.0));
    assert_eq!(arguments(op, &mut Reader { x: &mut x, f: &mut f }), Ok(()));
    assert!(x.rest().is_empty());
    f
}

fn answered(op: Op, ok: bool, words: Words) -> Fields {
    let (mut f, mut x) = (Fields::default(), Xdr::new(&words.0));
    assert_eq!(results(op, ok, &mut Reader { x: &mut x, f: &mut f }), Ok(()));
    assert!(x.rest().is_empty());
    f
}

fn has(f: &Fields, expected: &[(Column, u64)]) {
    for (column, value) in expected {
        assert_eq!(f.get(*column), Some(*value), "{column:?}");
    }
}

fn lacks(f: &Fields, columns: &[Column]) {
    for column in columns {
        assert_eq!((f.get(*column), f.get_text(*column)), (None, None), "{column:?}");
    }
}

fn handle(name: &[u8]) -> Words {
    Words::default().opaque(name)
}

/// `fattr3` with numbers that depend on `n`.
fn fattr(words: Words, n: u64) -> Words {
    let small = |i: u64| (n + i) as u32;
    words
        .words(&[1, small(1), small(2), small(3), small(4)])
        .long(n + 5)
        .long(n + 6)
        .words(&[small(7), small(8)])
        .long(n + 9)
        .long(n + 10)
        .words(&[small(11), 1000, small(12), 2000, small(13), 3_999])
}

/// `wcc_data` with both halves.
fn wcc(words: Words, n: u64) -> Words {
    let small = |i: u64| (n + i) as u32;
    let before = words.words(&[1]).long(n + 20).words(&[small(21), 5000, small(22), 6000, 1]);
    fattr(before, n)
}

#[test]
fn attributes_fill_every_column_of_the_object() {
    let f = answered(Op::Getattr, true, fattr(Words::default(), 100));
    let time = |seconds: u64, micros: u64| seconds * 1_000_000 + micros;
    has(&f, &[(Ftype, 1), (Mode, 101), (Nlink, 102), (Owner, 103), (Group, 104), (Size, 105)]);
    has(&f, &[(Used, 106), (RdevMajor, 107), (RdevMinor, 108), (Fsid, 109), (Fileid, 110)]);
    has(&f, &[(Atime, time(111, 1)), (Mtime, time(112, 2)), (Ctime, time(113, 3))]);
}

#[test]
fn each_way_to_create_has_its_own_arguments() {
    let named = handle(b"dir").opaque(b"new");
    // UNCHECKED with mode, owner, size, and the server's time for atime, the client's for mtime
    let settable = [0, 1, 0o644, 1, 7, 0, 1, 0, 9, 1, 2, 5, 6000];
    let f = asked(Op::Create, named.clone().words(&settable));
    assert_eq!(f.get_text(Fh), Some(&b"dir"[..]));
    assert_eq!(f.get_text(Name), Some(&b"new"[..]));
    has(&f, &[(How, 0), (SetMode, 0o644), (SetOwner, 7), (SetSize, 9)]);
    has(&f, &[(SetAtimeHow, 1), (SetMtimeHow, 2), (SetMtime, 5_000_006)]);
    lacks(&f, &[SetGroup, SetAtime, CreateVerifier]);
    // GUARDED with nothing set
    let f = asked(Op::Create, named.clone().words(&[1, 0, 0, 0, 0, 0, 0]));
    has(&f, &[(How, 1)]);
    lacks(&f, &[SetMode, SetOwner, SetGroup, SetSize, SetAtimeHow, SetMtimeHow]);
    // EXCLUSIVE: a verifier and no attributes
    let f = asked(Op::Create, named.words(&[2]).raw(b"verifier"));
    has(&f, &[(How, 2)]);
    assert_eq!(f.get_text(CreateVerifier), Some(&b"verifier"[..]));
    lacks(&f, &[SetMode]);
}

#[test]
fn a_create_answers_with_the_new_object_and_its_directory() {
    let words = wcc(fattr(Words::of(&[1]).opaque(b"new").words(&[1]), 100), 200);
    let f = answered(Op::Create, true, words);
    assert_eq!(f.get_text(NewFh), Some(&b"new"[..]));
    has(&f, &[(Mode, 101), (DirMode, 201), (DirPreSize, 220), (DirPreMtime, 221_000_005)]);
    has(&f, &[(DirPreCtime, 222_000_006), (DirFileid, 210)]);
    lacks(&f, &[PreSize]);
    // a server need not give a handle, nor attributes
    let f = answered(Op::Mkdir, true, Words::of(&[0, 0, 0, 0]));
    lacks(&f, &[NewFh, Mode, DirMode]);
}

#[test]
fn errors_carry_weak_cache_data() {
    for op in [Op::Create, Op::Mkdir, Op::Symlink, Op::Mknod, Op::Remove, Op::Rmdir] {
        let f = answered(op, false, wcc(Words::default(), 300));
        has(&f, &[(DirMode, 301), (DirPreSize, 320)]);
        lacks(&f, &[Mode, NewFh]);
    }
    for op in [Op::Setattr, Op::Write, Op::Commit] {
        let f = answered(op, false, wcc(Words::default(), 300));
        has(&f, &[(Mode, 301), (PreSize, 320)]);
    }
    for op in [Op::Access, Op::Readlink, Op::Read, Op::Readdir, Op::Readdirplus, Op::Fsstat] {
        has(&answered(op, false, fattr(Words::of(&[1]), 300)), &[(Mode, 301)]);
    }
    has(&answered(Op::Lookup, false, fattr(Words::of(&[1]), 300)), &[(DirMode, 301)]);
    lacks(&answered(Op::Getattr, false, Words::default()), &[Mode]);
}

#[test]
fn a_rename_has_two_directories() {
    let f = asked(Op::Rename, handle(b"from").opaque(b"a").opaque(b"to").opaque(b"b"));
    assert_eq!((f.get_text(Fh), f.get_text(Name)), (Some(&b"from"[..]), Some(&b"a"[..])));
    assert_eq!((f.get_text(Fh2), f.get_text(Name2)), (Some(&b"to"[..]), Some(&b"b"[..])));
    let f = answered(Op::Rename, true, wcc(wcc(Words::default(), 100), 200));
    has(&f, &[(DirMode, 101), (DirPreSize, 120), (Dir2Mode, 201), (Dir2PreSize, 220)]);
    has(&f, &[(Dir2Ctime, 213_000_003)]);
}

#[test]
fn a_link_names_its_file_first() {
    let f = asked(Op::Link, handle(b"file").opaque(b"dir").opaque(b"name"));
    assert_eq!((f.get_text(Fh), f.get_text(Fh2)), (Some(&b"file"[..]), Some(&b"dir"[..])));
    assert_eq!((f.get_text(Name), f.get_text(Name2)), (Some(&b"name"[..]), None));
    let f = answered(Op::Link, true, wcc(fattr(Words::of(&[1]), 100), 200));
    has(&f, &[(Nlink, 102), (DirNlink, 202)]);
}

#[test]
fn a_setattr_may_be_guarded() {
    let nothing = handle(b"file").words(&[0, 0, 0, 0, 0, 0]);
    let f = asked(Op::Setattr, nothing.clone().words(&[1, 7, 8000]));
    has(&f, &[(GuardCtime, 7_000_008)]);
    lacks(&asked(Op::Setattr, nothing.words(&[0])), &[GuardCtime]);
}

#[test]
fn reads_and_writes_tell_what_was_asked_and_what_was_done() {
    let f = asked(Op::Read, handle(b"file").long(1 << 40).words(&[512]));
    has(&f, &[(Offset, 1 << 40), (Count, 512)]);
    let f = answered(Op::Read, true, Words::of(&[0, 100, 1]));
    has(&f, &[(ReplyCount, 100), (Eof, 1)]);
    let f = asked(Op::Write, handle(b"file").long(4096).words(&[512, 2]));
    has(&f, &[(Offset, 4096), (Count, 512), (Stable, 2)]);
    let f = answered(Op::Write, true, Words::of(&[0, 0, 512, 1]).raw(b"verifier"));
    has(&f, &[(ReplyCount, 512), (ReplyStable, 1)]);
    assert_eq!(f.get_text(ReplyVerifier), Some(&b"verifier"[..]));
    let f = answered(Op::Commit, true, Words::of(&[0, 0]).raw(b"verifier"));
    assert_eq!(f.get_text(ReplyVerifier), Some(&b"verifier"[..]));
}

#[test]
fn the_remaining_calls_have_their_columns() {
    has(&asked(Op::Access, handle(b"f").words(&[63])), &[(Column::Access, 63)]);
    has(&answered(Op::Access, true, Words::of(&[0, 31])), &[(ReplyAccess, 31)]);
    has(&asked(Op::Commit, handle(b"f").long(8).words(&[9])), &[(Offset, 8), (Count, 9)]);
    let f = asked(Op::Symlink, handle(b"d").opaque(b"l").words(&[0; 6]).opaque(b"to"));
    assert_eq!((f.get_text(Name), f.get_text(Target)), (Some(&b"l"[..]), Some(&b"to"[..])));
    let f = answered(Op::Readlink, true, Words::of(&[0]).opaque(b"to"));
    assert_eq!(f.get_text(Target), Some(&b"to"[..]));
    let f = asked(Op::Mknod, handle(b"d").opaque(b"n").words(&[4, 0, 0, 0, 0, 0, 0, 8, 1]));
    has(&f, &[(SetFtype, 4), (SetRdevMajor, 8), (SetRdevMinor, 1)]);
    has(
        &asked(Op::Mknod, handle(b"d").opaque(b"n").words(&[7, 0, 0, 0, 0, 0, 0])),
        &[(SetFtype, 7)],
    );
    let f = asked(Op::Readdirplus, handle(b"d").long(3).raw(b"verifier").words(&[512, 4096]));
    has(&f, &[(Cookie, 3), (Count, 512), (MaxCount, 4096)]);
    assert_eq!(f.get_text(CookieVerifier), Some(&b"verifier"[..]));
}

#[test]
fn a_listing_gives_its_entries() {
    let entry = |words: Words, fileid, name: &[u8]| {
        words.words(&[1]).long(fileid).opaque(name).long(fileid + 1)
    };
    let first = fattr(entry(Words::of(&[0]).raw(b"verifier"), 10, b".").words(&[1]), 100);
    let words = entry(first.words(&[1]).opaque(b"handle"), 20, b"\xff").words(&[0, 0, 0, 1]);
    let f = answered(Op::Readdirplus, true, words);
    has(&f, &[(Eof, 1)]);
    let entries = f.entries.as_ref().unwrap();
    assert_eq!(entries.count, 2);
    for expected in [
        (0, EntryColumn::Fileid, 10),
        (0, EntryColumn::Cookie, 11),
        (0, EntryColumn::Mode, 101),
        (0, EntryColumn::Ctime, 113_000_003),
        (1, EntryColumn::Fileid, 20),
    ] {
        assert!(entries.numbers.contains(&expected), "{expected:?}");
    }
    let texts: Vec<_> = entries
        .bytes
        .iter()
        .map(|&(row, column, at, len)| (row, column, f.slice(at, len)))
        .collect();
    assert!(texts.contains(&(0, EntryColumn::Fh, b"handle")));
    assert!(texts.contains(&(1, EntryColumn::Name, b"\xff")));
    // an empty listing is a listing
    let f = answered(Op::Readdir, true, Words::of(&[0]).raw(b"verifier").words(&[0, 0]));
    assert_eq!(f.entries.map(|entries| entries.count), Some(0));
}

#[test]
fn file_systems_tell_their_sizes_limits_and_habits() {
    let words = (1..=6).fold(Words::of(&[0]), Words::long).words(&[7]);
    let f = answered(Op::Fsstat, true, words);
    has(&f, &[(FsTotalBytes, 1), (FsAvailableFiles, 6), (FsInvariantSeconds, 7)]);
    let words = Words::of(&[0, 1, 2, 3, 4, 5, 6, 7]).long(8).words(&[1, 5, 27]);
    let f = answered(Op::Fsinfo, true, words);
    has(&f, &[(FsReadMax, 1), (FsReaddirPreferred, 7), (FsMaxFileSize, 8)]);
    has(&f, &[(FsTimeDelta, 1_000_000_005), (FsProperties, 27)]);
    let f = answered(Op::Pathconf, true, Words::of(&[0, 100, 255, 1, 1, 0, 1]));
    has(&f, &[(FsLinkMax, 100), (FsNameMax, 255), (FsNoTrunc, 1), (FsCasePreserving, 1)]);
}

#[test]
fn a_message_that_ends_early_keeps_what_was_read() {
    let words = handle(b"dir").opaque(b"new").words(&[0, 1, 0o600]);
    for end in 0..words.0.len() {
        let mut f = Fields::default();
        let read =
            arguments(Op::Create, &mut Reader { x: &mut Xdr::new(&words.0[..end]), f: &mut f });
        assert_eq!(read, Err(Fault::Short));
    }
    let mut f = Fields::default();
    assert_eq!(
        arguments(Op::Create, &mut Reader { x: &mut Xdr::new(&words.0), f: &mut f }),
        Err(Fault::Short)
    );
    assert_eq!((f.get_text(Name), f.get(SetMode)), (Some(&b"new"[..]), Some(0o600)));
}
