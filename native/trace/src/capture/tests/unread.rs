//! Unreadable traffic is counted by its reason, and other protocols are not mistaken for RPC.

use super::testing::*;

const SYN: u8 = 2;

/// A datagram between ports, and its frame.
fn datagram(side: Side, from: u16, to: u16, body: &[u8]) -> Vec<u8> {
    let mut datagram = udp(side, body);
    datagram[..4].copy_from_slice(&[from.to_be_bytes(), to.to_be_bytes()].concat());
    ethernet(&ipv4(side, 17, 0, &datagram))
}

fn opening(side: Side) -> Vec<u8> {
    ethernet(&ipv4(side, 6, 0, &tcp(side, 0, SYN, &[])))
}

/// A record of TLS, of a type and a length.
fn record(kind: u8, first: u8, length: u16) -> Vec<u8> {
    let [high, low] = length.to_be_bytes();
    let mut record = [&[kind, 3, 3, high, low][..], &vec![0x5a; length.into()]].concat();
    record[5] = first;
    record
}

/// Both sides of a TLS session, and their bytes.
fn session(starts: [u32; 2]) -> (Vec<Vec<u8>>, u64) {
    let client = [record(22, 1, 500), record(20, 1, 1), record(23, 9, 900)].concat();
    let server = [record(22, 2, 90), record(23, 9, 3000)].concat();
    let frames = vec![
        segment(Side::Client, starts[0], &client[..505]),
        segment(Side::Server, starts[1], &server[..1448]),
        segment(Side::Server, starts[1] + 1448, &server[1448..]),
        segment(Side::Client, starts[0] + 505, &client[505..]),
    ];
    (frames, (client.len() + server.len()) as u64)
}

#[test]
fn tls_after_starttls_is_counted() {
    // RFC 9289 section 4.1: a NULL call with AUTH_TLS, and a verifier that says STARTTLS
    let call = marked(&Words::of(&[7, 0, 2, 100_003, 4, 0, 7, 0, 0, 0]).0);
    let reply = marked(&Words::of(&[7, 1, 0, 0]).opaque(b"STARTTLS").words(&[0]).0);
    let (frames, bytes) = session([1 + call.len() as u32, 1 + reply.len() as u32]);
    let mut file = File::holding(&[opening(Side::Client), opening(Side::Server)]);
    file = file.packet(&segment(Side::Client, 1, &call)).packet(&segment(Side::Server, 1, &reply));
    let seen = frames.iter().fold(file, |file, frame| file.packet(frame)).read();
    assert_eq!(seen.answers(), [(7, Some(0), false)]);
    assert_eq!(seen.unread(), [("tls", 4, bytes)]);
    assert_eq!((seen.counts.skipped_bytes, seen.counts.resyncs, seen.damage()), (0, 0, vec![]));
    assert_eq!(seen.counts.rpc_bytes, (call.len() + reply.len()) as u64);
}

#[test]
fn tls_from_the_first_byte_or_met_in_its_middle_is_counted() {
    let (frames, bytes) = session([1, 1]);
    let opened = [vec![opening(Side::Client), opening(Side::Server)], frames.clone()].concat();
    for frames in [opened, frames.clone()] {
        let seen = File::holding(&frames).read();
        assert_eq!((seen.unread(), seen.damage()), (vec![("tls", 4, bytes)], vec![]));
    }
    let seen = File::holding(&frames[2..]).read();
    assert_eq!(seen.unread(), [("tls", 2, 1652 + 911)]);
}

#[test]
fn rpc_over_rdma_is_counted() {
    let message = Words::of(&[9, 1, 32, 0, 0, 0, 0, 9, 0, 2, 100_003, 4, 1, 0, 0, 0, 0]);
    let send = Words::of(&[0x0400_ffff, 5, 1]).raw(&message.0).0;
    let data = Words::of(&[0x0d00_ffff, 5, 2, 0]).raw(&[0; 1024]).0;
    let foreign = Words::of(&[0x0d00_ffff, 6, 2, 0]).raw(&[0; 1024]).0;
    let packet = |body: &[u8]| datagram(Side::Client, 50_000, 4791, body);
    let seen = File::holding(&[packet(&send), packet(&data), packet(&foreign)]).read();
    assert_eq!(seen.unread(), [("rpc-rdma", 2, (send.len() + data.len()) as u64)]);
    let mpa = segment(Side::Client, 1, b"MPA ID Req Frame\x40\x01\0\0");
    let seen = File::holding(&[opening(Side::Client), mpa]).read();
    assert_eq!(seen.unread(), [("rpc-rdma", 1, 20)]);
}

