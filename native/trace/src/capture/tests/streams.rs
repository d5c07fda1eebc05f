//! TCP streams and the records in them.

use super::testing::*;
use crate::schema::Op;

const SYN: u8 = 2;
const RST: u8 = 4;

/// Twelve calls as a stream, and where each one begins in it.
fn calls() -> (Vec<u8>, Vec<usize>) {
    let (mut stream, mut starts) = (Vec::new(), Vec::new());
    for xid in 0..12 {
        starts.push(stream.len());
        stream.extend(marked(&lookup(xid, format!("name{xid}").as_bytes())));
    }
    (stream, starts)
}

/// The frames of a stream that begins at a sequence number, cut at the given places.
fn frames(stream: &[u8], sequence: u32, cuts: &[usize]) -> Vec<Vec<u8>> {
    let ends = cuts.iter().copied().chain([stream.len()]);
    let mut from = 0;
    let mut frames = Vec::new();
    for to in ends {
        let at = sequence.wrapping_add(from as u32);
        frames.push(segment(Side::Client, at, &stream[from..to]));
        from = to;
    }
    frames
}

fn opening(sequence: u32) -> Vec<u8> {
    ethernet(&ipv4(Side::Client, 6, 0, &tcp(Side::Client, sequence.wrapping_sub(1), SYN, &[])))
}

fn xids(seen: &Seen) -> Vec<u32> {
    seen.answers().iter().map(|(xid, ..)| *xid).collect()
}

fn all() -> Vec<u32> {
    (0..12).collect()
}

#[test]
fn messages_are_split_across_and_within_segments() {
    let (stream, _) = calls();
    for size in [1, 3, 7, 40, 99, 500, 10_000] {
        let cuts: Vec<usize> = (size..stream.len()).step_by(size).collect();
        for opened in [true, false] {
            let mut packets = frames(&stream, 77, &cuts);
            if opened {
                packets.insert(0, opening(77));
            }
            let seen = File::holding(&packets).read();
            assert_eq!(xids(&seen), all(), "segments of {size} bytes, opened: {opened}");
            assert!(seen.answers().iter().all(|(.., short)| !short));
            assert_eq!(seen.counts.resyncs, 0);
        }
    }
}

#[test]
fn a_message_of_several_fragments_is_one_message() {
    let message = lookup(5, b"a name");
    for cut in [4, 8, 20, 41, message.len()] {
        let (first, rest) = message.split_at(cut);
        let stream = [
            Words::of(&[first.len() as u32]).raw(first).0,
            Words::of(&[0x8000_0000 | rest.len() as u32]).raw(rest).0,
            marked(&lookup(6, b"b")),
        ];
        if cut < 8 {
            continue; // fragments too short to hold an XID and a type are not believed
        }
        for at in [10, 30, 60] {
            let packets = frames(&stream.concat(), 9, &[at]);
            let seen = File::holding(&[&[opening(9)][..], &packets].concat()).read();
            assert_eq!(xids(&seen), [5, 6], "fragments of {cut} bytes, segments of {at}");
        }
    }
}

#[test]
fn delayed_and_repeated_segments_lose_nothing() {
    let (stream, starts) = calls();
    let packets = frames(&stream, 1000, &starts[1..]);
    for late in 0..12 {
        for behind in 1..=6 {
            for opened in [true, false] {
                let mut order = packets.clone();
                let delayed = order.remove(late);
                order.insert((late + behind).min(11), delayed.clone());
                order.push(delayed);
                if opened {
                    order.insert(0, opening(1000));
                }
                let seen = File::holding(&order).read();
                assert_eq!(xids(&seen), all(), "segment {late} behind {behind}: {opened}");
                assert_eq!(seen.counts.holes, 0);
            }
        }
    }
}

