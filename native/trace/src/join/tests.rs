use super::*;
use crate::budget::Part;
use crate::message::{Endpoint, Transport};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, RecordBatch};

const GETATTR: Procedure = Procedure::Nfs(Op::Getattr, 3);

fn at(time: i64, xid: u32) -> Envelope {
    let client = Endpoint { host: 0, port: 700 };
    let server = Endpoint { host: 1, port: 2049 };
    Envelope { time, key: CallKey { client, server, xid }, transport: Transport::Udp }
}

fn call(joiner: &mut Joiner, time: i64, xid: u32, fh: &[u8]) -> Option<HeldReply> {
    let mut fields = Fields::default();
    fields.text(Column::Fh, fh);
    joiner.call(at(time, xid), GETATTR, false, &mut fields)
}

fn reply(joiner: &mut Joiner, time: i64, xid: u32) {
    joiner.reply(at(time, xid), Some(0), false, &mut Fields::default());
}

fn rows(joiner: &mut Joiner) -> RecordBatch {
    joiner.hosts.intern("c");
    joiner.hosts.intern("s");
    joiner.finish();
    joiner.batches.take(&joiner.hosts, true).unwrap().unwrap()
}

fn column(batch: &RecordBatch, name: &str) -> Vec<Option<u32>> {
    batch.column_by_name(name).unwrap().as_primitive::<UInt32Type>().iter().collect()
}

#[test]
fn a_retransmitted_call_is_one_operation_with_a_count() {
    let mut joiner = Joiner::default();
    call(&mut joiner, 0, 1, b"a");
    call(&mut joiner, 1_100_000, 1, b"a");
    reply(&mut joiner, 1_200_000, 1);
    call(&mut joiner, 1_300_000, 1, b"a");
    reply(&mut joiner, 1_400_000, 1);
    let batch = rows(&mut joiner);
    assert_eq!(column(&batch, "retransmits"), [Some(2)]);
    assert_eq!(column(&batch, "duplicate_replies"), [Some(1)]);
    let tally = joiner.counts.procedures[Op::Getattr as usize];
    assert_eq!((tally.calls, tally.replies, tally.operations), (3, 2, 1));
}

#[test]
fn an_xid_used_again_is_a_new_call() {
    let mut joiner = Joiner::default();
    call(&mut joiner, 0, 1, b"a");
    reply(&mut joiner, 10, 1);
    call(&mut joiner, 20, 1, b"b"); // another file: not the same call
    reply(&mut joiner, 30, 1);
    call(&mut joiner, 20 + WINDOW + 1, 1, b"b"); // the same, but too late
    let batch = rows(&mut joiner);
    assert_eq!(column(&batch, "status"), [Some(0), Some(0), None]);
    assert_eq!(column(&batch, "retransmits"), [Some(0); 3]);
}

#[test]
fn a_reply_that_comes_first_waits_for_its_call() {
    let mut joiner = Joiner::default();
    joiner.hold(at(0, 1), "unknown", b"reply");
    let held = call(&mut joiner, 1000, 1, b"a").unwrap();
    assert_eq!(held.bytes, b"reply");
    joiner.reply(held.envelope, Some(2), false, &mut Fields::default());
    joiner.hold(at(0, 2), "getattr", b"lost");
    assert_eq!(column(&rows(&mut joiner), "status"), [Some(2)]);
    assert_eq!(joiner.counts.orphans, BTreeMap::from([("getattr", 1)]));
}

#[test]
fn a_call_without_a_reply_becomes_a_row_when_its_window_has_passed() {
    let mut joiner = Joiner::default();
    call(&mut joiner, 0, 1, b"a");
    call(&mut joiner, WINDOW + 1, 2, b"b");
    assert_eq!(joiner.counts.procedures[Op::Getattr as usize].unanswered, 1);
    reply(&mut joiner, WINDOW + 2, 1); // its call has been given up
    assert_eq!(joiner.counts.orphans, BTreeMap::from([("unknown", 1)]));
    let batch = rows(&mut joiner);
    assert_eq!(batch.num_rows(), 2);
    assert_eq!(batch.column_by_name("reply_time").unwrap().null_count(), 2);
}

