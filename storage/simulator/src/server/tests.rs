//! The server against results computed by hand.

use super::*;
use crate::cluster::Version;
use crate::drive::small;
use crate::readahead::{Choice, Slots, TableRules, Victim, ZfetchRules};

const US: u64 = 1_000;

fn parameters() -> Parameters {
    let flash =
        Kind::Flash { channels: 1, read: Work::constant(100e3), write: Work::constant(500e3) };
    Parameters {
        threads: 8,
        processors: 1,
        in_turn: false,
        connections: 1,
        work: vec![Work::constant(10e3); 12],
        link: 0,
        memory: 64 << 10,
        block: 4096,
        warm: 0.0,
        ahead: Policy::None,
        changes_to_disk: false,
        locks: false,
        write_buffer: 0,
        write_back: 30_000_000_000,
        disks: Disks { count: 1, stripe: 64 << 10, kind: flash, region: 0, hints: 0 },
    }
}

fn call(at: u64, class: Class, file: u32, offset: u64, bytes: u32) -> Call {
    let (at, replied) = (at * US, (at + 10) * US);
    Call {
        at,
        replied,
        stream: 0,
        connection: 0,
        class,
        file,
        target: 0,
        directory: false,
        hints: 0,
        offset,
        bytes,
        end: NO_END,
        stable: false,
    }
}

fn run(parameters: &Parameters, issue: Issue, calls: &[Call]) -> (Vec<u64>, Outcome) {
    let mut server = Server::new(parameters.clone(), issue, 1, 0, true).unwrap();
    for call in calls {
        server.feed(*call);
        server.advance();
    }
    let outcome = server.finish();
    (server.each().iter().map(|each| each.latency / US).collect(), outcome)
}

fn latencies(parameters: &Parameters, calls: &[Call]) -> Vec<u64> {
    run(parameters, Issue::Open, calls).0
}

#[test]
fn a_read_waits_for_the_disk_and_the_next_one_does_not() {
    let read = |at| call(at, Class::Read, 1, 0, 4096);
    let (latencies, outcome) = run(&parameters(), Issue::Open, &[read(0), read(1000)]);
    assert_eq!(latencies, [110, 10]);
    assert_eq!(outcome.hit_ratio, Some(0.5));
    let parts = &outcome.kinds["read"].parts;
    assert_eq!((parts["transfer"], parts["processor"]), (50.0, 10.0));
}

#[test]
fn a_second_reader_of_a_block_under_way_waits_for_the_same_request() {
    let read = |at| call(at, Class::Read, 1, 0, 4096);
    assert_eq!(latencies(&parameters(), &[read(0), read(50)]), [110, 60]);
}

#[test]
fn what_was_used_least_lately_is_read_again() {
    let small = Parameters { memory: 8192, ..parameters() };
    let reads = [1, 2, 1, 3, 1, 2].map(|file| u64::from(file as u32));
    let calls: Vec<Call> = (0..)
        .zip(reads)
        .map(|(at, file)| call(at * 1000, Class::Read, file as u32, 0, 4096))
        .collect();
    assert_eq!(latencies(&small, &calls), [110, 110, 10, 110, 10, 110]);
}

#[test]
fn threads_and_processors_are_taken_in_the_order_of_coming() {
    let calls = [0, 0, 0].map(|at| call(at, Class::Lookup, 0, 0, 0));
    assert_eq!(latencies(&parameters(), &calls), [10, 20, 30]);
    let one = Parameters { threads: 1, processors: 4, ..parameters() };
    let (waited, outcome) = run(&one, Issue::Open, &calls);
    assert_eq!(waited, [10, 20, 30]);
    assert_eq!(outcome.kinds["lookup"].parts["thread"], 10.0);
    assert_eq!(latencies(&Parameters { processors: 4, ..parameters() }, &calls), [10, 10, 10]);
}

#[test]
fn a_commit_waits_for_what_was_written_and_a_write_does_not() {
    let calls = [
        call(0, Class::Write, 1, 0, 8192),
        call(100, Class::Commit, 1, 0, 0),
        call(2000, Class::Commit, 1, 0, 0),
        Call { stable: true, ..call(3000, Class::Write, 1, 0, 100) },
    ];
    assert_eq!(latencies(&parameters(), &calls), [10, 510, 10, 510]);
}