#[test]
fn an_opening_that_comes_late_still_opens() {
    let (stream, starts) = calls();
    let mut packets = frames(&stream, 1000, &starts[1..]);
    packets.insert(3, opening(1000));
    packets.swap(0, 2);
    packets.insert(8, opening(1000)); // and is sent again
    assert_eq!(xids(&File::holding(&packets).read()), all());
}

#[test]
fn overlapping_segments_are_taken_once() {
    let (stream, _) = calls();
    let packets: Vec<_> = (0..stream.len())
        .step_by(20)
        .map(|from| {
            let to = stream.len().min(from + 70);
            segment(Side::Client, from as u32, &stream[from..to])
        })
        .collect();
    let seen = File::holding(&packets).read();
    assert_eq!(xids(&seen), all());
    assert_eq!(seen.tally(Op::Lookup), (12, 0));
}

#[test]
fn sequence_numbers_wrap() {
    let (stream, starts) = calls();
    let start = 0_u32.wrapping_sub(400);
    for opened in [true, false] {
        let mut packets = frames(&stream, start, &starts[1..]);
        packets.swap(4, 5);
        if opened {
            packets.insert(0, opening(start));
        }
        assert_eq!(xids(&File::holding(&packets).read()), all());
    }
}

#[test]
fn a_lost_segment_costs_the_messages_it_touches() {
    let (stream, starts) = calls();
    for lost in 1..11 {
        let mut packets = frames(&stream, 1000, &starts[1..]);
        packets.remove(lost);
        let seen = File::holding(&packets).read();
        let others: Vec<u32> = (0..12).filter(|xid| *xid != lost as u32).collect();
        assert_eq!(xids(&seen), others);
        assert_eq!((seen.counts.holes, seen.counts.resyncs), (1, 1));
    }
}

#[test]
fn a_hole_within_a_message_is_skipped_exactly() {
    let stream = [marked(&lookup(1, b"a")), marked(&write(2, 9000)), marked(&lookup(3, b"b"))];
    let (start, stream) = (stream[0].len(), stream.concat());
    let mut packets = frames(&stream, 5, &[start, start + 1000, start + 5000]);
    packets.remove(2);
    let seen = File::holding(&packets).read();
    // the write's data are not its arguments: nothing is missing from it
    assert_eq!(seen.answers(), [(1, None, false), (2, None, false), (3, None, false)]);
    assert_eq!((seen.counts.missing_bytes, seen.counts.resyncs), (4000, 0));
}

#[test]
fn a_hole_over_a_boundary_is_followed_by_a_search() {
    let stream = [
        marked(&lookup(1, b"a")),
        marked(&write(2, 9000)),
        marked(&write(3, 9000)),
        marked(&lookup(4, b"b")),
    ];
    let (start, stream) = (stream[0].len(), stream.concat());
    let mut packets = frames(&stream, 5, &[start, start + 8000, start + 10_000]);
    packets.remove(2);
    let seen = File::holding(&packets).read();
    assert_eq!(seen.answers(), [(1, None, false), (2, None, false), (4, None, false)]);
    assert_eq!(seen.counts.resyncs, 1);
    assert!(seen.counts.skipped_bytes > 7000);
}

#[test]
fn packets_cut_by_the_capture_keep_the_boundaries() {
    let (stream, starts) = calls();
    let mut file = File::new();
    for frame in frames(&stream, 5, &starts[1..]) {
        file = file.cut(&frame, 54 + 32);
    }
    let seen = file.read();
    let short: Vec<_> = (0..12).map(|xid| (xid, None, true)).collect();
    assert_eq!(seen.answers(), short);
    assert_eq!((seen.counts.cut_packets, seen.counts.resyncs), (12, 0));
}

