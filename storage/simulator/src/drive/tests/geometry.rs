//! Every sector has one place, and every place at most one sector.

use super::*;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

/// Cylinder, head, and number of the physical sector as it passes behind the index mark.
type Spot = (u32, u32, u64);

/// Where sectors are, by walking over all physical sectors of the drive one by one.
fn walk(parameters: &Parameters) -> Vec<Spot> {
    let mut spots = Vec::new();
    for zone in &parameters.zones {
        let physical = physical_spots(parameters, zone);
        let cylinder = u64::from(parameters.heads) * u64::from(zone.sectors);
        let range = match parameters.sparing.at_end_of {
            Spares::Range => cylinder * u64::from(parameters.sparing.range_cylinders),
            _ => physical.len() as u64,
        };
        let mut region: Vec<Spot> = Vec::new();
        for (number, &spot) in (0..).zip(&physical) {
            if number >= zone.empty && !zone.slips.contains(&number) {
                let replaced = zone.defects.iter().find(|pair| pair.0 == number);
                region.push(replaced.map_or(spot, |pair| physical[pair.1 as usize]));
            }
            if (number + 1) % range == 0 || number + 1 == physical.len() as u64 {
                let bad = |slip: &&u64| **slip / range == number / range && **slip >= zone.empty;
                let slipped = zone.slips.iter().filter(bad).count();
                let spares = match parameters.sparing.at_end_of {
                    Spares::Disk => 0,
                    _ => zone.spares as usize - slipped,
                };
                region.truncate(region.len() - spares);
                spots.append(&mut region);
            }
        }
    }
    spots
}

fn physical_spots(parameters: &Parameters, zone: &Zone) -> Vec<Spot> {
    let sectors = u64::from(zone.sectors);
    let mut turned = u64::from(zone.offset);
    let mut spots = Vec::new();
    for cylinder in zone.first_cylinder..=zone.last_cylinder {
        for order in 0..parameters.heads {
            let odd = (cylinder - zone.first_cylinder) % 2 == 1;
            let back = odd && parameters.mapping == Mapping::Serpentine;
            let head = if back { parameters.heads - 1 - order } else { order };
            spots.extend((0..sectors).map(|at| (cylinder, head, (turned + at) % sectors)));
            let last = order + 1 == parameters.heads;
            turned += u64::from(if last { zone.cylinder_skew } else { zone.track_skew });
        }
    }
    spots
}

/// A random drive: slips, spares, skews and numbers of cylinders depend on the seed.
fn chance(seed: u64, mapping: Mapping, at_end_of: Spares) -> Parameters {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut below = move |most: u64| random.next_u64() % most;
    let heads = 1 + below(3) as u32;
    let mut zones = Vec::new();
    let mut first_cylinder = 0;
    for _ in 0..1 + below(3) {
        let sectors = 4 + below(5) as u32;
        let last_cylinder = first_cylinder + 1 + below(4) as u32;
        let size = u64::from(last_cylinder - first_cylinder + 1) * u64::from(heads * sectors);
        let mut slips: Vec<u64> = (0..below(4)).map(|_| below(size)).collect();
        slips.sort_unstable();
        slips.dedup();
        zones.push(Zone {
            first_cylinder,
            last_cylinder,
            sectors,
            offset: below(4) as u32,
            empty: below(3),
            track_skew: below(4) as u32,
            cylinder_skew: below(4) as u32,
            // The last sector is spare wherever there are fewer slips than spares.
            defects: vec![],
            spares: if at_end_of == Spares::Disk { 0 } else { 4 },
            slips,
        });
        first_cylinder = last_cylinder + 1 + below(2) as u32;
    }
    let sparing = Sparing { at_end_of, range_cylinders: 2 };
    let cylinders = first_cylinder + 1;
    let seek = vec![(1, 1.0), (2, 2.0)];
    let mut drive = Parameters { heads, cylinders, mapping, sparing, seek, zones, ..small() };
    drive.sectors = walk(&drive).len() as u64;
    drive
}