#[test]
fn a_write_buffer_answers_at_once_until_it_is_full() {
    let buffered = Parameters { write_buffer: 8192, ..parameters() };
    let stable = |at, file| Call { stable: true, ..call(at, Class::Write, file, 0, 4096) };
    let calls = [stable(0, 1), stable(20, 2), stable(40, 3), stable(5000, 4)];
    let (latencies, outcome) = run(&buffered, Issue::Open, &calls);
    // the third waits for the first of the two before it to be on disk, at 510 µs
    assert_eq!(latencies, [10, 10, 470, 10]);
    assert_eq!(outcome.kinds["write"].parts["write_buffer"], 460.0 / 4.0);
}

#[test]
fn changes_wait_for_the_disk_where_they_must() {
    let calls = [call(0, Class::Create, 1, 0, 0), call(2000, Class::Getattr, 1, 0, 0)];
    assert_eq!(latencies(&parameters(), &calls), [10, 10]);
    let careful = Parameters { changes_to_disk: true, ..parameters() };
    assert_eq!(latencies(&careful, &calls), [510, 10]);
}

/// Reads of 4 KB, a millisecond apart; return the latencies, and blocks read ahead.
fn reading(ahead: Policy, end: u64, reads: &[(u32, u64)]) -> (Vec<u64>, u64) {
    let ahead = Parameters { ahead, memory: 1 << 20, ..parameters() };
    let calls: Vec<Call> = (0..)
        .zip(reads)
        .map(|(at, read)| Call { end, ..call(at * 1000, Class::Read, read.0, read.1 * 4096, 4096) })
        .collect();
    let (latencies, outcome) = run(&ahead, Issue::Open, &calls);
    (latencies, outcome.ahead)
}

fn counted(heuristic: Choice, entries: Option<usize>) -> Policy {
    let (slots, victim) = (Slots::Consecutive, Victim::LeastUsed);
    let table = entries.map(|entries| TableRules { entries, probes: 1, slots, victim });
    Policy::Counted { heuristic, table, version: Version::V4 }
}

fn in_order(blocks: u64) -> Vec<(u32, u64)> {
    (0..blocks).map(|block| (1, block)).collect()
}

#[test]
fn every_policy_brings_what_is_asked_next_and_nothing_behind_the_end() {
    let zfetch = ZfetchRules { min_distance: 1 << 16, max_distance: 1 << 18, ..ZfetchRules::V2_4 };
    let all = [
        counted(Choice::Always, None),
        counted(Choice::Default4, None),
        counted(Choice::Pool(8), None),
        Policy::Linux(128 << 10),
        Policy::Zfetch(zfetch),
    ];
    let nothing = reading(Policy::None, 1 << 18, &in_order(64));
    assert_eq!((nothing.0.iter().filter(|own| **own > 10).count(), nothing.1), (64, 0));
    for policy in all {
        let (latencies, ahead) = reading(policy, 1 << 18, &in_order(64));
        let waited = latencies.iter().filter(|own| **own > 10).count();
        assert!(waited <= 2, "{policy:?}: {latencies:?}");
        assert!((56..=63).contains(&ahead), "{policy:?}: {ahead} of 64 blocks");
    }
}

#[test]
fn a_block_of_the_file_system_is_read_whole_and_waited_for() {
    let policy = counted(Choice::Cursors(8), None);
    assert_eq!(reading(policy, 1 << 20, &[(1, 41), (1, 43), (1, 40)]), (vec![110, 10, 10], 0));
}

#[test]
fn reads_that_change_places_end_read_ahead_by_default_and_not_with_slow_down() {
    let swapped: Vec<(u32, u64)> =
        (0..120).map(|at| (1, (at * 4) ^ (4 * u64::from(at > 20)))).collect();
    let ahead = |heuristic| reading(counted(heuristic, None), 1 << 21, &swapped).1;
    let (default, slow_down) = (ahead(Choice::Default4), ahead(Choice::SlowDown));
    assert!(default < slow_down / 2, "{default} {slow_down}");
}

#[test]
fn a_table_that_is_too_small_forgets_who_reads_in_order() {
    let two: Vec<(u32, u64)> = (0..128).map(|at| (1 + at as u32 % 2, at / 2)).collect();
    let waited = |entries| {
        let (latencies, _) = reading(counted(Choice::Cursors(8), entries), 1 << 20, &two);
        latencies.iter().filter(|own| **own > 10).count()
    };
    assert!(waited(Some(1)) > waited(Some(64)), "{} {}", waited(Some(1)), waited(Some(64)));
    assert_eq!(waited(Some(64)), waited(None));
}

