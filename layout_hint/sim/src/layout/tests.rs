//! Runs of random traces.

use super::config::{Age, Config, Pace, RegionConfig};
use super::creates::Create;
use super::operation::{Operation, Procedure, NONE, NO_SIZE};
use super::random::Seeded;
use super::replay::Replay;
use super::results::Results;
use super::trace::Trace;
use super::verdicts::Verdicts;
use crate::ffs::{Kernel, RegionMode};
use std::sync::Arc;

const MB: f64 = 1048576.0;

/// Operations of every kind on 40 names in up to 12 directories; some must fail.
fn wild(seed: u64, operations: usize) -> Trace {
    let mut random = Seeded::new(seed);
    let mut trace = Trace::default();
    let names: Vec<u32> = (0..40)
        .filter_map(|n| trace.names.intern(format!("{n:0width$}", width = 1 + n % 30).as_bytes()))
        .collect();
    let procedures = [
        Procedure::Create,
        Procedure::Create,
        Procedure::Mkdir,
        Procedure::Symlink,
        Procedure::Mknod,
        Procedure::Remove,
        Procedure::Remove,
        Procedure::Rmdir,
        Procedure::Rename,
        Procedure::Link,
        Procedure::Setattr,
        Procedure::Write,
        Procedure::Write,
        Procedure::Read,
        Procedure::Lookup,
        Procedure::Readdirplus,
        Procedure::Commit,
    ];
    for n in 0..operations {
        let procedure = procedures[random.below(procedures.len())];
        let objects = trace.ids.len();
        let any = |random: &mut Seeded| random.below(objects) as u32;
        let mut made = Operation {
            time: n as i64 * 700_000,
            offset: [0, 20_000, 700_000, 70_000_000][random.below(4)],
            procedure,
            failed: random.below(10) == 0,
            object: if random.below(3) == 0 { 0 } else { any(&mut random) },
            name: names[random.below(names.len())],
            second: any(&mut random),
            other: random.below(300_000) as u32,
        };
        match procedure {
            Procedure::Setattr if random.below(2) == 0 => made.offset = NO_SIZE,
            Procedure::Rename => made.other = names[random.below(names.len())],
            _ if procedure.makes() && !made.failed => {
                made.offset = if procedure == Procedure::Symlink { 70 } else { NO_SIZE };
                made.second = trace.add(n as i64 + 1).unwrap_or(NONE);
                made.other = trace.ask(Create {
                    name: made.name,
                    object: made.second,
                    directory: procedure == Procedure::Mkdir,
                    mode: None,
                    uid: None,
                    gid: None,
                    hour: None,
                });
            }
            _ => {}
        }
        trace.operations.push(made);
    }
    trace
}

fn run(trace: &Arc<Trace>, config: Config, verdicts: Vec<u8>) -> Results {
    let mut run = Replay::new(Arc::clone(trace), config, Verdicts::Given(verdicts), None).unwrap();
    while run.step() {}
    Results::of(run)
}

#[test]
fn any_operations_with_any_hints_and_regions_leave_all_consistent() {
    for seed in 1..6 {
        let trace = Arc::new(wild(seed, 4000));
        let mut random = Seeded::new(seed);
        let hints: Vec<u8> = trace.creates.iter().map(|_| random.below(8) as u8).collect();
        for (geometry, bytes) in [
            (Kernel::FreeBsd48, 24.0 * MB),
            (Kernel::FreeBsd14, 48.0 * MB),
            (Kernel::FreeBsd15, 48.0 * MB),
            (Kernel::FreeBsd48, 600.0 * MB),
        ] {
            for (length, mode) in [
                (16384.0, [RegionMode::Reserved, RegionMode::Data][seed as usize % 2]),
                (4.0 * MB, RegionMode::Reserved),
                (4.0 * MB, RegionMode::Data),
                (4.0 * MB, RegionMode::Preferred),
            ] {
                let (start, inodes) = match geometry {
                    Kernel::FreeBsd48 => (5.0 * MB, 0),
                    Kernel::FreeBsd14 => (0.0, 0),
                    Kernel::FreeBsd15 => (2.0 * MB, 200),
                };
                let region = Some(RegionConfig { start, length, inodes, mode });
                let cache_bytes = if seed % 2 == 0 { 0.2 * MB } else { 64.0 * MB };
                let config = Config {
                    geometry,
                    bytes,
                    region,
                    cache_bytes,
                    policy: 7,
                    pace: if seed % 3 == 0 { Pace::Fast } else { Pace::Trace },
                    seed,
                    ..Config::default()
                };
                if geometry == Kernel::FreeBsd14 && length < MB {
                    continue; // there are only tables in so few bytes
                }
                let results = run(&trace, config, hints.clone());
                assert_eq!(results.summary.inconsistency, None, "seed {seed}");
            }
        }
    }
}

#[test]
fn a_run_is_the_same_each_time_and_another_with_another_seed() {
    let trace = Arc::new(wild(9, 3000));
    let of = |seed| {
        let warmup_seconds = 0.0;
        let pace = Pace::Trace;
        let config = Config { bytes: 900.0 * MB, seed, warmup_seconds, pace, ..Config::default() };
        run(&trace, config, Vec::new()).counts().unwrap()
    };
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

#[test]
fn ageing_leaves_about_half_of_what_it_filled_in_many_pieces() {
    let trace = Arc::new(Trace::default());
    let age = Some(Age { fill: 0.6, rounds: 3, seed: 5 });
    let config = Config { bytes: 400.0 * MB, age, ..Config::default() };
    let summary = run(&trace, config, Vec::new()).summary;
    let used = 1.0 - summary.space.free_fragments as f64 / summary.space.fragments as f64;
    assert!((0.15..0.45).contains(&used), "{used}");
    assert_eq!((summary.inconsistency, summary.unexpected.len()), (None, 0));
}
