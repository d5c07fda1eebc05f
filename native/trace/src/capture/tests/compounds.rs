//! Compounds of NFS version 4, from messages to rows.

use super::testing::*;
use crate::schema::Op;

const PUTROOTFH: u32 = 24;
const GETATTR: u32 = 9;
const GETFH: u32 = 10;

fn w(words: &[u32]) -> Words {
    Words::of(words)
}

fn putfh(handle: &[u8]) -> Words {
    w(&[22]).opaque(handle)
}

fn lookup4(name: &[u8]) -> Words {
    w(&[15]).opaque(name)
}

/// A GETATTR of the size.
fn getattr() -> Words {
    w(&[GETATTR, 1, 0x10])
}

fn size(size: u64) -> Words {
    w(&[GETATTR, 0, 1, 0x10, 8]).long(size)
}

fn handle(handle: &[u8]) -> Words {
    w(&[GETFH, 0]).opaque(handle)
}

/// The success of an operation that returns nothing.
fn ok(opcode: u32) -> Words {
    w(&[opcode, 0])
}

/// The success of an operation on a directory.
fn changed(opcode: u32) -> Words {
    ok(opcode).words(&[1]).long(1).long(2)
}

fn exchange(call: &[Words], status: u32, reply: &[Words]) -> Seen {
    let reply = compound_reply(1, status, reply);
    datagrams(&[(Side::Client, compound(1, 0, call)), (Side::Server, reply)])
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn each_operation_is_a_row_with_the_handle_it_worked_on() {
    let call = [putfh(b"D"), lookup4(b"a"), w(&[GETFH]), getattr(), w(&[3, 1])];
    let reply = [ok(22), ok(15), handle(b"A"), size(7), w(&[3, 0, 1, 1])];
    let seen = exchange(&call, 0, &reply);
    assert_eq!(seen.words("op"), ["putfh", "lookup", "getfh", "getattr", "access"]);
    let expected = ["D", "D", "A", "A", "A"].map(some);
    assert_eq!(seen.texts("fh"), expected);
    assert_eq!(seen.texts("name")[1], some("a"));
    assert_eq!(seen.texts("new_fh"), [None, some("A"), None, None, None]);
    assert_eq!(seen.numbers("compound_index"), [0, 1, 2, 3, 4].map(Some));
    assert_eq!(seen.numbers("opcode"), [22, 15, 10, 9, 3].map(Some));
    assert_eq!(seen.numbers("status"), [Some(0); 5]);
    // the attributes are also those of what the lookup found
    assert_eq!(seen.longs("size"), [None, Some(7), None, Some(7), None]);
    assert_eq!((seen.tally(Op::Compound), seen.operations(Op::Lookup)), ((1, 1), (1, 1)));
}

#[test]
fn handles_that_come_late_reach_the_operations_before() {
    let call = [w(&[PUTROOTFH]), lookup4(b"a"), lookup4(b"b"), w(&[28]).opaque(b"c"), w(&[GETFH])];
    let seen = exchange(&call, 0, &[ok(24), ok(15), ok(15), changed(28), handle(b"B")]);
    assert_eq!(seen.texts("fh"), [None, None, None, some("B"), some("B")]);
    assert_eq!(seen.texts("new_fh"), [None, None, some("B"), None, None]);
}

#[test]
fn a_rename_goes_from_the_saved_to_the_current_directory_and_a_link_too() {
    let call = [putfh(b"S"), w(&[32]), putfh(b"T"), w(&[29]).opaque(b"a").opaque(b"b"), w(&[31])];
    let renamed = changed(29).words(&[1]).long(3).long(4);
    let seen = exchange(&call, 0, &[ok(22), ok(32), ok(22), renamed, ok(31)]);
    assert_eq!(seen.texts("fh"), ["S", "S", "T", "S", "S"].map(some));
    assert_eq!(seen.texts("fh2"), [None, None, None, some("T"), None]);
    assert_eq!(
        (seen.texts("name")[3].clone(), seen.texts("name2")[3].clone()),
        (some("a"), some("b"))
    );
    let call = [putfh(b"F"), w(&[32]), putfh(b"D"), w(&[11]).opaque(b"n")];
    let seen = exchange(&call, 0, &[ok(22), ok(32), ok(22), changed(11)]);
    assert_eq!((&seen.texts("fh")[3], &seen.texts("fh2")[3]), (&some("F"), &some("D")));
}

#[test]
fn a_copy_works_on_the_current_file_and_reads_the_saved_one() {
    let clone = w(&[71]).raw(&[7; 32]).long(0).long(0).long(9);
    let call = [putfh(b"S"), w(&[32]), putfh(b"T"), clone];
    let seen = exchange(&call, 0, &[ok(22), ok(32), ok(22), ok(71)]);
    assert_eq!((&seen.texts("fh")[3], &seen.texts("fh2")[3]), (&some("T"), &some("S")));
}

/// An OPEN that creates, unchecked, with a mode.
fn open(claim: Words) -> Words {
    let owner = w(&[18, 0, 2, 0]).long(99).opaque(b"owner");
    owner.words(&[1, 0, 2, 0, 2, 4, 0o644]).raw(&claim.0)
}

fn opened() -> Words {
    let state = ok(18).raw(b"sixteen bytes id").words(&[1]).long(1).long(2);
    state.words(&[2, 2, 0, 2, 0])
}

#[test]
fn an_open_by_name_makes_another_file_current_and_one_by_handle_does_not() {
    let named = open(w(&[0]).opaque(b"new"));
    let call = [putfh(b"D"), named, w(&[GETFH]), getattr()];
    let seen = exchange(&call, 0, &[ok(22), opened(), handle(b"N"), size(0)]);
    let row = seen.rows_of(Op::Open)[0];
    assert_eq!((&seen.texts("fh")[row], &seen.texts("new_fh")[row]), (&some("D"), &some("N")));
    assert_eq!((seen.numbers("set_mode")[row], seen.longs("size")[row]), (Some(0o644), Some(0)));
    let call = [putfh(b"F"), open(w(&[4])), getattr()];
    let seen = exchange(&call, 0, &[ok(22), opened(), size(5)]);
    assert_eq!(seen.texts("fh"), ["F", "F", "F"].map(some));
    assert_eq!(seen.texts("new_fh"), [None, None, None]);
    assert_eq!(seen.longs("size"), [None, None, Some(5)]);
}

#[test]
fn attributes_after_a_change_are_not_those_of_what_was_found() {
    let write = w(&[38]).raw(b"sixteen bytes id").long(0).words(&[0]).opaque(b"data");
    let wrote = ok(38).words(&[4, 0]).raw(b"verifier");
    let call = [putfh(b"D"), lookup4(b"a"), write, getattr()];
    let seen = exchange(&call, 0, &[ok(22), ok(15), wrote, size(4)]);
    assert_eq!(seen.longs("size"), [None, None, None, Some(4)]);
}

#[test]
fn operations_behind_a_failure_make_no_row_and_are_counted() {
    let call = [putfh(b"D"), lookup4(b"a"), w(&[GETFH]), getattr()];
    let seen = exchange(&call, 2, &[ok(22), w(&[15, 2])]);
    assert_eq!(seen.words("op"), ["putfh", "lookup"]);
    assert_eq!(seen.numbers("status"), [Some(0), Some(2)]);
    assert_eq!(seen.numbers("compound_status"), [Some(2), Some(2)]);
    let not_run: Vec<_> = seen.joiner.counts.not_run.into_iter().collect();
    assert_eq!(not_run, [("getattr", 1), ("getfh", 1)]);
}

#[test]
fn a_compound_without_a_reply_has_a_row_for_each_operation() {
    let seen =
        datagrams(&[(Side::Client, compound(1, 0, &[putfh(b"D"), lookup4(b"a"), w(&[GETFH])]))]);
    assert_eq!(seen.words("op"), ["putfh", "lookup", "getfh"]);
    assert_eq!(seen.numbers("status"), [None; 3]);
    assert_eq!(seen.texts("fh"), [some("D"), some("D"), None]);
    assert_eq!(seen.joiner.counts.operations[Op::Lookup as usize].unanswered, 1);
}

#[test]
fn a_compound_of_which_nothing_was_run_is_one_row() {
    let refused = Words::of(&[1, 1, 1, 1, 5]).0; // denied for its credentials
    for (answer, status) in [(compound_reply(1, 10_021, &[]), 10_021), (refused, 65_536 + 256 + 5)]
    {
        let call = compound(1, 0, &[w(&[PUTROOTFH]), w(&[GETFH])]);
        let seen = datagrams(&[(Side::Client, call), (Side::Server, answer)]);
        assert_eq!(seen.words("op"), ["compound"]);
        assert_eq!(seen.answers(), [(1, Some(status), false)]);
        assert_eq!(seen.joiner.counts.not_run.values().sum::<u64>(), 2);
    }
}

#[test]
fn each_row_of_a_cut_compound_tells_whether_it_is_complete() {
    let call = compound(1, 0, &[putfh(b"D"), lookup4(b"a name"), w(&[GETFH])]);
    let reply = compound_reply(1, 0, &[ok(22), ok(15), handle(b"A")]);
    let cut = |message: &[u8], side, left| {
        let frame = ethernet(&ipv4(side, 17, 0, &udp(side, message)));
        let captured = frame.len() - left;
        (frame, captured)
    };
    let (call_frame, call_kept) = cut(&call, Side::Client, 8);
    let (reply_frame, reply_kept) = cut(&reply, Side::Server, 4);
    let seen = File::new().cut(&call_frame, call_kept).cut(&reply_frame, reply_kept).read();
    // the reply's last handle is missing; the call's last operations are known from the reply
    assert_eq!(seen.words("op"), ["putfh", "lookup", "getfh"]);
    assert_eq!(seen.numbers("status"), [Some(0); 3]);
    let short: Vec<_> = seen.answers().iter().map(|(_, _, short)| *short).collect();
    assert_eq!(short, [false, true, true]);
    assert_eq!(seen.joiner.counts.short, 2);
}

#[test]
fn statuses_of_a_reply_cut_after_its_count_are_known() {
    let call = compound(1, 0, &[putfh(b"D"), lookup4(b"a"), w(&[GETFH])]);
    let reply = compound_reply(1, 2, &[ok(22), w(&[15, 2])]);
    let frames = [(Side::Client, call), (Side::Server, reply)]
        .map(|(side, message)| ethernet(&ipv4(side, 17, 0, &udp(side, &message))));
    let captured = frames[1].len() - 16;
    let seen = File::new().packet(&frames[0]).cut(&frames[1], captured).read();
    assert_eq!(seen.numbers("status"), [Some(0), Some(2)]);
    let short: Vec<_> = seen.answers().iter().map(|(_, _, short)| *short).collect();
    assert_eq!(short, [true, true]);
}

#[test]
fn a_write_is_known_before_its_data_are_there() {
    let write = w(&[38]).raw(b"sixteen bytes id").long(0).words(&[0, 300_000]);
    let message = marked(&compound(1, 0, &[putfh(b"F"), write]));
    let length = (message.len() - 4 + 300_000) as u32;
    let beginning = Words::of(&[0x8000_0000 | length]).raw(&message[4..]).0;
    let seen = File::holding(&[segment(Side::Client, 1, &beginning)]).read();
    assert_eq!(seen.words("op"), ["putfh", "write"]);
    assert_eq!(seen.numbers("count"), [None, Some(300_000)]);
    assert_eq!(seen.answers()[1], (1, None, false));
}

#[test]
fn operations_after_the_data_of_a_large_write_are_read() {
    let data = vec![0; 1 << 20];
    let write = w(&[38]).raw(b"sixteen bytes id").long(0).words(&[0]).opaque(&data);
    let message = marked(&compound(1, 0, &[putfh(b"F"), write, getattr()]));
    let segments = message.chunks(60_000).zip(0..);
    let frames: Vec<_> =
        segments.map(|(chunk, n)| segment(Side::Client, 1 + n * 60_000, chunk)).collect();
    let seen = File::holding(&frames).read();
    assert_eq!(seen.words("op"), ["putfh", "write", "getattr"]);
    assert_eq!(seen.joiner.counts.short, 0);
}

#[test]
fn retransmissions_and_second_replies_are_counted_in_every_row() {
    let call = compound(1, 0, &[putfh(b"D"), getattr()]);
    let other = compound(1, 0, &[putfh(b"D"), w(&[GETFH])]);
    let reply = compound_reply(1, 0, &[ok(22), size(1)]);
    let again = datagrams(&[
        (Side::Client, call.clone()),
        (Side::Client, call.clone()),
        (Side::Server, reply.clone()),
        (Side::Client, call.clone()),
        (Side::Server, reply.clone()),
    ]);
    assert_eq!(again.numbers("retransmits"), [Some(2), Some(2)]);
    assert_eq!(again.numbers("duplicate_replies"), [Some(1), Some(1)]);
    assert_eq!(again.operations(Op::Getattr), (3, 2));
    // an XID used again, for other operations, is another call
    let reused = datagrams(&[(Side::Client, call), (Side::Server, reply), (Side::Client, other)]);
    assert_eq!(reused.words("op"), ["putfh", "getattr", "putfh", "getfh"]);
}

#[test]
fn sessions_are_joined_by_xid_whatever_their_slots() {
    let sequence = |slot, number| w(&[53]).raw(b"sixteen bytes id").words(&[number, slot, 1, 0]);
    let sequenced = |slot, number| ok(53).raw(b"sixteen bytes id").words(&[number, slot, 1, 1, 0]);
    let call = |xid, slot| compound(xid, 1, &[sequence(slot, 5), putfh(b"F"), getattr()]);
    let reply = |xid, slot, n| compound_reply(xid, 0, &[sequenced(slot, 5), ok(22), size(n)]);
    let seen = datagrams(&[
        (Side::Client, call(1, 0)),
        (Side::Client, call(2, 1)),
        (Side::Server, reply(2, 1, 22)),
        (Side::Server, reply(1, 0, 11)),
    ]);
    assert_eq!(seen.longs("size"), [None, None, Some(22), None, None, Some(11)]);
    assert_eq!(seen.numbers("slot"), [Some(1), None, None, Some(0), None, None]);
    assert_eq!(seen.numbers("sequence"), [Some(5), None, None, Some(5), None, None]);
    assert_eq!(seen.numbers("minor_version"), [Some(1); 6]);
}

#[test]
fn a_callback_on_the_same_connection_is_another_program() {
    // the server calls the client (RFC 8881 section 20), with an XID that the client uses too
    let recall = Words::of(&[1, 0, 2, 0x4000_0000, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 4]);
    let recall = recall.raw(b"sixteen bytes id").words(&[0]).opaque(b"F").0;
    let answer = reply(1, Words::of(&[0, 0, 1, 4, 0]));
    let call = compound(1, 1, &[putfh(b"F"), getattr()]);
    let seen = datagrams(&[
        (Side::Client, call),
        (Side::Server, recall),
        (Side::Client, answer),
        (Side::Server, compound_reply(1, 0, &[ok(22), size(3)])),
    ]);
    assert_eq!(seen.words("op"), ["putfh", "getattr"]);
    assert_eq!(seen.numbers("status"), [Some(0), Some(0)]);
    assert_eq!(seen.joiner.counts.other.get(&0x4000_0000), Some(&(1, 1)));
}

#[test]
fn two_listings_in_one_compound_keep_their_entries_apart() {
    let readdir = || w(&[26]).long(0).raw(b"verifier").words(&[512, 4096, 0]);
    let listing =
        |name: &[u8]| ok(26).raw(b"verifier").words(&[1]).long(3).opaque(name).words(&[0, 0, 0, 1]);
    let call = [putfh(b"D"), readdir(), putfh(b"E"), readdir()];
    let seen = exchange(&call, 0, &[ok(22), listing(b"d1"), ok(22), listing(b"e1")]);
    assert_eq!(seen.listed(), [vec![], vec!["d1"], vec![], vec!["e1"]]);
}

/// A LOOKUP's call with a length that no name has.
fn damaged_lookup() -> Words {
    w(&[15, 70_000, 1, 2, 3])
}

#[test]
fn a_damaged_reply_keeps_the_operations_before_the_damage() {
    let call = [putfh(b"D"), open(w(&[0]).opaque(b"new")), w(&[GETFH]), getattr(), w(&[3, 1])];
    let attributes = w(&[GETATTR, 0, 1, 2, 4, 77]).words(&[0; 8]); // no file type is 77
    let reply = [ok(22), opened(), handle(b"N"), attributes, w(&[3, 0, 1, 1])];
    let seen = exchange(&call, 0, &reply);
    assert_eq!(seen.words("op"), ["putfh", "open", "getfh", "getattr", "access"]);
    assert_eq!(seen.texts("new_fh")[1], some("N"));
    assert_eq!(seen.numbers("status"), [Some(0); 5]);
    let short: Vec<_> = seen.answers().iter().map(|(_, _, short)| *short).collect();
    assert_eq!(short, [false, false, false, true, true]);
    assert_eq!((seen.damage(), seen.counts.partial, seen.joiner.counts.short), (vec![], 1, 0));
}

#[test]
fn a_reply_that_ends_before_its_last_operation_is_damaged_likewise() {
    let call = compound(1, 0, &[putfh(b"D"), lookup4(b"a"), w(&[GETFH])]);
    let mut reply = compound_reply(1, 0, &[ok(22), ok(15), handle(b"A long handle")]);
    reply.truncate(reply.len() - 8);
    let seen = datagrams(&[(Side::Client, call), (Side::Server, reply)]);
    assert_eq!(seen.numbers("status"), [Some(0); 3]);
    assert_eq!((seen.damage(), seen.counts.partial, seen.joiner.counts.short), (vec![], 1, 0));
}

#[test]
fn a_damaged_call_keeps_the_operations_before_the_damage() {
    let call = [putfh(b"D"), open(w(&[0]).opaque(b"new")), w(&[GETFH]), damaged_lookup()];
    let seen = exchange(&call, 0, &[ok(22), opened(), handle(b"N"), ok(15)]);
    assert_eq!(seen.words("op"), ["putfh", "open", "getfh", "lookup"]);
    assert_eq!((&seen.texts("name")[1], &seen.texts("new_fh")[1]), (&some("new"), &some("N")));
    assert_eq!((seen.damage(), seen.counts.partial, seen.joiner.counts.short), (vec![], 1, 0));
}

#[test]
fn a_compound_that_is_damaged_before_its_second_operation_is_set_aside() {
    let seen = exchange(&[damaged_lookup()], 0, &[ok(15)]);
    assert_eq!(seen.damage(), [("bad-arguments", 1)]);
    assert_eq!(seen.rows.num_rows(), 0);
}

#[test]
fn a_result_of_another_operation_than_was_asked_is_damage() {
    let call = [putfh(b"D"), lookup4(b"a"), w(&[GETFH]), getattr()];
    let seen = exchange(&call, 0, &[ok(22), ok(15), ok(24), size(7)]);
    assert_eq!(seen.words("op"), ["putfh", "lookup", "getfh", "getattr"]);
    assert_eq!(seen.texts("new_fh"), [None, None, None, None]);
    assert_eq!(seen.longs("size"), [None; 4]);
    let short: Vec<_> = seen.answers().iter().map(|(_, _, short)| *short).collect();
    assert_eq!(short, [false, false, true, true]);
    // a server's word for an unknown operation is not a word of the protocol
    let seen =
        exchange(&[putfh(b"D"), w(&[71]).raw(&[7; 56])], 10_044, &[ok(22), w(&[10_044, 10_044])]);
    assert_eq!(seen.answers(), [(1, Some(0), false), (1, Some(10_044), false)]);
}

#[test]
fn a_listing_that_is_damaged_keeps_the_entries_before_the_damage() {
    let readdir = w(&[26]).long(0).raw(b"verifier").words(&[512, 4096, 1, 2]);
    let entry = |name: &[u8], ftype| w(&[1]).long(3).opaque(name).words(&[1, 2, 4, ftype]);
    let listing = ok(26).raw(b"verifier").raw(&entry(b"a", 1).0).raw(&entry(b"b", 77).0);
    let seen = exchange(&[putfh(b"D"), readdir], 0, &[ok(22), listing.words(&[0, 1])]);
    assert_eq!(seen.listed(), [vec![], vec!["a"]]);
    assert_eq!(seen.answers(), [(1, Some(0), false), (1, Some(0), true)]);
}
