//! Damaged pcap files: readable packets are read, the others are set aside with their reasons.

use super::testing::*;

const HEADER: usize = 16;

fn frame(xid: u32) -> Vec<u8> {
    ethernet(&ipv4(Side::Client, 17, 0, &udp(Side::Client, &lookup(xid, b"a name"))))
}

/// Twenty packets, and where each begins.
fn file() -> (Vec<u8>, Vec<usize>) {
    let mut file = File::new();
    let mut starts = Vec::new();
    for xid in 0..20 {
        starts.push(file.bytes.len());
        file = file.packet(&frame(xid));
    }
    (file.bytes, starts)
}

fn xids(seen: &Seen) -> Vec<u32> {
    seen.answers().iter().map(|(xid, ..)| *xid).collect()
}

fn without(lost: &[u32]) -> Vec<u32> {
    (0..20).filter(|xid| !lost.contains(xid)).collect()
}

#[test]
fn a_block_of_zeros_costs_the_packets_in_it() {
    let (mut bytes, starts) = file();
    bytes[starts[5]..starts[8] + 20].fill(0);
    let seen = read(bytes).unwrap();
    assert_eq!(xids(&seen), without(&[5, 6, 7, 8]));
    assert_eq!(seen.damage(), [("zero-block", 1)]);
}

#[test]
fn a_block_of_zeros_amid_a_packet_costs_that_packet_too() {
    let (mut bytes, starts) = file();
    bytes[starts[5] + HEADER + 50..starts[7] + 5].fill(0);
    let mut seen = read(bytes).unwrap();
    assert!(xids(&seen).starts_with(&[0, 1, 2, 3, 4]));
    assert!(xids(&seen).ends_with(&without(&[0, 1, 2, 3, 4, 5, 6, 7])));
    let damaged = seen.joiner.quarantine.take();
    assert_eq!((damaged[0].reason, damaged[0].offset), ("zero-block", starts[6] as u64));
    assert_eq!(damaged[0].length, (starts[8] - starts[6]) as u64);
}

#[test]
fn an_impossible_header_costs_its_packet() {
    // the fraction of a second, the captured length and the packet's length, too large
    for at in [7, 11, 15] {
        let (mut bytes, starts) = file();
        bytes[starts[5] + at] = 0xff;
        let seen = read(bytes).unwrap();
        assert_eq!(xids(&seen), without(&[5]), "byte {at}");
        assert_eq!(seen.damage(), [("bad-packet-header", 1)]);
    }
}

#[test]
fn a_wrong_but_possible_length_costs_only_its_packet() {
    for wrong in [10_u32, 200, 60_000] {
        let (mut bytes, starts) = file();
        bytes[starts[5] + 8..starts[5] + 12].copy_from_slice(&wrong.to_le_bytes());
        bytes[starts[5] + 12..starts[5] + 16].copy_from_slice(&wrong.to_le_bytes());
        let seen = read(bytes).unwrap();
        assert!(xids(&seen).ends_with(&without(&[0, 1, 2, 3, 4, 5])), "length {wrong}");
        assert_eq!(seen.damage(), [("bad-packet-header", 1)]);
    }
}

#[test]
fn missing_bytes_cost_the_packets_they_touch() {
    let (mut bytes, starts) = file();
    bytes.drain(starts[5] + 40..starts[8] + 30);
    let seen = read(bytes).unwrap();
    assert_eq!(xids(&seen), without(&[5, 6, 7, 8]));
    assert_eq!(seen.damage(), [("bad-packet-header", 1)]);
}

#[test]
fn a_file_cut_anywhere_is_read_to_its_end() {
    let (bytes, starts) = file();
    for cut in (starts[17]..bytes.len()).step_by(3) {
        let seen = read(bytes[..cut].to_vec()).unwrap();
        let whole = starts[1..].iter().filter(|start| **start <= cut).count();
        assert!(xids(&seen).len() >= whole, "cut at {cut}");
        // the last packet may have lost even its message's header
        let cut_short = seen.damage().contains(&("cut-short", 1));
        assert_eq!(cut_short, !starts.contains(&cut), "cut at {cut}");
    }
}

#[test]
fn a_long_pause_is_believed_when_what_follows_bears_it_out() {
    let mut file = File::new().packet(&frame(1));
    file.now += 2_000_000_000; // twenty-three days
    let seen = file.packet(&frame(2)).packet(&frame(3)).read();
    assert_eq!(xids(&seen), [1, 2, 3]);
    assert_eq!(seen.damage(), []);
}

#[test]
fn damage_longer_than_the_search_window_is_one_span() {
    let (bytes, starts) = file();
    let zeros = vec![0; 5 << 20];
    let bytes = [&bytes[..starts[5]], &zeros, &bytes[starts[5]..]].concat();
    let mut seen = read(bytes).unwrap();
    assert_eq!(xids(&seen), without(&[]));
    let damaged = seen.joiner.quarantine.take();
    assert_eq!((damaged.len(), damaged[0].length), (1, 5 << 20));
}

/// A small generator of reproducible numbers (Marsaglia's xorshift).
fn numbers(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    }
}

#[test]
fn no_damage_makes_the_decoder_panic_or_stall() {
    let mut next = numbers(42);
    let (datagrams, _) = file();
    let replies: Vec<u8> = (0..20).flat_map(|xid| marked(&not_found(xid))).collect();
    let calls: Vec<u8> = (0..20).flat_map(|xid| marked(&lookup(xid, b"a name"))).collect();
    let mut streams = File::new();
    for from in (0..600).step_by(50) {
        streams = streams.packet(&segment(Side::Client, from as u32, &calls[from..from + 50]));
        streams = streams.packet(&segment(Side::Server, from as u32, &replies[from..from + 30]));
    }
    for round in 0..200 {
        let mut bytes = if round % 2 == 0 { datagrams.clone() } else { streams.bytes.clone() };
        for _ in 0..=next(8) {
            let at = 24 + next(bytes.len() - 24);
            match next(3) {
                0 => bytes[at] = next(256) as u8,
                1 => bytes.truncate(at.max(60)),
                _ => {
                    let to = bytes.len().min(at + next(100));
                    bytes[at..to].fill([0, 0xff, 0x80][next(3)]);
                }
            }
        }
        let seen = read(bytes).unwrap();
        assert!(seen.counts.packets <= 2000);
    }
}
