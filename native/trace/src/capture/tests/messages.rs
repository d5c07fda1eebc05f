//! Calls and replies as RPC knows them: refusals, credentials, other programs.

use super::testing::*;
use crate::schema::Op;

#[test]
fn a_refused_call_has_a_status_beyond_those_of_nfs() {
    // RFC 5531 section 9: denied for its credentials, reason 5 (too weak); accepted, but the
    // program is unavailable
    for (refusal, status) in [(vec![1, 1, 5], 65_536 + 256 + 5), (vec![0, 0, 0, 1], 65_537)] {
        let refusal = Words::of(&[7, 1]).words(&refusal).0;
        let seen = datagrams(&[(Side::Client, lookup(7, b"a")), (Side::Server, refusal)]);
        assert_eq!(seen.answers(), [(7, Some(status), false)]);
    }
}

#[test]
fn other_programs_are_counted_with_their_replies() {
    let mount = Words::of(&[7, 0, 2, 100_005, 3, 1, 0, 0, 0, 0]).opaque(b"/export").0;
    let answer = reply(7, Words::of(&[0]).opaque(b"handle"));
    let seen = datagrams(&[(Side::Client, mount), (Side::Server, answer)]);
    assert_eq!(seen.joiner.counts.other.get(&100_005), Some(&(1, 1)));
    assert_eq!(seen.rows.num_rows(), 0);
}

#[test]
fn the_null_procedure_and_compounds_of_version_4_are_counted() {
    let seen = datagrams(&[
        (Side::Client, call(1, 3, 0, Words::default())),
        (Side::Server, reply(1, Words::default())),
        (Side::Client, call(2, 4, 1, Words::of(&[0, 0, 1, 24]))),
        (Side::Server, reply(2, Words::of(&[10_008, 0, 0]))),
    ]);
    assert_eq!((seen.tally(Op::Null), seen.tally(Op::Compound)), ((1, 1), (1, 1)));
    assert_eq!(seen.answers()[1], (2, Some(10_008), false));
}

#[test]
fn a_whole_message_that_makes_no_sense_is_set_aside() {
    let handle = Words::of(&[65]).raw(&[0; 68]); // longer than NFS3_FHSIZE
    let mut seen = datagrams(&[
        (Side::Client, lookup(1, b"a")),
        (Side::Client, call(2, 3, 1, handle)),
        (Side::Server, reply(1, Words::of(&[2, 9]))),
    ]);
    assert_eq!(seen.damage(), [("bad-arguments", 1), ("bad-results", 1)]);
    assert_eq!(seen.answers(), [(1, None, false)]);
    let damaged = seen.joiner.quarantine.take();
    assert_eq!(damaged[0].expected, "a file handle of at most 64 bytes");
    assert_eq!(damaged[0].bytes.len(), 40 + 72);
}

#[test]
fn a_call_sent_again_is_one_operation() {
    let seen = datagrams(&[
        (Side::Client, lookup(1, b"a")),
        (Side::Client, lookup(1, b"a")),
        (Side::Server, not_found(1)),
        (Side::Server, not_found(1)),
    ]);
    assert_eq!(seen.answers(), [(1, Some(2), false)]);
    assert_eq!(seen.numbers("retransmits"), [Some(1)]);
    assert_eq!(seen.tally(Op::Lookup), (2, 2));
}

#[test]
fn a_damaged_listing_of_version_3_keeps_the_entries_before_the_damage() {
    // entryplus3: fileid, name, cookie, no attributes, a handle
    let entry = |name: &[u8]| Words::of(&[1]).long(7).opaque(name).long(9).words(&[0, 1]);
    let arguments = Words::default().opaque(b"directory").long(0).long(0).words(&[512, 4096]);
    let listing = Words::of(&[0, 0]).long(0).raw(&entry(b"a").opaque(b"A").0);
    let listing = listing.raw(&entry(b"b").words(&[65]).raw(&[0; 68]).0).words(&[0, 1]);
    let seen =
        datagrams(&[(Side::Client, call(1, 3, 17, arguments)), (Side::Server, reply(1, listing))]);
    assert_eq!(seen.listed(), [vec!["a"]]);
    assert_eq!(seen.answers(), [(1, Some(0), true)]);
    assert_eq!((seen.damage(), seen.counts.partial, seen.joiner.counts.short), (vec![], 1, 0));
}
