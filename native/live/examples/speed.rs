//! The cost of a lookup, alone and beside a writer:
//! `cargo run --release -p birthmark-live --example speed [DIRECTORY]`, best on tmpfs.

use birthmark_learn::history::{Create, Namer, Record};
use birthmark_live::{
    Asked, Limits, Lookup, Place, Publisher, Report, Seen, SharedHistory, StaleReason, State,
};
use rustix::time::{clock_gettime, ClockId};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const KEYS: usize = 1_000_000;
const LOOKUPS: usize = 1_000_000;
const UPDATES: u64 = 50_000;
/// Each has a name, a directory and a caller of its own, or shared with few.
const CREATES: u64 = 150_000;
const LIMITS: Limits = Limits { age: u64::MAX, lag: 0, loss: 0 };

struct Given {
    name: String,
    handle: [u8; 28],
    client: &'static str,
    uid: u32,
}

fn given(number: u64) -> Given {
    let mut handle = [7; 28];
    handle[..8].copy_from_slice(&(number / 8).to_le_bytes());
    let letters = |number: u64| (b'a' + (number % 26) as u8) as char;
    let word: String = (0..5).map(|place| letters(number >> (3 * place))).collect();
    let name = format!("{word}-{number}.{}", letters(number));
    Given { name, handle, client: "10.0.0.1", uid: (number % 100) as u32 }
}

fn keys(namer: &mut Namer, given: &Given) -> impl Iterator<Item = u64> {
    let mut names = namer.names(&Create {
        name: Some(given.name.as_bytes()),
        dir_fh: Some(&given.handle),
        dir_name: Some(b"Maildir"),
        mode: Some(0o600),
        uid: Some(given.uid),
        client: Some(given.client),
    });
    names.previous = Some(0);
    names.keys().into_iter().flatten()
}

fn put(publisher: &mut Publisher, namer: &mut Namer, number: u64, at: i64) {
    let mut record = Record::default();
    record.bear(at);
    keys(namer, &given(number)).for_each(|key| publisher.writer().put(key, &record));
}

fn report(clock: i64) -> Report {
    Report { trace_clock: clock, state: State::Following, ..Report::default() }
}

fn main() {
    let folder = std::env::args().nth(1).map_or_else(|| PathBuf::from("/dev/shm"), PathBuf::from);
    let folder = tempfile::tempdir_in(folder).expect("a directory to write in");
    let path = folder.path().join("history");
    let mut publisher = Publisher::create(&path, KEYS, 100_000, "").expect("room");
    let mut namer = Namer::default();
    let began = Instant::now();
    for number in 0..CREATES {
        put(&mut publisher, &mut namer, number, 1);
        if number % 64 == 0 {
            publisher.commit(report(1));
        }
    }
    publisher.commit(report(1));
    publisher.publish().expect("a name");
    let counts = publisher.writer().counts();
    let bytes = std::fs::metadata(&path).expect("a file").len();
    println!("room for {KEYS} keys and 100000 aliases: {:.1} MB", bytes as f64 / 1e6);
    println!(
        "{} keys put in {:.2} s, {} gave way",
        counts.keys + counts.keys_gave_way,
        began.elapsed().as_secs_f64(),
        counts.keys_gave_way
    );
    measure("alone", &path);
    let (stop, updates) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| write(publisher, &stop, &updates));
        let (from, before) = (Instant::now(), updates.load(Ordering::Relaxed));
        measure("beside a writer", &path);
        let made = updates.load(Ordering::Relaxed) - before;
        println!("  {:.0} updates/s of 11 records", made as f64 / from.elapsed().as_secs_f64());
        stop.store(true, Ordering::Relaxed);
        let busy = writing.join().expect("it writes");
        println!(
            "  {:.0} ns an update, planned and stored",
            busy.as_nanos() as f64 / updates.load(Ordering::Relaxed) as f64
        );
    });
}

/// Makes so many updates a second, some at a time; returns how long they took.
fn write(mut publisher: Publisher, stop: &AtomicBool, updates: &AtomicU64) -> Duration {
    let (mut namer, began, mut busy) = (Namer::default(), Instant::now(), Duration::ZERO);
    let mut made = 0;
    while !stop.load(Ordering::Relaxed) {
        let due = began.elapsed().as_micros() as u64 * UPDATES / 1_000_000;
        let from = Instant::now();
        for number in made..due {
            put(&mut publisher, &mut namer, number * 7919 % CREATES, number as i64);
            publisher.commit(report(1));
        }
        busy += from.elapsed();
        made = due;
        updates.store(made, Ordering::Relaxed);
        std::thread::sleep(Duration::from_micros(200));
    }
    busy
}

/// Seconds that this thread took of a processor.
fn processor() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn measure(how: &str, path: &Path) {
    let mut history = SharedHistory::new(path, LIMITS);
    let creates: Vec<Given> = (0..100_000).map(|at| given(at * 7907 % CREATES)).collect();
    let (mut lookup, mut seen, mut busy) = (Lookup::default(), Seen::default(), 0);
    let mut times = Vec::with_capacity(LOOKUPS);
    let began = processor();
    for at in 0..LOOKUPS {
        let Given { name, handle, client, uid } = &creates[at % creates.len()];
        let asked = Asked {
            name: Some(name.as_bytes()),
            place: Place::Handle(handle),
            dir_name: Some(b"Maildir"),
            mode: Some(0o600),
            uid: Some(*uid),
            client: Some(client),
            time: Some(5),
        };
        let from = Instant::now();
        let found = lookup.tell(&mut history, &asked, &mut seen);
        let time = from.elapsed().as_nanos() as u64;
        times.push(time);
        busy += if found.err() == Some(StaleReason::Busy) { time } else { 0 };
    }
    let mean = (processor() - began) * 1e9 / LOOKUPS as f64;
    let busy = 100.0 * busy as f64 / times.iter().sum::<u64>() as f64;
    times.sort_unstable();
    let at = |share: f64| times[(LOOKUPS as f64 * share) as usize];
    println!(
        "{how}: {mean:.0} ns of a processor a lookup (by the clock: median {}, 99% {}, 99.99% {}, \
         longest {}), {busy:.2}% of the time busy",
        at(0.5),
        at(0.99),
        at(0.9999),
        times[LOOKUPS - 1],
    );
}
