use super::*;

const KB: u64 = 1024;
const MB: u64 = KB * KB;

fn setup(change: impl FnOnce(&mut Stream)) -> Stream {
    let mut setup = Stream {
        bytes: 128 * MB,
        asked: 64 * KB,
        copy: 15_000,
        read_ahead: MB,
        rsize: MB,
        wire: 1_180_000_000,
        latency: 30_000,
        threads: 32,
        wake: 30_000,
        work: 50_000,
        record: 128 * KB,
        disks: 8,
        disk_rate: 200_000_000,
        position: 6_000_000,
        max_reorder: 0,
        seed: 1,
    };
    change(&mut setup);
    setup
}

fn streamed(change: impl FnOnce(&mut Stream)) -> Streamed {
    run(&setup(change)).unwrap()
}

/// Bytes a second.
fn rate(change: impl FnOnce(&mut Stream)) -> u64 {
    128 * MB * 1_000_000_000 / streamed(change).time
}

#[test]
fn one_call_takes_what_its_parts_take() {
    let one = streamed(|own| {
        (own.bytes, own.read_ahead, own.wake) = (64 * KB, 64 * KB, 0);
        (own.record, own.wire, own.disk_rate) = (64 * KB, MB, MB);
    });
    let expected = Streamed { calls: 1, records: 1, events: 6, ..Streamed::default() };
    // The disk and the wire take a sixteenth of a second each.
    let time = 2 * 62_500_000 + 2 * 30_000 + 50_000 + 15_000;
    assert_eq!(one, Streamed { time, ..expected });
}

#[test]
fn a_longer_window_hides_the_way_until_the_network_is_full() {
    let rates = [128 * KB, 256 * KB, MB].map(|window| rate(|own| own.read_ahead = window));
    assert!(rates[0] < rates[1] && rates[1] < rates[2], "{rates:?}");
    assert!(rates[2] > 1_100_000_000 && rates[2] < 1_180_000_000, "{rates:?}");
}

#[test]
fn calls_that_overtake_lose_the_stream_unless_it_waits_for_them() {
    let two = |reorder| streamed(|own| (own.read_ahead, own.max_reorder) = (2 * MB, reorder));
    let (strict, patient) = (two(0), two(16 * MB));
    assert!(strict.overtaken > 0 && patient.overtaken > 0);
    assert!(strict.ahead < strict.records / 2 && patient.ahead > patient.records * 9 / 10);
    assert!(strict.time > patient.time * 5 / 4, "{strict:?} {patient:?}");
}

#[test]
fn one_thread_keeps_the_order() {
    let one = streamed(|own| (own.read_ahead, own.threads) = (2 * MB, 1));
    assert_eq!(one.overtaken, 0);
    assert!(one.ahead > one.records * 9 / 10);
}

#[test]
fn a_disk_positions_unless_records_follow_or_soon_pass() {
    let mut disks = disks::Disks::new(&setup(|own| own.disks = 1));
    let mut events = Events::default();
    let pass = 128 * KB * 1_000_000_000 / 200_000_000;
    for record in [0, 1, 4, 1000, 3] {
        disks.want(record, 0, &mut events);
    }
    let mut ends = Vec::new();
    while let Some((now, event)) = events.pop() {
        let Event::Read { disk, record } = event else { continue };
        ends.push((record, now));
        disks.done(disk, now, &mut events);
    }
    let far = 7 * pass + 6_000_000;
    assert_eq!(ends, [(0, pass), (1, 2 * pass), (3, 4 * pass), (4, 5 * pass), (1000, far - pass)]);
    assert_eq!(disks.positioned, 1);
}

#[test]
fn a_run_repeats() {
    assert_eq!(streamed(|_| ()), streamed(|_| ()));
}

#[test]
fn machines_that_cannot_be_are_refused() {
    let message = |change: fn(&mut Stream)| run(&setup(change)).unwrap_err().to_string();
    assert!(message(|own| own.read_ahead = 100).starts_with("read_ahead: expected pages"));
    assert!(message(|own| own.asked = 12 * KB).starts_with("asked: "));
    assert!(message(|own| own.threads = 0).starts_with("threads, disks: "));
    assert!(message(|own| own.wire = 0).starts_with("wire, disk_rate: "));
    assert!(message(|own| own.position = u64::MAX).starts_with("times: "));
}
