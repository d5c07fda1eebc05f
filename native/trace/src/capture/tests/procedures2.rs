//! The procedures of NFS version 2, column by column (RFC 1094 section 2.2).

use super::testing::Words;
use crate::capture::codec::Reader;
use crate::capture::nfs2::{arguments, results};
use crate::capture::xdr::Xdr;
use crate::fields::Fields;
use crate::schema::Column::{self, *};
use crate::schema::{EntryColumn, Op};

const HANDLE: [u8; 32] = [7; 32];

fn asked(op: Op, words: Words) -> Fields {
    let (mut f, mut x) = (Fields::default(), Xdr::new(&words.0));
    assert_eq!(arguments(op, &mut Reader { x: &mut x, f: &mut f }), Ok(()));
    assert!(x.rest().is_empty());
    f
}

fn answered(op: Op, words: Words) -> Fields {
    let (mut f, mut x) = (Fields::default(), Xdr::new(&words.0));
    assert_eq!(results(op, &mut Reader { x: &mut x, f: &mut f }), Ok(()));
    assert!(x.rest().is_empty());
    f
}

fn has(f: &Fields, expected: &[(Column, u64)]) {
    for (column, value) in expected {
        assert_eq!(f.get(*column), Some(*value), "{column:?}");
    }
}

fn handle() -> Words {
    Words::default().raw(&HANDLE)
}

/// `fattr`: type, mode, nlink, uid, gid, size, blocksize, rdev, blocks, fsid, fileid and times.
fn fattr(words: Words) -> Words {
    words.words(&[1, 0o100_644, 1, 5, 6, 700, 8192, 9, 2, 10, 11, 12, 120, 13, 130, 14, 140])
}

#[test]
fn attributes_have_the_times_in_microseconds_and_the_mode_as_it_stands() {
    let f = answered(Op::Getattr, fattr(Words::default()));
    has(&f, &[(Ftype, 1), (Mode, 0o100_644), (Nlink, 1), (Owner, 5), (Group, 6), (Size, 700)]);
    has(&f, &[(Blksize, 8192), (RdevMajor, 9), (Blocks, 2), (Fsid, 10), (Fileid, 11)]);
    has(&f, &[(Atime, 12_000_120), (Mtime, 13_000_130), (Ctime, 14_000_140)]);
}

#[test]
fn all_ones_leave_an_attribute_as_it_is() {
    const LEAVE: u32 = u32::MAX;
    let words = [0o600, LEAVE, LEAVE, 0, 5, 1_000_000, LEAVE, LEAVE];
    let f = asked(Op::Create, handle().opaque(b"new").words(&words));
    assert_eq!((f.get_text(Fh), f.get_text(Name)), (Some(&HANDLE[..]), Some(&b"new"[..])));
    has(&f, &[(SetMode, 0o600), (SetSize, 0), (SetAtimeHow, 1)]);
    for column in [SetOwner, SetGroup, SetAtime, SetMtime, SetMtimeHow] {
        assert_eq!(f.get(column), None, "{column:?}");
    }
    let f = asked(Op::Setattr, handle().words(&[LEAVE, 3, 4, LEAVE, 5, 6, 7, 8]));
    has(&f, &[(SetOwner, 3), (SetGroup, 4), (SetAtime, 5_000_006), (SetMtimeHow, 2)]);
}

#[test]
fn calls_have_the_columns_of_version_3() {
    let f = asked(Op::Rename, handle().opaque(b"a").raw(&[8; 32]).opaque(b"b"));
    assert_eq!((f.get_text(Fh2), f.get_text(Name2)), (Some(&[8; 32][..]), Some(&b"b"[..])));
    let f = asked(Op::Link, handle().raw(&[8; 32]).opaque(b"b"));
    assert_eq!((f.get_text(Fh2), f.get_text(Name)), (Some(&[8; 32][..]), Some(&b"b"[..])));
    let f = asked(Op::Symlink, handle().opaque(b"l").opaque(b"to").words(&[u32::MAX; 8]));
    assert_eq!((f.get_text(Name), f.get_text(Target)), (Some(&b"l"[..]), Some(&b"to"[..])));
    let f = asked(Op::Read, handle().words(&[4096, 512, 0]));
    has(&f, &[(Offset, 4096), (Count, 512), (TotalCount, 0)]);
    let f = asked(Op::Write, handle().words(&[1, 4096, 2, 512]));
    has(&f, &[(BeginOffset, 1), (Offset, 4096), (TotalCount, 2), (Count, 512)]);
    has(&asked(Op::Readdir, handle().words(&[3, 4096])), &[(Cookie, 3), (Count, 4096)]);
    assert_eq!(asked(Op::Root, Words::default()).get_text(Fh), None);
}

#[test]
fn results_have_the_columns_of_version_3() {
    let f = answered(Op::Lookup, fattr(handle()));
    assert_eq!((f.get_text(NewFh), f.get(Size)), (Some(&HANDLE[..]), Some(700)));
    has(&answered(Op::Read, fattr(Words::default()).words(&[512])), &[(ReplyCount, 512)]);
    has(&answered(Op::Write, fattr(Words::default())), &[(Size, 700)]);
    let f = answered(Op::Readlink, Words::default().opaque(b"to"));
    assert_eq!(f.get_text(Target), Some(&b"to"[..]));
    let f = answered(Op::Fsstat, Words::of(&[8192, 512, 1000, 400, 300]));
    has(&f, &[(FsTransferSize, 8192), (FsBlockSize, 512), (FsBlocks, 1000)]);
    has(&f, &[(FsFreeBlocks, 400), (FsAvailableBlocks, 300)]);
    assert!(answered(Op::Remove, Words::default()).numbers.is_empty());
}

#[test]
fn a_listing_gives_its_entries() {
    let words = Words::of(&[1, 10]).opaque(b"a").words(&[7, 1, 11]).opaque(b"b").words(&[8, 0, 1]);
    let f = answered(Op::Readdir, words);
    has(&f, &[(Eof, 1)]);
    let entries = f.entries.as_ref().unwrap();
    assert_eq!(entries.count, 2);
    assert!(entries.numbers.contains(&(1, EntryColumn::Fileid, 11)));
    assert!(entries.numbers.contains(&(0, EntryColumn::Cookie, 7)));
}