#[test]
fn the_middle_of_a_message_is_counted_until_one_begins() {
    let stream = [&[0x5a; 5000][..], &marked(&lookup(3, b"a"))].concat();
    let frames: Vec<_> = stream
        .chunks(1000)
        .enumerate()
        .map(|(part, bytes)| segment(Side::Client, 1 + 1000 * part as u32, bytes))
        .collect();
    let seen = File::holding(&frames[..5]).read();
    assert_eq!((seen.unread(), seen.counts.skipped_bytes), (vec![("no-message", 5, 5000)], 0));
    let seen = File::holding(&frames).read();
    assert_eq!((seen.unread(), seen.counts.skipped_bytes), (vec![], 5000));
    assert_eq!(seen.counts.rpc_bytes, stream.len() as u64);
}

#[test]
fn the_chatter_of_other_protocols_is_no_rpc() {
    // BFD's echo; a DHCP request whose XID is the number of a reply; SNMP; DNS
    let echo = Words::of(&[7, 1, 0]).0;
    let dhcp = Words::of(&[0x0101_0600, 1, 0, 0, 0, 0, 0]).raw(&[0; 272]).0;
    let snmp = b"\x30\x29\x02\x01\x01\x04\x06public\xa0\x1c\x02\x04\0\0\0\x01\x02\x01\0\x02\x01\0";
    let dns = b"\x12\x34\x01\0\0\0\0\x01\0\0\0\0\0\0\0\0\x03www\x01a\0\0\x01\0\x01";
    let seen = File::holding(&[
        datagram(Side::Client, 49_152, 3785, &echo),
        datagram(Side::Client, 68, 67, &dhcp),
        datagram(Side::Client, 161, 161, snmp),
        datagram(Side::Client, 53, 53, dns),
    ])
    .read();
    assert_eq!((seen.counts.messages, seen.counts.other_packets), (0, 4));
    assert!(seen.joiner.counts.orphans.is_empty() && seen.unread().is_empty());
}

#[test]
fn a_reply_whose_call_was_not_seen_is_one_where_it_comes_from_a_server() {
    let mount = Words::of(&[7, 0, 2, 100_005, 3, 1, 0, 0, 0, 0]).opaque(b"/export").0;
    let answer = reply(8, Words::of(&[0]));
    for (called, orphans) in [(false, 0), (true, 1)] {
        let call = datagram(Side::Client, 700, 892, &mount);
        let reply = datagram(Side::Server, 892, 700, &answer);
        let file = if called { File::holding(&[call, reply]) } else { File::holding(&[reply]) };
        let seen = file.read();
        assert_eq!(seen.joiner.counts.orphans.values().sum::<u64>(), orphans);
    }
    let seen = File::holding(&[datagram(Side::Server, 2049, 700, &answer)]).read();
    assert_eq!(seen.joiner.counts.orphans.get("unknown"), Some(&1));
}

#[test]
fn messages_that_the_capture_cut_are_counted() {
    // a snapshot length of 96 bytes leaves 42 of a message in a TCP segment
    let mut file = File::holding(&[opening(Side::Client), opening(Side::Server)]);
    let (mut at, mut back) = (1, 1);
    for xid in 0..5 {
        let name = format!("a name that is longer than what is left of it, {xid}");
        let (call, reply) = (marked(&lookup(xid, name.as_bytes())), marked(&not_found(xid)));
        file = file.cut(&segment(Side::Client, at, &call), 96);
        file = file.packet(&segment(Side::Server, back, &reply));
        (at, back) = (at + call.len() as u32, back + reply.len() as u32);
    }
    let seen = file.read();
    assert_eq!((seen.counts.cut_messages, seen.counts.messages), (5, 10));
    assert_eq!(seen.answers().iter().filter(|row| row.2).count(), 5);
}

#[test]
fn the_versions_that_a_server_offers_are_noted() {
    let ask = Words::of(&[7, 0, 2, 100_003, 0, 0, 0, 0, 0, 0]).0;
    let refusal = Words::of(&[7, 1, 0, 0, 0, 2, 2, 4]).0;
    let frame = |side, message: &[u8]| ethernet(&ipv4(side, 17, 0, &udp(side, message)));
    let seen = File::holding(&[frame(Side::Client, &ask), frame(Side::Server, &refusal)]).read();
    assert_eq!(seen.counts.offered, Some((2, 4)));
    assert_eq!(seen.joiner.counts.other.get(&100_003), Some(&(1, 1)));
}
