//! Written captures, read again.

use super::CaptureWriter;
use crate::capture::tests::testing::{
    self, call, ethernet, ipv4, lookup, marked, not_found, read, reply, segment, udp, write, File,
    Seen, Side, Words,
};
use crate::schema::Column;
use arrow_array::RecordBatch;

/// Writes rows as a capture.
fn written(rows: &RecordBatch, cut_data: bool) -> (Vec<u8>, super::Written) {
    let mut writer = CaptureWriter::new(Vec::new(), cut_data).unwrap();
    writer.write(rows).unwrap();
    writer.finish().unwrap()
}

/// Writes the rows that were read from a capture, and reads them again.
fn again(seen: &Seen, cut_data: bool) -> Seen {
    read(written(&seen.rows, cut_data).0).unwrap()
}

/// A capture in which both sides open the conversation.
fn open_file() -> File {
    let syn = |side| ethernet(&ipv4(side, 6, 0, &testing::tcp(side, 0, 2, &[])));
    File::holding(&[syn(Side::Client), syn(Side::Server)])
}

fn tcp(messages: &[(Side, Vec<u8>)]) -> File {
    let mut next = [1, 1];
    messages.iter().fold(open_file(), |file, (side, message)| {
        let (record, at) = (marked(message), &mut next[usize::from(*side == Side::Server)]);
        let file = file.packet(&segment(*side, *at, &record));
        *at += record.len() as u32;
        file
    })
}

/// `fattr3` of a file: RFC 1813 section 2.5.
fn fattr3() -> Words {
    Words::of(&[1, 0o644, 1, 1001, 100])
        .long(70_000)
        .long(73_728)
        .words(&[0, 0])
        .long(5)
        .long(77)
        .words(&[9, 1000, 10, 2000, 11, 3000])
}

#[test]
fn calls_and_replies_come_back_as_the_rows_that_they_were_made_of() {
    let wcc = Words::of(&[1]).long(4).words(&[7, 0, 8, 0, 1]).raw(&fattr3().0);
    let answered = Words::of(&[0]).raw(&wcc.0).words(&[65_000, 2]).raw(b"verifier");
    let seen = tcp(&[
        (Side::Client, lookup(1, b"absent")),
        (Side::Server, not_found(1)),
        (Side::Client, write(2, 65_000)),
        (Side::Server, reply(2, answered)),
        (Side::Client, lookup(3, b"\xff\xfe")),
    ])
    .read();
    assert_eq!(seen.answers(), [(1, Some(2), false), (2, Some(0), false), (3, None, false)]);
    assert_eq!(again(&seen, false).rows, seen.rows);
    assert_eq!(again(&seen, true).rows, seen.rows);
}

#[test]
fn data_take_their_place_or_only_their_length() {
    let seen = tcp(&[(Side::Client, write(1, 65_400))]).read();
    let (whole, counts) = written(&seen.rows, false);
    let (cut, _) = written(&seen.rows, true);
    assert!((65_400..66_400).contains(&whole.len()));
    assert!(cut.len() < 1000);
    // three to open the conversation, two for data and headers of more than 65,160 bytes
    assert_eq!((counts.packets, counts.calls, counts.replies), (5, 1, 0));
    assert_eq!(read(cut).unwrap().counts.cut_packets, 2);
}

#[test]
fn datagrams_stay_datagrams() {
    let ask = ethernet(&ipv4(Side::Client, 17, 0, &udp(Side::Client, &lookup(1, b"a"))));
    let answer = ethernet(&ipv4(Side::Server, 17, 0, &udp(Side::Server, &not_found(1))));
    let seen = File::holding(&[ask, answer]).read();
    assert_eq!(seen.words("transport"), ["udp"]);
    assert_eq!(again(&seen, false).rows, seen.rows);
}

#[test]
fn refusals_and_the_null_procedure_come_back() {
    let refused = |xid, words: &[u32]| Words::of(&[xid, 1]).words(words).0;
    let seen = tcp(&[
        (Side::Client, call(1, 3, 0, Words::default())),
        (Side::Server, reply(1, Words::default())),
        (Side::Client, lookup(2, b"a")),
        (Side::Server, refused(2, &[1, 1, 5])),
        (Side::Client, lookup(3, b"a")),
        (Side::Server, refused(3, &[0, 0, 0, 2, 2, 4])),
    ])
    .read();
    assert_eq!(again(&seen, false).rows, seen.rows);
}

#[test]
fn cut_messages_end_after_their_last_known_value() {
    let attributes = Words::of(&[0]).raw(&fattr3().0);
    let frames = |message: &[u8]| segment(Side::Server, 1, &marked(message));
    let asked = call(1, 3, 1, Words::default().opaque(b"file"));
    let file = open_file().packet(&segment(Side::Client, 1, &marked(&asked)));
    let seen = file.cut(&frames(&reply(1, attributes)), 54 + 4 + 28 + 40).read();
    assert_eq!(seen.answers(), [(1, Some(0), true)]);
    assert_eq!(again(&seen, false).rows, seen.rows);
    let file = open_file().cut(&segment(Side::Client, 1, &marked(&lookup(2, b"name"))), 54 + 60);
    let seen = file.read();
    assert_eq!(seen.answers(), [(2, None, true)]);
    assert_eq!(again(&seen, false).rows, seen.rows);
}

#[test]
fn messages_sent_again_are_written_again() {
    let seen = tcp(&[
        (Side::Client, lookup(1, b"a")),
        (Side::Client, lookup(1, b"a")),
        (Side::Server, not_found(1)),
        (Side::Server, not_found(1)),
        (Side::Server, not_found(1)),
    ])
    .read();
    assert_eq!(seen.numbers("retransmits"), [Some(1)]);
    assert_eq!(seen.numbers("duplicate_replies"), [Some(2)]);
    let (bytes, counts) = written(&seen.rows, false);
    assert_eq!((counts.calls, counts.replies), (2, 3));
    assert_eq!(read(bytes).unwrap().rows, seen.rows);
}

#[test]
fn rows_of_another_version_are_counted_and_left_out() {
    let seen = tcp(&[
        (Side::Client, call(1, 4, 1, Words::of(&[0, 0, 0]))),
        (Side::Client, lookup(2, b"a")),
    ])
    .read();
    let (bytes, counts) = written(&seen.rows, false);
    assert_eq!(counts.skipped.into_iter().collect::<Vec<_>>(), [("another version than 3", 1)]);
    assert_eq!(read(bytes).unwrap().numbers("xid"), [Some(2)]);
}

#[test]
fn a_batch_that_lacks_a_column_is_refused_by_its_name() {
    let seen = tcp(&[(Side::Client, lookup(1, b"a"))]).read();
    let most: Vec<usize> = (1..seen.rows.num_columns()).collect();
    let rows = seen.rows.project(&most).unwrap();
    let mut writer = CaptureWriter::new(Vec::new(), false).unwrap();
    let error = writer.write(&rows).unwrap_err().to_string();
    let first = crate::schema::COLUMNS[Column::Time as usize].name;
    assert_eq!(error, format!("operations: column {first:?} is missing"));
}
