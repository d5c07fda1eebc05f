//! Messages lost on purpose, counted and placed in time.

use super::{Gap, Losses, Tally, EVERYONE};
use crate::budget::{Budget, Part};
use crate::message::{CallKey, Endpoint, Envelope, Interner, Transport};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use hashbrown::HashMap;

const SECOND: i64 = 1_000_000;

fn none_held() -> HashMap<CallKey, ()> {
    HashMap::new()
}

fn envelope(time: i64, xid: u32) -> Envelope {
    let client = Endpoint { host: 1, port: 700 };
    let server = Endpoint { host: 2, port: 2049 };
    Envelope { time, key: CallKey { client, server, xid }, transport: Transport::Tcp }
}

/// Calls of these XIDs, a millisecond apart, all answered.
fn losses(xids: impl IntoIterator<Item = u32>) -> Losses {
    let mut losses = Losses::default();
    for (at, xid) in xids.into_iter().enumerate() {
        let call = envelope(at as i64 * 1000, xid);
        losses.advance(call.time);
        losses.call(&call, &none_held());
        losses.answered(&call);
    }
    losses
}

fn tally(losses: &mut Losses) -> Tally {
    losses.finish();
    losses.take_periods()[0].tally
}

#[test]
fn numbers_that_a_counting_client_passed_over_are_two_lost_messages_each() {
    let mut losses = losses((100..150).filter(|xid| ![120, 130, 131].contains(xid)));
    let tally = tally(&mut losses);
    assert_eq!((tally.calls, tally.unseen()), (47, Some(3)));
    assert_eq!(tally.lost(), 6.0);
    assert_eq!(tally.fraction(), 6.0 / 100.0);
    let times: Vec<(i64, i64)> = losses.take_gaps().iter().map(|g| (g.since, g.until)).collect();
    assert_eq!(times, [(19_000, 20_000), (28_000, 29_000)]);
}

#[test]
fn numbers_are_followed_where_they_wrap_and_in_the_other_byte_order() {
    let across = (0..50).map(|i: u32| (u32::MAX - 20).wrapping_add(i)).filter(|xid| *xid != 3);
    assert_eq!(tally(&mut losses(across)).unseen(), Some(1));
    let swapped = (250..300).filter(|number| *number != 270).map(u32::swap_bytes);
    assert_eq!(tally(&mut losses(swapped)).unseen(), Some(1));
}

#[test]
fn a_number_that_comes_late_is_not_lost() {
    let late = (0..50).map(|number| match number {
        20 => 23,
        21..=23 => number - 1,
        other => other,
    });
    let mut losses = losses(late);
    assert_eq!(tally(&mut losses).unseen(), Some(0));
    assert_eq!(losses.take_gaps(), []);
}

#[test]
fn a_client_that_does_not_count_is_estimated_from_what_lacks_its_other_half() {
    // RPC's number need only be unique (RFC 5531 section 9)
    let mut losses = losses((0..100).map(|i: u32| i.wrapping_mul(2_654_435_761)));
    for i in 0..20 {
        losses.unanswered(&envelope(2 * SECOND + i, 0), false);
        losses.orphan(&envelope(3 * SECOND + i, 0));
    }
    let tally = tally(&mut losses);
    assert_eq!(tally.unseen(), None);
    // 20 of 120 calls lack a reply, so a sixth of the replies was lost: 4 of the 20 operations
    // whose call was lost, too, beside the 20 seen
    assert_eq!(tally.lost(), 20.0 + 20.0 + 2.0 * (20.0 * 20.0 / 100.0));
    let first = losses.take_gaps()[0];
    let time = 3 * SECOND;
    assert_eq!(first, Gap { server: 2, client: 1, since: time, until: time });
}

#[test]
fn a_call_whose_reply_was_seen_is_one_lost_message() {
    let mut losses = losses((0..50).filter(|xid| *xid != 30));
    let reply = envelope(2 * SECOND, 30);
    losses.reply_first(&reply.key);
    losses.orphan(&reply);
    let tally = tally(&mut losses);
    assert_eq!((tally.unseen(), tally.orphans), (Some(0), 1));
    assert_eq!(tally.lost(), 1.0);
    assert_eq!(losses.take_gaps().len(), 1);
}