#[test]
fn what_was_in_memory_before_is_not_read_ahead() {
    for ahead in [counted(Choice::Always, None), Policy::Linux(1 << 17)] {
        let warm = Parameters { warm: 1.0, ahead, memory: 1 << 20, ..parameters() };
        let calls = [0, 1, 2].map(|at| call(at * 1000, Class::Read, 1, at * 4096, 4096));
        let (latencies, outcome) = run(&warm, Issue::Open, &calls);
        assert_eq!((latencies, outcome.ahead), (vec![10; 3], 0), "{ahead:?}");
    }
}

#[test]
fn what_was_in_memory_before_is_not_read() {
    let warm = Parameters { warm: 1.0, ..parameters() };
    let calls: Vec<Call> =
        (0..20).map(|file| call(u64::from(file) * 1000, Class::Read, file, 0, 4096)).collect();
    assert_eq!(latencies(&warm, &calls), [10; 20]);
    let half = Parameters { warm: 0.5, ..parameters() };
    let missed = latencies(&half, &calls).iter().filter(|latency| **latency > 10).count();
    assert!((4..=16).contains(&missed), "{missed}");
    // a block that had to go is not warm a second time
    let again: Vec<Call> =
        (0..40).map(|step| call(step * 1000, Class::Read, step as u32 % 20, 0, 4096)).collect();
    assert!(latencies(&warm, &again)[20..].iter().all(|latency| *latency > 10));
}

#[test]
fn a_link_moves_data_one_after_the_other() {
    let link = Parameters { link: 100_000_000, processors: 2, warm: 1.0, ..parameters() };
    let calls = [0, 0].map(|at| call(at, Class::Read, 1, 0, 65_536 - 128));
    // 655.36 µs each, and 1.28 µs for what asks
    assert_eq!(latencies(&link, &calls), [666, 1322]);
}

#[test]
fn who_writes_a_file_has_it_alone() {
    let calls = [
        Call { stable: true, ..call(0, Class::Write, 1, 0, 4096) },
        call(1, Class::Read, 1, 0, 4096),
        call(1, Class::Read, 2, 0, 4096),
    ];
    let locked = Parameters { locks: true, ..parameters() };
    let free = latencies(&parameters(), &calls);
    let (waited, outcome) = run(&locked, Issue::Open, &calls);
    assert_eq!((free[1], waited[1]), (19, 519));
    assert!(outcome.kinds["read"].parts["lock"] > 200.0);
}

#[test]
fn calls_that_depend_come_sooner_from_a_quicker_server() {
    let calls: Vec<Call> = (0..100)
        .map(|step| Call {
            replied: (step * 100 + 60) * US,
            ..call(step * 100, Class::Lookup, 0, 0, 0)
        })
        .collect();
    let (_, open) = run(&parameters(), Issue::Open, &calls);
    let (_, dependent) = run(&parameters(), Issue::Dependent, &calls);
    // each takes 10 µs and is thought about for 40
    assert!((open.seconds - 9_910e-6).abs() < 1e-9);
    assert!((dependent.seconds - (99.0 * 50e-6 + 10e-6)).abs() < 1e-9, "{}", dependent.seconds);
}

#[test]
fn calls_of_a_connection_take_their_turn_until_they_wait_for_a_disk() {
    let on = |connection, call| Call { connection, ..call };
    let calls = [
        on(0, call(0, Class::Lookup, 1, 0, 0)),
        on(0, call(0, Class::Lookup, 1, 0, 0)),
        on(1, call(0, Class::Lookup, 1, 0, 0)),
        Call { stable: true, ..on(0, call(100, Class::Write, 1, 0, 4096)) },
        on(0, call(101, Class::Lookup, 1, 0, 0)),
    ];
    let many = Parameters { processors: 4, ..parameters() };
    assert_eq!(latencies(&many, &calls), [10, 10, 10, 510, 10]);
    let turns = Parameters { in_turn: true, ..many };
    let (waited, outcome) = run(&turns, Issue::Open, &calls);
    assert_eq!(waited, [10, 20, 10, 510, 19]);
    assert_eq!(outcome.kinds["lookup"].parts["connection"], 19.0 / 4.0);
    // the second call takes the other one of two, and so does the last
    assert_eq!(latencies(&Parameters { connections: 2, ..turns }, &calls), [10, 10, 10, 510, 10]);
}