pub fn drives() -> impl Iterator<Item = Parameters> {
    let mappings = [Mapping::Ascending, Mapping::Serpentine];
    let spares = [Spares::Disk, Spares::Range, Spares::Zone];
    let kinds = mappings.into_iter().flat_map(move |map| spares.map(|spare| (map, spare)));
    kinds.flat_map(|(map, spare)| (0..60).map(move |seed| chance(seed, map, spare)))
}

fn spot(geometry: &Geometry, sector: u64) -> Spot {
    let place = geometry.place(sector);
    // The angle is that of the sector's beginning, rounded down.
    let passed = (place.angle * place.track).div_ceil(geometry.revolution());
    (place.cylinder, place.head, passed)
}

#[test]
fn sectors_are_where_a_walk_over_the_drive_finds_them() {
    let mut compared = 0;
    for drive in drives() {
        let geometry = Geometry::new(&drive).unwrap();
        let found: Vec<Spot> = (0..drive.sectors).map(|sector| spot(&geometry, sector)).collect();
        assert_eq!(found, walk(&drive), "{drive:?}");
        compared += found.len();
    }
    assert!(compared > 10_000, "{compared}");
}

#[test]
fn no_two_sectors_share_a_place() {
    for drive in drives() {
        let geometry = Geometry::new(&drive).unwrap();
        let back: BTreeMap<Spot, u64> =
            (0..drive.sectors).map(|sector| (spot(&geometry, sector), sector)).collect();
        assert_eq!(back.len() as u64, drive.sectors);
    }
}

#[test]
fn the_sectors_of_a_run_pass_one_after_the_other() {
    for drive in drives() {
        let geometry = Geometry::new(&drive).unwrap();
        for sector in 0..drive.sectors {
            let (cylinder, head, at) = spot(&geometry, sector);
            let place = geometry.place(sector);
            assert!(place.run >= 1);
            for next in 0..place.run {
                let expected = (cylinder, head, (at + next) % place.track);
                assert_eq!(spot(&geometry, sector + next), expected);
            }
        }
    }
}

#[test]
fn a_track_is_all_sectors_with_its_cylinder_and_head() {
    for drive in drives() {
        let geometry = Geometry::new(&drive).unwrap();
        let track = |sector| (geometry.place(sector).cylinder, geometry.place(sector).head);
        for sector in 0..drive.sectors {
            let own: Vec<u64> = (0..drive.sectors).filter(|&s| track(s) == track(sector)).collect();
            let range = geometry.track(sector);
            assert_eq!(range.collect::<Vec<u64>>(), own);
        }
    }
}

#[test]
fn what_passed_before_a_sector_is_on_its_track_and_near_enough() {
    for drive in drives() {
        let geometry = Geometry::new(&drive).unwrap();
        for sector in 0..drive.sectors {
            for passing in [0, 1, 3, 100] {
                let first = geometry.passed_before(sector, passing);
                let track = geometry.place(sector).track;
                let (_, _, at) = spot(&geometry, sector);
                let near = |&before: &u64| {
                    let (_, _, passed) = spot(&geometry, before);
                    (at + track - passed) % track <= passing
                };
                let expected = (geometry.track(sector).start..=sector).find(near);
                assert_eq!(Some(first), expected, "{sector} {passing}");
            }
        }
    }
}

#[test]
fn a_defect_is_where_its_replacement_is() {
    let mut drive = small();
    drive.zones[0].spares = 2;
    drive.sectors = 78;
    drive.zones[0].defects = vec![(7, 59), (20, 20)];
    let geometry = Geometry::new(&drive).unwrap();
    assert_eq!(spot(&geometry, 7), physical_spots(&drive, &drive.zones[0])[59]);
    assert_eq!(geometry.place(7).run, 1);
    assert_eq!(geometry.place(0).run, 7);
    let found: Vec<Spot> = (0..78).map(|sector| spot(&geometry, sector)).collect();
    assert_eq!(found, walk(&drive));
}
