//! Messages that RPCSEC_GSS protects (RFC 2203): signed ones are read, encrypted ones are counted.

use super::testing::*;
use crate::schema::Op;

const INTEGRITY: u32 = 2;
const PRIVACY: u32 = 3;
const MARK: usize = 4;

/// A call with a credential of RPCSEC_GSS and a verifier. `step` 0 is data, 1 a context's beginning.
fn gss(xid: u32, version: u32, procedure: u32, (step, service): (u32, u32)) -> Words {
    let header = Words::of(&[xid, 0, 2, 100_003, version, procedure, 6, 24, 1, step, 7, service]);
    header.opaque(b"ctx1").words(&[6]).opaque(&[b'm'; 28])
}

/// `rpc_gss_integ_data` with a sequence number.
fn sign(body: Words) -> Words {
    Words::default().opaque(&Words::of(&[7]).raw(&body.0).0).opaque(&[b'c'; 28])
}

fn signed_call(xid: u32, version: u32, procedure: u32, arguments: Words) -> Vec<u8> {
    gss(xid, version, procedure, (0, INTEGRITY)).raw(&sign(arguments).0).0
}

/// A reply that was carried out, with a verifier of RPCSEC_GSS.
fn verified(xid: u32, results: Words) -> Vec<u8> {
    Words::of(&[xid, 1, 0, 6]).opaque(&[b'v'; 28]).words(&[0]).raw(&results.0).0
}

fn signed_reply(xid: u32, results: Words) -> Vec<u8> {
    verified(xid, sign(results))
}

/// CREATE of version 3, guarded, with a mode; and its results: a handle, no attributes.
fn create() -> Words {
    let name = Words::default().opaque(b"directory").opaque(b"signed.txt");
    name.words(&[1, 1, 0o640, 0, 0, 0, 0, 0])
}

fn created() -> Words {
    Words::of(&[0, 1]).opaque(b"new handle").words(&[0, 0, 0])
}

/// PUTFH and LOOKUP of a name, and their success with a GETFH.
fn compound4() -> Words {
    let walk = Words::of(&[0, 1, 3, 22]).opaque(b"directory").words(&[15]).opaque(b"a name");
    walk.words(&[10])
}

