//! The data that a file system's cleaner moves, and the trial that compares it with and without
//! hints.

use std::cell::Cell;
use std::fs;
use std::io::{self, ErrorKind::InvalidData};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::rand::{getrandom, GetRandomFlags};
use tokio::time::sleep;

use super::counters::Counters;
use super::trial::{Trial, Written, PERIODS};
use super::trial_state::TrialState;
use crate::log::{line, Trouble};

/// Files that each begin with a counter: data written, and data moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gauges {
    /// All data written, in any unit.
    pub written: PathBuf,
    /// Data moved; several add up.
    pub moved: Vec<PathBuf>,
}

impl Gauges {
    /// The gauges of F2FS on a device, from `sysfs`; none for other file systems.
    pub fn of_f2fs(sysfs: &Path, device: (u32, u32)) -> Option<Gauges> {
        let (major, minor) = device;
        let link = fs::canonicalize(sysfs.join(format!("dev/block/{major}:{minor}"))).ok()?;
        let folder = sysfs.join("fs/f2fs").join(link.file_name()?);
        let gauges = Gauges {
            written: folder.join("lifetime_write_kbytes"),
            moved: ["foreground", "background"]
                .map(|who| folder.join(format!("moved_blocks_{who}")))
                .into(),
        };
        gauges.read().is_ok().then_some(gauges)
    }

    /// Their values.
    pub fn read(&self) -> io::Result<Written> {
        let moved = self.moved.iter().map(|path| number(path)).sum::<io::Result<f64>>()?;
        Ok(Written { all: number(&self.written)?, moved })
    }
}

fn number(path: &Path) -> io::Result<f64> {
    let named = |why: String| format!("{}: {why}", path.display());
    let text = fs::read_to_string(path)
        .map_err(|error| io::Error::new(error.kind(), named(error.to_string())))?;
    let word = text.split_whitespace().next().unwrap_or_default();
    let number = word.parse::<u64>().map_err(|_| {
        io::Error::new(InvalidData, named(format!("expected a number, found {word:?}")))
    })?;
    Ok(number as f64)
}

/// Tests hints in rounds of periods as long as they do no harm, and then switches them off.
pub async fn watch(
    gauges: &Gauges,
    period: Duration,
    state: &TrialState,
    mut trial: Trial,
    hints: &Cell<bool>,
    counters: &Counters,
) {
    let (trouble, keeping) = (Trouble::new("the trial"), Trouble::new("the trial's state"));
    while !trial.harm {
        let without = drawn();
        match round(gauges, period, without, hints).await {
            Ok(periods) => {
                trouble.is_over();
                counters.rounds.add();
                trial.take(&periods, without);
                match state.write(&trial) {
                    Ok(()) => keeping.is_over(),
                    Err(error) => keeping.is(error),
                }
            }
            Err(error) => {
                counters.rounds_void.add();
                trouble.is(error);
            }
        }
    }
    hints.set(false);
    counters.harm.add();
    line(format_args!(
        "hints do harm and are off: with them the file system's cleaner moves more of what is \
         written than without, by more than chance (evidence {:.0} after {} rounds); {}",
        trial.evidence,
        trial.rounds,
        state.way_back()
    ));
}

/// The period of a round without hints.
fn drawn() -> usize {
    let mut bytes = [0; 8];
    // The first eight bytes are there at once, or soon after the machine's start.
    let _ = getrandom(&mut bytes, GetRandomFlags::empty());
    (u64::from_ne_bytes(bytes) % PERIODS as u64) as usize
}

