//! Writers that are killed inside updates, while readers read as fast as they can.

use birthmark_learn::history::Record;
use birthmark_live::header::SEQUENCE;
use birthmark_live::words::Words;
use birthmark_live::{Limits, Publisher, Report, SharedHistory, StaleReason, State};
use rustix::time::{clock_gettime, ClockId};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Where the writing process finds the path.
const WRITER: &str = "BIRTHMARK_TEST_WRITER";
const KILLS: u32 = 20;
const READERS: u64 = 2;
/// So many that a writer is inside an update nearly all the time.
const KEYS: u64 = 20_000;
const LIMITS: Limits = Limits { age: u64::MAX, lag: 0, loss: 0 };
/// Longer than any look may take of a processor, and by the clock on a machine that is as busy as
/// can be. A wait for a dead writer would not end at all.
const BOUNDS: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(5)];

fn report(version: u32) -> Report {
    Report { trace_clock: version.into(), state: State::Following, ..Report::default() }
}

/// A record whose words all follow from its key and version.
fn record(key: u64, version: u32) -> Record {
    let mixed = birthmark_learn::history::combine(key, version.into());
    Record {
        births: version,
        first_birth: mixed as i64,
        last_birth: version.into(),
        last_death: Some(!mixed as i64),
        share: [mixed as u16; 8],
        known: [(mixed % 11) as u8; 8],
        shape: mixed,
        ..Record::default()
    }
}

/// The writing process: it ends when it is killed.
#[test]
fn write_until_killed() {
    let Some(path) = std::env::var_os(WRITER) else { return };
    let mut publisher = Publisher::create(&PathBuf::from(path), KEYS as usize, 1, "").unwrap();
    for version in 1.. {
        (1..=KEYS).for_each(|key| {
            let key = birthmark_learn::history::combine(0, key);
            publisher.writer().put(key, &record(key, version));
        });
        publisher.commit(report(version));
        publisher.publish().unwrap();
    }
}

/// A writing process, which does not outlive a test that fails.
struct Writing(Child);

impl Writing {
    fn start(path: &Path) -> Writing {
        let mut writer = Command::new(std::env::current_exe().unwrap());
        writer.args(["--exact", "write_until_killed"]).env(WRITER, path);
        Writing(writer.stdout(std::process::Stdio::null()).spawn().unwrap())
    }

    fn kill(&mut self) -> Option<i32> {
        let _ = self.0.kill();
        self.0.wait().ok().and_then(|status| status.signal())
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Tells readers to stop, however a test ends: its threads are waited for even if it fails.
struct StopAtEnd<'a>(&'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The processor time of this thread, and the wall time.
fn clocks() -> [Duration; 2] {
    [ClockId::ThreadCPUTime, ClockId::Monotonic].map(|clock| {
        let time = clock_gettime(clock);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    })
}

/// Looks at three keys and the facts until it must stop; counts its looks, and returns how long
/// the longest looks took, by the two clocks.
fn read(path: &Path, seed: u64, stop: &AtomicBool, looks: &AtomicU64) -> [Duration; 2] {
    let mut history = SharedHistory::new(path, LIMITS);
    let (mut longest, mut at) = ([Duration::ZERO; 2], seed);
    while !stop.load(Ordering::Relaxed) {
        at += 1;
        let keys = [at, at * 7, at * 13];
        let keys = keys.map(|key| birthmark_learn::history::combine(0, 1 + key % KEYS));
        let began = clocks();
        let seen = history.look(|view| (keys.map(|key| view.record(key)), view.facts()));
        for ((longest, now), began) in longest.iter_mut().zip(clocks()).zip(began) {
            *longest = now.saturating_sub(began).max(*longest);
        }
        if let Ok((records, facts)) = seen {
            let version = facts.report.trace_clock as u32;
            assert_eq!(records, keys.map(|key| record(key, version)), "torn");
            looks.fetch_add(1, Ordering::Relaxed);
        }
    }
    longest
}

/// Calls until it is done; a process that does not get so far fails the test.
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::yield_now();
    }
}

/// Starts a writer, and kills it inside an update after its history was looked at.
fn kill_inside_an_update(path: &Path, looks: &AtomicU64) {
    let open = || SharedHistory::new(path, LIMITS);
    let generation = || open().reader().map_or(0, |reader| reader.generation());
    let earlier = generation();
    let mut writer = Writing::start(path);
    until("a writer begins", || generation() != earlier);
    let before = looks.load(Ordering::Relaxed);
    until("readers look", || looks.load(Ordering::Relaxed) > before);
    let history = open();
    let sequence = || history.reader().map_or(0, |reader| reader.words().load(SEQUENCE));
    until("an update is under way", || sequence() % 2 == 1);
    assert_eq!(writer.kill(), Some(9));
}

#[test]
fn no_writer_that_is_killed_tears_a_history_or_holds_up_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let (stop, looks) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut inside, mut killed) = (0, 0);
    std::thread::scope(|scope| {
        let stopping = StopAtEnd(&stop);
        let readers: Vec<_> = (0..READERS)
            .map(|seed| {
                scope.spawn({
                    let (path, stop, looks) = (&path, &stop, &looks);
                    move || read(path, seed, stop, looks)
                })
            })
            .collect();
        while inside < KILLS {
            kill_inside_an_update(&path, &looks);
            killed += 1;
            // one that was faster than the kill ended between two updates
            let mut left = SharedHistory::new(&path, LIMITS);
            let looked = left.look(|_| ());
            assert!(matches!(looked, Ok(()) | Err(StaleReason::Busy)), "{looked:?}");
            inside += u32::from(looked.is_err());
            assert!(killed < 5 * KILLS, "updates are hit too seldom");
        }
        let mut old = SharedHistory::new(&path, Limits { age: 0, ..LIMITS });
        assert_eq!(
            old.look(|_| ()),
            Err(StaleReason::Stale),
            "in time it says that the writer is dead"
        );
        drop(stopping);
        for reader in readers {
            let longest = reader.join().unwrap();
            println!("the longest look took {longest:?}, of a processor and by the clock");
            assert!(longest[0] < BOUNDS[0] && longest[1] < BOUNDS[1], "a look took {longest:?}");
        }
    });
    println!("{killed} kills, {inside} inside an update, {} looks", looks.into_inner());
}
