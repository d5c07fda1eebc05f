//! Layouts of pNFS, from messages to rows (RFC 8881 section 13, RFC 8435).

use super::testing::*;
use crate::schema::Op;

const ID: &[u8; 16] = b"sixteen bytes id";
const LAYOUTGET: u32 = 50;
const LAYOUTCOMMIT: u32 = 49;

fn w(words: &[u32]) -> Words {
    Words::of(words)
}

/// A layout of the whole file for reading and writing, with an opaque body.
fn segment(kind: u32, body: &Words) -> Words {
    Words::default().long(0).long(u64::MAX).words(&[2, kind]).opaque(&body.0)
}

/// `nfsv4_1_file_layout4`.
fn file_layout(unit: u32, handles: &[&[u8]]) -> Words {
    let head = Words::default().raw(ID).words(&[unit, 0, 0, 0, handles.len() as u32]);
    segment(1, &handles.iter().fold(head, |words, handle| words.opaque(handle)))
}

/// `ff_data_server4`, with a handle for each version of NFS.
fn data_server(handles: &[&[u8]]) -> Words {
    let head = Words::default().raw(ID).words(&[1]).raw(ID).words(&[handles.len() as u32]);
    let words = handles.iter().fold(head, |words, handle| words.opaque(handle));
    words.opaque(b"1001").opaque(b"100")
}

/// `ff_layout4`.
fn flexible(mirrors: &[&[Words]]) -> Words {
    let mut words = Words::default().long(1 << 20).words(&[mirrors.len() as u32]);
    for mirror in mirrors {
        words = words.words(&[mirror.len() as u32]);
        words = mirror.iter().fold(words, |words, server| words.raw(&server.0));
    }
    segment(4, &words.words(&[0, 60]))
}

/// PUTFH, LAYOUTGET and a GETFH behind it, answered with layouts.
fn got(layouts: &[Words]) -> Seen {
    let asked = w(&[LAYOUTGET, 0, 1, 2]).long(0).long(u64::MAX).long(4096).raw(ID).words(&[4096]);
    let call = compound(1, 1, &[w(&[22]).opaque(b"file"), asked, w(&[10])]);
    let head = w(&[LAYOUTGET, 0, 0]).raw(ID).words(&[layouts.len() as u32]);
    let layouts = layouts.iter().fold(head, |words, each| words.raw(&each.0));
    let results = [w(&[22, 0]), layouts, w(&[10, 0]).opaque(b"file")];
    let seen = datagrams(&[(Side::Client, call), (Side::Server, compound_reply(1, 0, &results))]);
    assert_eq!(seen.words("op"), ["putfh", "layoutget", "getfh"]);
    assert_eq!((seen.damage(), seen.joiner.counts.short), (vec![], 0));
    seen
}

fn handles(seen: &Seen) -> Option<Vec<(String, u64)>> {
    seen.layouts()[1].clone()
}

fn named(handles: &[(&str, u64)]) -> Option<Vec<(String, u64)>> {
    Some(handles.iter().map(|(handle, mirror)| ((*handle).to_owned(), *mirror)).collect())
}

#[test]
fn a_file_layout_names_the_handle_of_each_stripe() {
    let seen = got(&[file_layout(65_536 | 1, &[b"D1", b"D2", b"D3"])]);
    assert_eq!(handles(&seen), named(&[("D1", 0), ("D2", 0), ("D3", 0)]));
    assert_eq!(seen.numbers("layout_type")[1], Some(1));
    assert_eq!(seen.longs("stripe_unit")[1], Some(65_537));
    assert_eq!(
        seen.texts("fh"),
        [Some("file".to_owned()), Some("file".to_owned()), Some("file".to_owned())]
    );
}

#[test]
fn a_file_layout_may_name_no_handle_or_an_empty_one() {
    assert_eq!(handles(&got(&[file_layout(0, &[])])), named(&[]));
    assert_eq!(handles(&got(&[file_layout(0, &[b""])])), named(&[]));
    assert_eq!(
        handles(&got(&[file_layout(0, &[b"D1", b"", b"D3"])])),
        named(&[("D1", 0), ("D3", 0)])
    );
}

#[test]
fn flexible_files_name_handles_by_mirror() {
    let mirrors: [&[Words]; 2] = [
        &[data_server(&[b"D1", b"D1 of v4"]), data_server(&[b"D2"])],
        &[data_server(&[b"E1"]), data_server(&[b"E2"])],
    ];
    let seen = got(&[flexible(&mirrors)]);
    let expected = [("D1", 0), ("D1 of v4", 0), ("D2", 0), ("E1", 1), ("E2", 1)];
    assert_eq!(handles(&seen), named(&expected));
    assert_eq!(seen.numbers("layout_type")[1], Some(4));
    assert_eq!(seen.longs("stripe_unit")[1], Some(1 << 20));
}

#[test]
fn several_layouts_of_one_file_name_all_their_handles() {
    let seen = got(&[file_layout(0, &[b"D1"]), file_layout(0, &[b"D2"])]);
    assert_eq!(handles(&seen), named(&[("D1", 0), ("D2", 0)]));
}

#[test]
fn layouts_of_blocks_and_objects_name_no_handle() {
    for kind in [2, 3, 5] {
        let seen = got(&[segment(kind, &w(&[1, 2, 3]))]);
        assert_eq!(handles(&seen), None);
        assert_eq!(seen.numbers("layout_type")[1], Some(kind));
        assert_eq!(seen.answers()[1], (1, Some(0), false));
    }
}

#[test]
fn a_damaged_layout_keeps_its_first_handles_and_the_operations_behind_it() {
    let body = Words::default().raw(ID).words(&[0, 0, 0, 0, 3]).opaque(b"D1").words(&[4000]);
    let seen = got(&[segment(1, &body)]);
    assert_eq!(handles(&seen), named(&[("D1", 0)]));
    let short: Vec<_> = seen.answers().iter().map(|(_, _, short)| *short).collect();
    assert_eq!(short.iter().filter(|short| **short).count(), 1);
}

#[test]
fn a_layoutcommit_tells_the_last_byte_written() {
    let asked = w(&[LAYOUTCOMMIT]).long(0).long(1024).words(&[0]).raw(ID);
    let asked = asked.words(&[1]).long(1023).words(&[0, 1]).opaque(b"");
    let call = compound(1, 1, &[w(&[22]).opaque(b"file"), asked]);
    let results = [w(&[22, 0]), w(&[LAYOUTCOMMIT, 0, 1]).long(1024)];
    let seen = datagrams(&[(Side::Client, call), (Side::Server, compound_reply(1, 0, &results))]);
    let row = seen.rows_of(Op::Layoutcommit)[0];
    assert_eq!((seen.longs("last_offset")[row], seen.longs("size")[row]), (Some(1023), Some(1024)));
}