fn compound4_results() -> Words {
    Words::of(&[0, 0, 3, 22, 0, 15, 0, 10, 0]).opaque(b"new handle")
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn stream(side: Side, message: &[u8]) -> Vec<u8> {
    segment(side, 1, &marked(message))
}

fn is_the_create(seen: &Seen) {
    assert_eq!(seen.answers(), [(1, Some(0), false)]);
    assert_eq!(
        (seen.texts("name"), seen.texts("fh")),
        (vec![some("signed.txt")], vec![some("directory")])
    );
    assert_eq!(seen.texts("new_fh"), [some("new handle")]);
    assert_eq!(seen.numbers("set_mode"), [Some(0o640)]);
    assert_eq!((seen.damage(), seen.joiner.counts.short), (vec![], 0));
    assert_eq!(seen.counts.unread.reasons().count(), 0);
}

#[test]
fn a_signed_create_of_version_3_is_read_over_udp_and_tcp() {
    let (call, reply) = (signed_call(1, 3, 8, create()), signed_reply(1, created()));
    is_the_create(&datagrams(&[(Side::Client, call.clone()), (Side::Server, reply.clone())]));
    let frames = [stream(Side::Client, &call), stream(Side::Server, &reply)];
    is_the_create(&File::holding(&frames).read());
    // the reply overtakes its call
    is_the_create(&datagrams(&[(Side::Server, reply), (Side::Client, call)]));
}

#[test]
fn a_signed_lookup_of_version_2_is_read() {
    let asked = Words::default().raw(&[b'd'; 32]).opaque(b"a name");
    let seen = datagrams(&[
        (Side::Client, signed_call(1, 2, 4, asked)),
        (Side::Server, signed_reply(1, Words::of(&[2]))),
    ]);
    assert_eq!(seen.answers(), [(1, Some(2), false)]);
    assert_eq!(seen.texts("name"), [some("a name")]);
}

#[test]
fn a_signed_compound_is_taken_apart() {
    let seen = datagrams(&[
        (Side::Client, signed_call(1, 4, 1, compound4())),
        (Side::Server, signed_reply(1, compound4_results())),
    ]);
    assert_eq!(seen.words("op"), ["putfh", "lookup", "getfh"]);
    assert_eq!(seen.texts("new_fh")[1], some("new handle"));
    assert_eq!(seen.numbers("status"), [Some(0); 3]);
    assert_eq!((seen.damage(), seen.joiner.counts.short), (vec![], 0));
}

#[test]
fn a_session_is_read_from_the_making_of_its_context_to_its_end() {
    let null = |xid, step| (Side::Client, gss(xid, 3, 0, (step, INTEGRITY)).opaque(b"a token").0);
    // rpc_gss_init_res: handle, major, minor, window, token
    let results = || Words::default().opaque(b"ctx1").words(&[0, 0, 128]).opaque(b"a token");
    let step = |xid| (Side::Server, verified(xid, results()));
    let seen = datagrams(&[
        null(1, 1),
        step(1),
        null(2, 2),
        step(2),
        (Side::Client, signed_call(3, 3, 8, create())),
        (Side::Server, signed_reply(3, created())),
        null(4, 3),
        (Side::Server, verified(4, Words::default())),
    ]);
    assert_eq!((seen.tally(Op::Null), seen.tally(Op::Create)), ((3, 3), (1, 1)));
    assert_eq!(seen.texts("new_fh")[seen.rows_of(Op::Create)[0]], some("new handle"));
    assert_eq!((seen.damage(), seen.joiner.counts.short), (vec![], 0));
    assert_eq!(seen.counts.unread.reasons().count(), 0);
}

#[test]
fn a_refusal_of_a_signed_call_has_no_signed_body() {
    let refusal = Words::of(&[1, 1, 1, 1, 13]).0; // RPCSEC_GSS_CREDPROBLEM
    let seen =
        datagrams(&[(Side::Client, signed_call(1, 3, 8, create())), (Side::Server, refusal)]);
    assert_eq!(seen.answers(), [(1, Some(65_536 + 256 + 13), false)]);
}

#[test]
fn signed_messages_that_are_cut_give_as_much_as_plain_ones() {
    let cut = |message: &[u8], body: usize, left: usize| {
        let frame = stream(Side::Client, message);
        let captured = frame.len() - (message.len() - body) + left;
        (frame, captured)
    };
    let arguments = create().0.len();
    let signed = signed_call(1, 3, 8, create());
    let plain = call(1, 3, 8, create());
    // behind the header come a length and a sequence number; the checksum takes 32 bytes
    let (signed_body, plain_body) = (signed.len() - 32 - arguments, plain.len() - arguments);
    for left in 0..arguments {
        let read = |(frame, captured): (Vec<u8>, usize)| File::new().cut(&frame, captured).read();
        let signed = read(cut(&signed, signed_body, left));
        let plain = read(cut(&plain, plain_body, left));
        for column in ["fh", "name"] {
            assert_eq!(signed.texts(column), plain.texts(column), "{left}");
        }
        assert_eq!(signed.numbers("set_mode"), plain.numbers("set_mode"), "{left}");
        assert_eq!(signed.answers(), plain.answers(), "{left}");
        assert_eq!(signed.joiner.counts.short, plain.joiner.counts.short, "{left}");
    }
}

#[test]
fn a_cut_checksum_costs_nothing() {
    let frame = stream(Side::Client, &signed_call(1, 3, 8, create()));
    let seen = File::new().cut(&frame, frame.len() - 20).read();
    assert_eq!(seen.answers(), [(1, None, false)]);
    assert_eq!(seen.numbers("set_mode"), [Some(0o640)]);
}

#[test]
fn a_signed_write_is_known_before_its_data_are_there() {
    let write =
        Words::default().opaque(b"file").long(0).words(&[300_000, 2]).opaque(&vec![0; 300_000]);
    let message = marked(&signed_call(1, 3, 7, write));
    let seen = File::holding(&[segment(Side::Client, 1, &message[..MARK + 300])]).read();
    assert_eq!(
        (seen.texts("fh"), seen.numbers("count")),
        (vec![some("file")], vec![Some(300_000)])
    );
    assert_eq!(seen.answers(), [(1, None, false)]);
}

#[test]
fn a_signed_body_that_makes_no_sense_is_set_aside() {
    // its length ends within the name: more bytes of it will not come
    let short = Words::of(&[7]).opaque(b"directory").words(&[40]).raw(b"name");
    let call = gss(1, 3, 8, (0, INTEGRITY)).opaque(&short.0).opaque(&[b'c'; 28]).0;
    let mut seen = datagrams(&[(Side::Client, call)]);
    assert_eq!(seen.damage(), [("bad-arguments", 1)]);
    assert_eq!(seen.joiner.quarantine.take()[0].expected, "a longer signed body");
}

#[test]
fn an_xid_that_a_plain_call_uses_again_is_read_as_plain() {
    let seen = datagrams(&[
        (Side::Client, signed_call(1, 3, 8, create())),
        (Side::Server, signed_reply(1, created())),
        (Side::Client, lookup(1, b"a")),
        (Side::Server, not_found(1)),
    ]);
    assert_eq!(seen.answers(), [(1, Some(0), false), (1, Some(2), false)]);
}

#[test]
fn encrypted_messages_are_counted_and_not_misread() {
    let call = |xid| gss(xid, 3, 8, (0, PRIVACY)).opaque(&[0xee; 100]).0;
    let reply = |xid| verified(xid, Words::default().opaque(&[0xee; 60]));
    let bytes = (call(1).len() + reply(1).len()) as u64;
    let seen = datagrams(&[(Side::Client, call(1)), (Side::Server, reply(1))]);
    assert_eq!(seen.answers(), [(1, None, true)]);
    assert_eq!(seen.counts.unread.reasons().collect::<Vec<_>>(), [("krb5p", 2, bytes)]);
    // and not called cut, nor damaged
    assert_eq!((seen.damage(), seen.joiner.counts.short), (vec![], 0));
    // a message that comes in pieces counts with all its bytes
    let message = marked(&call(1));
    let pieces =
        [segment(Side::Client, 1, &message[..150]), segment(Side::Client, 151, &message[150..])];
    let seen = File::holding(&pieces).read();
    let bytes = call(1).len() as u64;
    assert_eq!(seen.counts.unread.reasons().collect::<Vec<_>>(), [("krb5p", 1, bytes)]);
    // a reply that comes first is counted with its call
    let seen = datagrams(&[(Side::Server, reply(1)), (Side::Client, call(1))]);
    assert_eq!(seen.counts.unread.reasons().next().map(|(_, count, _)| count), Some(2));
}
