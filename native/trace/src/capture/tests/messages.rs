//! Calls and replies as RPC knows them: refusals, credentials, other programs.

use super::testing::*;
use crate::schema::Op;

fn datagrams(messages: &[(Side, Vec<u8>)]) -> Seen {
    let frames: Vec<_> = messages
        .iter()
        .map(|(side, message)| ethernet(&ipv4(*side, 17, 0, &udp(*side, message))))
        .collect();
    File::holding(&frames).read()
}

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
fn what_gss_wraps_is_not_misread() {
    let gss = |xid, service| {
        let header = Words::of(&[xid, 0, 2, 100_003, 3, 1, 6, 20, 1, 0, 9, service, 0, 0, 0]);
        if service == 1 {
            header.opaque(b"handle").0
        } else {
            header.opaque(b"\0\0\0\x09wrapped arguments").opaque(b"checksum").0
        }
    };
    let wrapped = reply(2, Words::default().opaque(b"wrapped results").opaque(b"checksum"));
    let seen = datagrams(&[
        (Side::Client, gss(1, 1)),
        (Side::Server, reply(1, Words::of(&[70]))),
        (Side::Client, gss(2, 2)),
        (Side::Server, wrapped),
    ]);
    assert_eq!(seen.answers(), [(1, Some(70), false), (2, None, true)]);
    assert_eq!(seen.damage(), []);
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
    let aside = seen.joiner.quarantine.take();
    assert_eq!(aside[0].expected, "a file handle of at most 64 bytes");
    assert_eq!(aside[0].bytes.len(), 40 + 72);
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
