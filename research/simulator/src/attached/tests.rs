//! Systems, request by request.

use super::load::{Ask, Kind};
use super::*;

fn paper(organization: Organization) -> Attached {
    Attached {
        organization,
        disks: 4,
        manager_mips: 50.0,
        manager_cache_mb: 1,
        disk_mips: 25.0,
        disk_cache_mb: 1,
        costs: Costs {
            attributes: 750.0,
            manager_hit: 3000.0,
            manager_miss: 7000.0,
            forward: 1500.0,
            disk_hit: 1500.0,
            disk_miss: 3500.0,
            reply: Priced { block: 10_000.0, chunk: 108_000.0 },
            disk_ms: Priced { block: 15.0, chunk: 22.5 },
            bus_ms: Priced { block: 0.1, chunk: 1.6 },
            control_ms: 0.05,
        },
        drive: None,
    }
}

fn read(at_ms: u64, file: u32, offset: u64, bytes: u64) -> Ask {
    Ask { at: at_ms * 1_000_000, file, kind: Kind::Read, offset, bytes }
}

fn served(config: &Attached, asks: &[Ask], warm_up: u64) -> Answered {
    let asked = Asked { seed: 1, warm_up, requests: u64::MAX };
    run(config, asked, asks.iter().map(|ask| Ok(*ask))).unwrap()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
}

/// The response of the second request alone.
fn second(config: &Attached, asks: [Ask; 2]) -> f64 {
    served(config, &asks, 1).response.mean_ms
}

#[test]
fn a_server_takes_the_costs_of_table_1() {
    let config = paper(Organization::ServerDisk);
    // 7,000 instructions, word, disk, bus, reply.
    let miss = 0.14 + 0.05 + 15.0 + 0.1 + 0.2;
    near(served(&config, &[read(1, 0, 0, 100)], 0).response.mean_ms, miss);
    near(second(&config, [read(1, 0, 0, 100), read(2, 0, 0, 4096)]), 0.06 + 0.2);
    let chunk = 16.0 * 0.14 + 0.05 + 22.5 + 1.6 + 2.16;
    near(served(&config, &[read(1, 0, 0, 65536)], 0).response.mean_ms, chunk);
}

#[test]
fn a_disk_on_the_network_takes_them_too() {
    let config = paper(Organization::NetDisk);
    let miss = 0.03 + 0.05 + 0.14 + 15.0 + 0.4;
    near(served(&config, &[read(1, 0, 0, 100)], 0).response.mean_ms, miss);
    let hit = second(&config, [read(1, 0, 0, 100), read(2, 0, 0, 4096)]);
    near(hit, 0.03 + 0.05 + 0.06 + 0.4);
}

#[test]
fn metadata_are_the_file_managers() {
    for organization in [Organization::ServerDisk, Organization::NetDisk] {
        let ask = |kind, bytes| Ask { kind, ..read(1, 0, 0, bytes) };
        let config = paper(organization);
        near(served(&config, &[ask(Kind::Attributes, 0)], 0).metadata.mean_ms, 0.015);
        near(served(&config, &[ask(Kind::Directory, 512)], 0).metadata.mean_ms, 0.06 + 0.2);
    }
}

#[test]
fn what_is_written_is_done_when_a_cache_has_it_and_goes_to_the_disk_behind() {
    for (organization, expected) in
        [(Organization::ServerDisk, 0.06 + 0.2), (Organization::NetDisk, 0.08 + 0.06 + 0.4)]
    {
        let write = Ask { kind: Kind::Write, ..read(1, 0, 0, 4096) };
        let config = paper(organization);
        let found = served(&config, &[write, read(2, 0, 0, 4096)], 0);
        near(found.response.mean_ms, expected);
        assert!(found.hit_ratio > 0.99 && found.disks_busy > 0.0, "{found:?}");
    }
}

#[test]
fn chunks_are_on_disks_one_after_the_other_and_are_served_beside_one_another() {
    for organization in [Organization::ServerDisk, Organization::NetDisk] {
        let mut config = paper(organization);
        (config.manager_mips, config.disk_mips) = (1e6, 1e6);
        let three = [read(1, 0, 0, 3 * 65536)];
        let beside = served(&config, &three, 0).response.mean_ms;
        assert!((22.5..33.0).contains(&beside), "{beside}");
        config.disks = 1;
        let after = served(&config, &three, 0).response.mean_ms;
        assert!((67.5..75.0).contains(&after), "{after}");
    }
}

#[test]
fn the_parts_are_all_of_the_time() {
    for organization in [Organization::ServerDisk, Organization::NetDisk] {
        let asks: Vec<Ask> = (0..300_u64)
            .map(|own| read(own, (own * own % 17) as u32, own % 3 * 50_000, 30_000 + 500 * own))
            .collect();
        let found = served(&paper(organization), &asks, 0);
        let Parts { manager_wait, manager, network, processor_wait, processor, disk_wait, disk } =
            found.parts_ms;
        let sum = manager_wait + manager + network + processor_wait + processor + disk_wait + disk;
        near(sum, found.response.mean_ms);
        assert!(disk_wait > 0.0 && found.load.requests == 300);
        assert_eq!(found.response.count, 300, "all that came is done");
    }
}

#[test]
fn what_a_cache_has_no_room_for_is_read_again() {
    let mut config = paper(Organization::ServerDisk);
    let asks: Vec<Ask> = (0..600).map(|own| read(own, own as u32 % 300, 0, 4096)).collect();
    assert_eq!(served(&config, &asks, 300).hit_ratio, 0.0);
    config.manager_cache_mb = 2;
    assert_eq!(served(&config, &asks, 300).hit_ratio, 1.0);
}

#[test]
fn a_disk_can_be_a_drive() {
    let mut config = paper(Organization::ServerDisk);
    let mut drive = birthmark_storage::drive::small();
    config.drive = Some(drive.clone());
    let error = run(&config, Asked { seed: 1, warm_up: 0, requests: 1 }, std::iter::empty());
    assert!(error.unwrap_err().to_string().starts_with("drive: expected one that has room"));
    drive.zones[0].sectors = 100;
    drive.sectors = 600;
    config.drive = Some(drive);
    let found = served(&config, &[read(1, 0, 0, 4096)], 0);
    assert!((0.4..15.0).contains(&found.response.mean_ms), "{found:?}");
    assert!(found.disks_busy > 0.0);
}

#[test]
fn a_system_that_there_cannot_be_is_refused_with_the_key() {
    let refused = |change: &dyn Fn(&mut Attached)| {
        let mut config = paper(Organization::NetDisk);
        change(&mut config);
        let asked = Asked { seed: 1, warm_up: 0, requests: 1 };
        run(&config, asked, std::iter::empty()).unwrap_err().to_string()
    };
    assert_eq!(refused(&|config| config.disks = 0), "disks: expected 1 to 10000");
    assert!(refused(&|config| config.manager_mips = 0.0).starts_with("manager_mips: expected"));
    assert!(refused(&|config| config.disk_cache_mb = 1 << 30).starts_with("disk_cache_mb"));
    assert!(refused(&|config| config.costs.disk_miss = -1.0).starts_with("costs: expected"));
}
