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
fn several_messages_in_a_segment_and_several_segments_of_a_message_are_told_apart() {
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
    assert_eq!(seen.damage(), [("cut-header", 1)]); // the second, of which only the XID is there
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
    let mut file = File::new();
    for part in 0..100_u32 {
        file = file.packet(&segment(Side::Server, part * 60_000, &page));
    }
    let seen = file.read();
    assert_eq!((seen.counts.messages, seen.counts.resyncs), (0, 0));
    assert!(seen.counts.other_packets > 20);
}