#[test]
fn skipped_calls_may_each_come_late_or_have_a_reply() {
    for count in [0, 100] {
        // of many replies that wait only those of this conversation are looked at
        let mut held = none_held();
        for xid in (1000..1000 + count).chain([33]) {
            held.insert(envelope(0, xid).key, ());
        }
        let mut other = envelope(0, 34).key;
        other.client.port = 701;
        held.insert(other, ());
        let mut losses = losses(0..30);
        losses.call(&envelope(SECOND, 40), &held);
        losses.reply_first(&envelope(SECOND, 36).key);
        for late in [35, 30, 39] {
            losses.call(&envelope(SECOND, late), &none_held());
        }
        losses.reply_first(&envelope(SECOND, 36).key);
        losses.reply_first(&envelope(SECOND, 37).key);
        // of 31, 32, 33, 34, 36, 37 and 38 three were answered
        assert_eq!(tally(&mut losses).unseen(), Some(4));
        assert_eq!(losses.take_gaps().len(), 1);
    }
}

#[test]
fn calls_under_way_where_a_trace_begins_or_ends_are_not_lost() {
    let mut losses = losses(0..50);
    losses.orphan(&envelope(SECOND / 20, 900));
    losses.advance(10 * SECOND);
    losses.unanswered(&envelope(10 * SECOND - SECOND / 20, 50), true);
    losses.unanswered(&envelope(5 * SECOND, 51), true);
    let tally = tally(&mut losses);
    assert_eq!((tally.unanswered, tally.orphans), (1, 0));
}

#[test]
fn only_the_ends_of_a_gap_in_an_idle_conversation_are_near() {
    let mut losses = losses(0..50);
    let behind = envelope(100 * SECOND, 51);
    losses.advance(behind.time);
    losses.call(&behind, &none_held());
    losses.finish();
    let times: Vec<(i64, i64)> = losses.take_gaps().iter().map(|g| (g.since, g.until)).collect();
    assert_eq!(times, [(49_000, 49_000), (100 * SECOND, 100 * SECOND)]);
}

#[test]
fn periods_are_five_minutes_of_the_clock_and_come_when_nothing_more_can() {
    let mut losses = losses(0..50);
    losses.advance(300 * SECOND);
    assert_eq!(losses.take_periods(), []);
    losses.advance(500 * SECOND);
    let periods = losses.take_periods();
    assert_eq!((periods.len(), periods[0].time, periods[0].tally.calls), (1, 0, 50));
}

#[test]
fn periods_end_at_the_same_messages_wherever_reading_began() {
    let ends = |began: i64| -> Vec<i64> {
        let mut losses = Losses::default();
        let ends = |second: i64| {
            let call = envelope(second * SECOND + 700_000, second as u32);
            losses.advance(call.time);
            losses.call(&call, &none_held());
            (!losses.take_periods().is_empty()).then_some(second)
        };
        (began..3000).filter_map(ends).collect()
    };
    let whole = ends(0);
    assert_eq!(whole.len(), 9);
    for began in 1..100 {
        assert_eq!(ends(began), whole, "from {began} s on");
    }
}

#[test]
fn numbers_that_very_many_conversations_passed_over_are_bounded() {
    let mut losses = Losses::default();
    for number in 0..20_000_u32 {
        let mut call = envelope(i64::from(number), number);
        call.key.server.host = 10 + number % 2000;
        losses.advance(call.time);
        losses.call(&call, &none_held());
        losses.answered(&call);
        assert!(losses.waiting <= losses.numbers);
    }
    let waiting = losses.conversations.values().map(|each| each.waiting()).sum::<usize>();
    assert_eq!((losses.waiting, waiting), (losses.numbers, losses.numbers));
    losses.advance(60 * SECOND);
    assert_eq!(losses.waiting, 0);
}

#[test]
fn beyond_its_share_hosts_are_counted_together() {
    let mut losses = Losses::default();
    losses.limit(Budget::new(20_000_000));
    let most = 20_000 * Part::Losses as usize / 2 / 440;
    for number in 0..2 * most as u32 {
        let mut call = envelope(SECOND, number);
        call.key.client.host = number;
        losses.advance(call.time);
        losses.answered(&call);
    }
    losses.finish();
    let periods = losses.take_periods();
    assert_eq!(periods.len(), most + 1);
    assert_eq!(periods.iter().map(|period| period.tally.calls).sum::<u64>(), 2 * most as u64);
    let table = periods_of(&periods);
    assert_eq!(table.last().map(String::as_str), Some(EVERYONE));
    assert_eq!(losses.unnamed(), most as u64);
}

/// The clients of rows of the loss table.
fn periods_of(rows: &[super::Period]) -> Vec<String> {
    let mut hosts = Interner::default();
    for number in 0..100_000 {
        hosts.intern(&number.to_string());
    }
    let batch = super::periods(rows, &hosts).unwrap();
    let clients = batch.column_by_name("client").unwrap().as_dictionary::<Int32Type>();
    let words = clients.values().as_string::<i32>();
    clients.keys().values().iter().map(|key| words.value(*key as usize).to_owned()).collect()
}