#[test]
fn calls_find_their_replies_after_the_clock_has_jumped_back() {
    let mut joiner = Joiner::default();
    call(&mut joiner, 10 * WINDOW, 1, b"a");
    reply(&mut joiner, 10 * WINDOW + 1, 1);
    for xid in 2..5 {
        call(&mut joiner, i64::from(xid), xid, b"b");
        call(&mut joiner, i64::from(xid) + 1, xid + 100, b"c");
        reply(&mut joiner, i64::from(xid) + 2, xid);
    }
    assert_eq!(joiner.counts.procedures[Op::Getattr as usize].unanswered, 0);
    let batch = rows(&mut joiner);
    assert_eq!(column(&batch, "status").iter().flatten().count(), 4);
}

#[test]
fn memory_is_bounded_by_the_calls_remembered() {
    let mut joiner = Joiner::default();
    for xid in 0..REMEMBERED as u32 + 10 {
        call(&mut joiner, 0, xid, b"a");
    }
    assert!(joiner.calls.len() <= REMEMBERED + 1);
    assert!(joiner.waiting.len() <= REMEMBERED + 1);
}

#[test]
fn calls_of_other_programs_are_counted_and_make_no_row() {
    let mut joiner = Joiner::default();
    let mount = Procedure::Other(100_005);
    joiner.call(at(0, 1), mount, false, &mut Fields::default());
    joiner.reply(at(5, 1), None, false, &mut Fields::default());
    call(&mut joiner, 6, 2, b"a");
    assert_eq!(rows(&mut joiner).num_rows(), 1);
    assert_eq!(joiner.counts.other, BTreeMap::from([(100_005, (1, 1))]));
}

/// A budget whose share of a part is `bytes`.
fn budget(part: Part, bytes: usize) -> Budget {
    Budget::new(bytes.div_ceil(part as usize) * 1000)
}

#[test]
fn calls_of_the_longest_names_keep_to_their_share_and_become_rows_all_the_same() {
    let mut joiner = Joiner::default();
    joiner.limit(budget(Part::Calls, 1 << 20));
    for xid in 0..1000 {
        call(&mut joiner, 0, xid, &[b'n'; 4096]);
        assert!(joiner.waiting_bytes <= (1 << 20) + 16_384);
    }
    let evicted = joiner.counts.evicted["calls"];
    assert!((700..1000).contains(&evicted), "{evicted}");
    assert_eq!(joiner.counts.procedures[Op::Getattr as usize].unanswered, evicted);
    let held: usize = joiner.waiting.iter().map(|call| call.fields.memory()).sum();
    assert_eq!(joiner.waiting_bytes, held);
    joiner.finish();
    assert_eq!(joiner.batches.next_row(), 1000);
}

#[test]
fn replies_that_wait_keep_to_their_share_however_small_they_are() {
    let mut joiner = Joiner::default();
    joiner.limit(budget(Part::Replies, 100 * HELD));
    for xid in 0..1000 {
        joiner.hold(at(0, xid), "unknown", b"");
    }
    assert!(joiner.held.len() <= 100 && joiner.held_order.len() <= 200);
    assert_eq!(joiner.counts.evicted["replies"] as usize, 1000 - joiner.held.len());
    for xid in 0..1000 {
        joiner.hold(at(0, xid), "unknown", b"");
        call(&mut joiner, 0, xid, b"a"); // it has its reply: nothing waits, and the clock stands
    }
    assert!(joiner.held_order.len() <= 300, "{}", joiner.held_order.len());
}

#[test]
fn unused_hosts_are_dropped_and_those_of_calls_stay() {
    let mut joiner = Joiner::default();
    joiner.limit(budget(Part::Hosts, 100 * 160));
    let server = joiner.hosts.intern("server");
    for number in 0..1000 {
        let mut envelope = at(0, 7);
        envelope.key.server.host = server;
        envelope.key.client.host = joiner.hosts.intern(&format!("client {number}"));
        joiner.call(envelope, Procedure::Other(1), false, &mut Fields::default());
        joiner.forget_hosts();
        assert!(joiner.hosts.len() <= 200, "{}", joiner.hosts.len());
        assert_eq!(joiner.hosts.names()[server as usize], "server");
    }
}