#[test]
fn replies_are_found_again_by_the_calls_that_await_them() {
    let (stream, starts) = calls();
    let replies: Vec<Vec<u8>> = (0..12).map(|xid| marked(&not_found(xid))).collect();
    let stream_of_replies = replies.concat();
    let size = replies[0].len();
    let mut file = File::holding(&frames(&stream, 1, &starts[1..]));
    // it breaks off within the second message, and goes on within the fourth
    let cut = 3 * size + size / 2;
    file = file.packet(&segment(Side::Server, 1, &stream_of_replies[..size + 10]));
    file = file.packet(&segment(Side::Server, 1 + cut as u32, &stream_of_replies[cut..]));
    let seen = file.read();
    let answered = seen.answers().iter().filter(|(_, status, _)| *status == Some(2)).count();
    assert_eq!((answered, seen.counts.resyncs), (9, 1));
    assert_eq!(seen.damage(), [("cut-header", 1)]); // the second, with only its XID present
}

#[test]
fn a_new_conversation_on_the_same_ports_begins_afresh() {
    let (first, _) = calls();
    let second = marked(&lookup(99, b"new"));
    let packets = [
        opening(5),
        segment(Side::Client, 5, &first[..first.len() - 6]),
        opening(3_000_000_000),
        segment(Side::Client, 3_000_000_000, &second),
    ];
    let seen = File::holding(&packets).read();
    assert_eq!(seen.answers().last(), Some(&(99, None, false)));
    assert_eq!(seen.answers().len(), 13);
}

#[test]
fn damaged_openings_and_resets_do_not_disturb_a_conversation() {
    let (stream, starts) = calls();
    let mut packets = frames(&stream, 1000, &starts[1..]);
    let damaged = |flags| {
        let at = 1000 + starts[4] as u32;
        ethernet(&ipv4(Side::Client, 6, 0, &tcp(Side::Client, at, flags, &[7; 90])))
    };
    packets.insert(4, damaged(RST));
    packets.insert(4, damaged(SYN));
    packets.insert(0, opening(1000));
    assert_eq!(xids(&File::holding(&packets).read()), all());
}