#[test]
fn what_is_removed_or_cut_is_not_written_and_makes_room() {
    let write = |at, file, block| call(at, Class::Write, file, block * 4096u64, 4096);
    let removes = |class, at, target| Call { target, ..call(at, class, 9, 0, 0) };
    for class in [Class::Remove, Class::Rename] {
        let commit = call(100, Class::Commit, 1, 0, 0);
        let calls = [write(0, 1, 0), removes(class, 50, 1), commit];
        assert_eq!(latencies(&parameters(), &calls)[2], 10, "{class:?}");
        assert_eq!(latencies(&parameters(), &[calls[0], removes(class, 50, 2), commit])[2], 510);
    }
    let cut = |class, end| Call { end, target: 1, ..call(50, class, 1, 0, 0) };
    let read = |block| call(1000, Class::Read, 1, block * 4096u64, 4096);
    for class in [Class::Setattr, Class::Create] {
        for (end, block, latency) in [(4096, 0, 10), (4096, 1, 110), (4097, 1, 10), (NO_END, 1, 10)]
        {
            let calls = [write(0, 1, 0), write(20, 1, 1), cut(class, end), read(block)];
            assert_eq!(latencies(&parameters(), &calls)[3], latency, "{class:?} {end} {block}");
        }
    }
    // 16 blocks have room: 15 others leave the first, once the second is gone
    let others = (0..15).map(|block| write(100 + block * 20, 2, block));
    let mut calls: Vec<Call> = [write(0, 1, 0), write(20, 3, 0)].into_iter().collect();
    calls.extend([removes(Class::Remove, 50, 3)].into_iter().chain(others));
    calls.push(read(0));
    assert_eq!(latencies(&parameters(), &calls).last(), Some(&10));
}

#[test]
fn saturated_it_answers_as_many_as_its_processor_can() {
    let calls: Vec<Call> = (0..1000).map(|at| call(at * 1000, Class::Lookup, 0, 0, 0)).collect();
    let (_, outcome) = run(&parameters(), Issue::Outstanding(4), &calls);
    assert!((outcome.rate / 100_000.0 - 1.0).abs() < 1e-3, "{}", outcome.rate);
    assert!(outcome.busy["processors"] > 0.99);
    assert_eq!(outcome.outstanding, 4);
}

#[test]
fn the_parts_of_a_call_are_its_latency() {
    let drive =
        Disks { count: 2, stripe: 8192, kind: Kind::Drive(Box::new(small())), region: 0, hints: 0 };
    for disks in [parameters().disks, drive] {
        let tight = Parameters {
            disks,
            threads: 2,
            locks: true,
            link: 50_000_000,
            write_buffer: 8192,
            memory: 16 << 10,
            ..parameters()
        };
        let calls: Vec<Call> = (0..300)
            .map(|step| {
                let class = [Class::Read, Class::Write, Class::Commit][step as usize % 3];
                let stable = step % 2 == 0;
                Call { stable, ..call(step * 30, class, step as u32 % 4, 4096 * (step % 5), 6000) }
            })
            .collect();
        let (each, outcome) = run(&tight, Issue::Open, &calls);
        assert!(each.iter().all(|latency| *latency > 0));
        let all = &outcome.kinds["all"];
        let sum: f64 = all.parts.values().sum();
        assert!((sum - all.simulated.mean).abs() < 1e-3 * sum, "{all:?}");
        assert_eq!(all.simulated.calls, 300);
    }
}

#[test]
fn the_same_seed_gives_the_same_bits_and_another_one_others() {
    let mut chancy = parameters();
    chancy.work = vec![Work { quantiles: vec![(0.0, 1e3), (1.0, 1e6)], per_byte: 0.0 }; 12];
    let calls: Vec<Call> = (0..50).map(|at| call(at * 10, Class::Lookup, 0, 0, 0)).collect();
    let of = |seed| {
        let mut server = Server::new(chancy.clone(), Issue::Open, seed, 0, true).unwrap();
        calls.iter().for_each(|call| server.feed(*call));
        server.finish();
        server.each().to_vec()
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn a_server_that_cannot_be_is_refused() {
    let refused = |wrong: Parameters| Server::new(wrong, Issue::Open, 1, 0, false).err().unwrap();
    assert_eq!(
        refused(Parameters { threads: 0, ..parameters() }).to_string(),
        "threads: expected at least 1"
    );
    assert_eq!(refused(Parameters { warm: 1.5, ..parameters() }), ServerError::Warm);
    assert_eq!(refused(Parameters { work: vec![], ..parameters() }), ServerError::Classes);
    let ahead = Parameters { ahead: Policy::Linux(0), ..parameters() };
    assert_eq!(refused(ahead), ServerError::Least("linux", 1));
    let disks = Disks { region: 1 << 30, ..parameters().disks };
    assert_eq!(refused(Parameters { disks, ..parameters() }), ServerError::Region);
    let memory = Parameters { memory: 100, ..parameters() };
    assert_eq!(refused(memory), ServerError::Least("memory", 4096));
}