async fn round(
    gauges: &Gauges,
    period: Duration,
    without: usize,
    hints: &Cell<bool>,
) -> io::Result<[Written; PERIODS]> {
    let mut periods = [Written { all: 0.0, moved: 0.0 }; PERIODS];
    let mut failed = None;
    for (place, written) in periods.iter_mut().enumerate() {
        hints.set(place != without);
        // Data written before the change is cleaned first: the first half does not count.
        sleep(period / 2).await;
        let before = gauges.read();
        sleep(period / 2).await;
        let since = before.and_then(|before| Ok(gauges.read()?.since(before)));
        match since {
            Ok(Some(since)) => *written = since,
            Ok(None) => failed = Some(io::Error::other("the counters were reset")),
            Err(error) => failed = Some(error),
        }
    }
    failed.map_or(Ok(periods), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    /// A separate folder for a test.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("hintd-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn gauges(folder: &Path) -> Gauges {
        let gauges = Gauges { written: folder.join("written"), moved: vec![folder.join("moved")] };
        fs::write(&gauges.written, "0\n").unwrap();
        fs::write(&gauges.moved[0], "0\n").unwrap();
        gauges
    }

    #[test]
    fn f2fs_is_found_by_its_device_and_both_its_cleaners_count() {
        let sysfs = folder("f2fs");
        let own = sysfs.join("fs/f2fs/vda1");
        for path in [&own, &sysfs.join("dev/block"), &sysfs.join("devices/vda1")] {
            fs::create_dir_all(path).unwrap();
        }
        symlink("../../devices/vda1", sysfs.join("dev/block/254:1")).unwrap();
        for (name, number) in [("lifetime_write_kbytes", 4096), ("moved_blocks_foreground", 3)] {
            fs::write(own.join(name), format!("{number}\n")).unwrap();
        }
        assert_eq!(Gauges::of_f2fs(&sysfs, (254, 1)), None);
        fs::write(own.join("moved_blocks_background"), "4\n").unwrap();
        let gauges = Gauges::of_f2fs(&sysfs, (254, 1)).unwrap();
        assert_eq!(gauges.read().unwrap(), Written { all: 4096.0, moved: 7.0 });
        assert_eq!(Gauges::of_f2fs(&sysfs, (254, 2)), None);
        fs::remove_dir_all(sysfs).unwrap();
    }

    #[test]
    fn a_counter_that_is_none_is_named_with_what_was_expected() {
        let folder = folder("gauge");
        let gauges = gauges(&folder);
        fs::write(&gauges.moved[0], "many\n").unwrap();
        let error = gauges.read().unwrap_err().to_string();
        assert!(error.contains("moved: expected a number, found \"many\""), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }

    /// A file system whose cleaner moves `moves` of 1000 written blocks, with hints or without.
    async fn simulated(gauges: &Gauges, hints: &Cell<bool>, moves: impl Fn(bool) -> u64) {
        let (mut written, mut moved) = (0, 0);
        loop {
            sleep(Duration::from_millis(100)).await;
            written += 1000;
            moved += moves(hints.get());
            fs::write(&gauges.written, format!("{written}\n")).unwrap();
            fs::write(&gauges.moved[0], format!("{moved}\n")).unwrap();
        }
    }

    /// Runs a trial on that file system for `rounds` rounds, on the runtime's virtual clock.
    fn tried(name: &str, rounds: u32, moves: impl Fn(bool) -> u64) -> (Trial, bool, Counters) {
        let folder = folder(name);
        let (gauges, hints, counters) = (gauges(&folder), Cell::new(true), Counters::default());
        let state = TrialState { path: Some(folder.join("state")) };
        let period = Duration::from_secs(1);
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_time().start_paused(true).build().unwrap().block_on(async {
            let trial = Trial::default();
            let watched = async {
                watch(&gauges, period, &state, trial, &hints, &counters).await;
                std::future::pending::<()>().await;
            };
            tokio::select! {
                () = watched => {}
                () = simulated(&gauges, &hints, moves) => {}
                () = sleep(period * 10 * rounds + period / 4) => {}
            }
        });
        let trial = state.read().unwrap();
        fs::remove_dir_all(folder).unwrap();
        (trial, hints.get(), counters)
    }

    #[test]
    fn hints_that_make_the_cleaner_move_more_are_switched_off_for_good() {
        let (trial, hints, counters) = tried("harm", 20, |hints| if hints { 300 } else { 200 });
        assert!(trial.harm && !hints);
        let counted = [&counters.rounds, &counters.rounds_void, &counters.harm];
        assert_eq!(counted.map(|count| count.get()), [8, 0, 1]);
    }

    #[test]
    fn hints_that_make_it_move_less_stay_on() {
        let (trial, _, counters) = tried("help", 20, |hints| if hints { 200 } else { 300 });
        assert!(!trial.harm);
        assert_eq!(counters.rounds.get(), 20);
    }

    #[test]
    fn one_period_of_each_ten_is_without_hints() {
        let without = Cell::new(0);
        let (trial, ..) = tried("share", 20, |hints| {
            without.set(without.get() + u64::from(!hints));
            200
        });
        assert_eq!(trial.rounds, 20);
        // Ten steps of the clock to a period; those at its ends may count for another.
        assert!((20 * 9..=21 * 11).contains(&without.get()), "{}", without.get());
    }
}