#[test]
fn a_gap_is_given_up_once_its_bytes_are_acknowledged() {
    let (stream, starts) = calls();
    let mut file = File::holding(&[opening(1)]);
    for (xid, frame) in frames(&stream, 1, &starts[1..]).iter().enumerate() {
        if xid != 1 {
            file = file.packet(frame);
        }
        let mut answer = tcp(Side::Server, 50, 16, &[]);
        let next = starts.get(xid + 1).copied().unwrap_or(stream.len()) as u32 + 1;
        answer[8..12].copy_from_slice(&next.to_be_bytes());
        file = file.packet(&ethernet(&ipv4(Side::Server, 6, 0, &answer)));
    }
    file.now += 1_000;
    // the gap was closed while the conversation went on, so that its bytes come too late now
    let late = frames(&stream, 1, &starts[1..])[1].clone();
    let seen = file.packet(&late).read();
    assert_eq!(xids(&seen), [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(seen.counts.holes, 1);
}

#[test]
fn conversations_that_are_not_rpc_are_left_alone() {
    let page = vec![b'x'; 60_000];
    for (frame, unread) in [
        (elsewhere as fn(Side, u32, &[u8]) -> Vec<u8>, vec![]),
        // those of NFS's port should have been RPC's
        (segment, vec![("no-message", 100, 6_000_000)]),
    ] {
        let mut file = File::new();
        for part in 0..100_u32 {
            file = file.packet(&frame(Side::Server, part * 60_000, &page));
        }
        let seen = file.read();
        assert_eq!((seen.counts.messages, seen.counts.resyncs), (0, 0));
        assert_eq!(seen.counts.other_packets > 20, unread.is_empty());
        assert_eq!(seen.unread(), unread);
    }
}

/// A frame of a conversation between other ports.
fn elsewhere(side: Side, sequence: u32, body: &[u8]) -> Vec<u8> {
    let mut segment = tcp(side, sequence, 16, body);
    let port = if side == Side::Server { 0 } else { 2 };
    segment[port..port + 2].copy_from_slice(&5432_u16.to_be_bytes());
    ethernet(&ipv4(side, 6, 0, &segment))
}

#[test]
fn conversations_of_other_protocols_are_no_damage() {
    // Modbus, PostgreSQL's request for TLS, Gearman, and words that a record mark could be
    for payload in [
        &b"\0\x01\0\0\0\x06\x01\x03\0\x6b\0\x03"[..],
        b"\0\x01\0\0\0\x06\x01\x03\0\x6b",
        b"\0\0\0\x08\x04\xd2\x16\x2f",
        b"\0REQ\0\0\0\x01\0\0\0\x02ab",
        b"\0\0\0\x28\0\0\0\x07\0\0\0\0",
        b"\x80\0\0\x18\0\0\0\x07\0\0\0\x01\0\0\0\0\0\0\0\0",
    ] {
        for opened in [true, false] {
            let syn = ethernet(&ipv4(Side::Client, 6, 0, &{
                let mut syn = tcp(Side::Client, 4, SYN, &[]);
                syn[2..4].copy_from_slice(&5432_u16.to_be_bytes());
                syn
            }));
            let frame = elsewhere(Side::Client, 5, payload);
            let frames = if opened { vec![syn, frame] } else { vec![frame] };
            let seen = File::holding(&frames).read();
            assert_eq!((seen.counts.messages, seen.damage()), (0, vec![]), "{payload:?}");
            assert!(seen.unread().is_empty());
        }
    }
}

#[test]
fn a_message_too_short_to_tell_is_damage_where_its_conversation_is_rpcs() {
    let mut stream = marked(&lookup(1, b"a"));
    stream.extend([0x80, 0, 0, 60, 0, 0, 0, 2]);
    let seen = File::holding(&[opening(1), segment(Side::Client, 1, &stream)]).read();
    assert_eq!((seen.answers().len(), seen.damage()), (1, vec![("cut-header", 1)]));
}

/// A reply with a verifier of RPCSEC_GSS.
fn signed(xid: u32, status: u32) -> Vec<u8> {
    let header = Words::of(&[xid, 1, 0, 6]).opaque(&[9; 37]);
    marked(&header.words(&[0, status, 0]).0)
}

/// A denied reply: the credentials were rejected.
fn denied(xid: u32) -> Vec<u8> {
    marked(&Words::of(&[xid, 1, 1, 1, 13]).0)
}

#[test]
fn replies_of_every_kind_are_found_before_their_calls_are_known() {
    let kinds: [fn(u32) -> Vec<u8>; 3] =
        [|xid| signed(xid, 2), denied, |xid| marked(&not_found(xid))];
    let statuses = [2, 65_536 + 256 + 13, 2];
    for (kind, status) in kinds.into_iter().zip(statuses) {
        let replies: Vec<u8> = (0..12).flat_map(kind).collect();
        let (calls, _) = calls();
        // the replies' conversation runs before that of the calls; both begin amid a message
        for skipped in [0, 9] {
            let mut file = File::new();
            let cuts: Vec<usize> = (50..replies.len() - skipped).step_by(50).collect();
            let mut from = 0;
            for to in cuts.into_iter().chain([replies.len() - skipped]) {
                let part = &replies[skipped..][from..to];
                file = file.packet(&segment(Side::Server, 1 + from as u32, part));
                from = to;
            }
            let seen = file.packet(&segment(Side::Client, 1, &calls)).read();
            let answered = seen.answers().iter().filter(|row| row.1 == Some(status)).count();
            assert_eq!(answered, if skipped == 0 { 12 } else { 11 });
            let of_reply = kind(0).len() as u64 - skipped as u64;
            let passed = if skipped == 0 { 0 } else { of_reply };
            assert_eq!((seen.counts.skipped_bytes, seen.damage()), (passed, vec![]));
            let bytes = calls.len() + replies.len() - skipped;
            assert_eq!((seen.counts.rpc_bytes, seen.unread()), (bytes as u64, vec![]));
        }
    }
}

#[test]
fn a_long_reply_is_found_before_its_call_is_known() {
    let page = reply(7, Words::of(&[0, 0, 40_000, 1]).opaque(&vec![0x5a; 40_000]));
    let stream =
        [&b"the end of another reply"[..], &marked(&page), &marked(&not_found(8))].concat();
    let mut file = File::new();
    for (part, bytes) in stream.chunks(1448).enumerate() {
        file = file.packet(&segment(Side::Server, 1 + 1448 * part as u32, bytes));
    }
    let read = call(7, 3, 6, Words::default().opaque(b"file").long(0).words(&[40_000]));
    let calls = [marked(&read), marked(&lookup(8, b"a"))].concat();
    let seen = file.packet(&segment(Side::Client, 1, &calls)).read();
    assert_eq!(seen.answers(), [(7, Some(0), false), (8, Some(2), false)]);
    assert_eq!(seen.counts.skipped_bytes, 24);
}

#[test]
fn calls_precede_their_replies_where_a_capture_ends_before_they_were_in_order() {
    let mut file = File::new();
    let (calls, starts) = calls();
    for xid in 0..3 {
        let call = &calls[starts[xid]..starts[xid + 1]];
        file = file.packet(&segment(Side::Client, 1 + starts[xid] as u32, call));
        let reply = denied(xid as u32);
        let at = 1 + xid as u32 * reply.len() as u32;
        file = file.packet(&segment(Side::Server, at, &reply));
        file.now += 900;
    }
    let mut last = tcp(Side::Client, 1 + starts[3] as u32, 16, &[]);
    last[8..12].copy_from_slice(&[0, 0, 0, 73]);
    let seen = file.packet(&ethernet(&ipv4(Side::Client, 6, 0, &last))).read();
    let status = Some(65_536 + 256 + 13);
    assert_eq!(seen.answers(), [(0, status, false), (1, status, false), (2, status, false)]);
}

/// A frame whose client has another port.
fn of_port(mut frame: Vec<u8>, side: Side, port: u16) -> Vec<u8> {
    let at = if side == Side::Client { 34 } else { 36 };
    frame[at..at + 2].copy_from_slice(&port.to_be_bytes());
    frame
}

/// Adds a call that a gap holds back, on a connection of its own.
fn held_back(file: File, xid: u32, port: u16) -> File {
    let sender = |sequence, flags, body: &[u8]| {
        let packet = ipv4(Side::Client, 6, 0, &tcp(Side::Client, sequence, flags, body));
        of_port(ethernet(&packet), Side::Client, port)
    };
    let call = marked(&lookup(xid, b"held back"));
    file.packet(&sender(0, SYN, &[])).packet(&sender(1_000, 16, &call))
}

#[test]
fn a_gap_is_given_up_at_the_same_segment_wherever_reading_began() {
    let given_up = [0, 70, 140, 210].map(|earlier| {
        let mut file = File::new();
        file.now -= 100 + earlier;
        file = held_back(file, 1, 701).packet(&opening(1));
        file.now = 1_000_000_000_000;
        file = held_back(file, 2, 702);
        let answer = segment(Side::Server, 1, &marked(&not_found(2)));
        file = file.packet(&of_port(answer, Side::Server, 702));
        let (mut called, mut answered) = (1, 1);
        for xid in 10..200 {
            let (call, reply) = (marked(&lookup(xid, b"name")), marked(&not_found(xid)));
            file = file.packet(&segment(Side::Client, called, &call));
            file = file.packet(&segment(Side::Server, answered, &reply));
            (called, answered) = (called + call.len() as u32, answered + reply.len() as u32);
            file.now += 8;
        }
        file.read().numbers("xid").iter().position(|xid| *xid == Some(2))
    });
    assert!(given_up[0].is_some());
    assert_eq!(given_up, [given_up[0]; 4]);
}
