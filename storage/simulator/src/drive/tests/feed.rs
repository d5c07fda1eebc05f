//! The bus passes sectors on as they come, in their order.

use super::*;

/// When the last sector is passed on, sector by sector.
fn by_sector(per_sector: u64, at: u64, runs: &[Run]) -> u64 {
    let mut done = at;
    for run in runs {
        let first = run.sectors - run.early;
        let sector_time = (run.end - run.start) / first;
        for sector in 0..run.sectors {
            let there = if sector < first { run.start + (sector + 1) * sector_time } else { 0 };
            done = done.max(there) + per_sector;
        }
    }
    done
}

fn run(start: u64, sectors: u64, sector_time: u64, early: u64) -> Run {
    let end = start + (sectors - early) * sector_time;
    Run { seek: 0, rotation: 0, start, sectors, end, early }
}

#[test]
fn runs_are_passed_on_as_sector_by_sector() {
    for per_sector in [0, 1, 7, 100] {
        for at in [0, 55, 1000] {
            for sector_time in [3, 7, 20] {
                let runs =
                    [run(50, 5, sector_time, 0), run(300, 9, sector_time, 4), run(600, 1, 9, 0)];
                let mut feed = Feed::new(per_sector, at);
                runs.iter().for_each(|run| feed.read(run));
                assert_eq!(feed.done(), by_sector(per_sector, at, &runs));
            }
        }
    }
}

#[test]
fn what_is_held_takes_the_bus_alone() {
    let mut feed = Feed::new(10, 100);
    feed.held(3);
    assert_eq!(feed.done(), 130);
}
