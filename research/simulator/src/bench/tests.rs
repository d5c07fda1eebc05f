use super::*;
use birthmark_storage::cluster::{ClusterRules, Version};
use birthmark_storage::drive::small;
use birthmark_storage::readahead::{Choice, Slots, TableRules, Victim};
use birthmark_storage::store::File;
use nfs::{Nfs, Transport};

const KB: u64 = 1024;

/// A drive like the small one, with room for files.
pub(in crate::bench) fn setup(readers: u64, at: At) -> Setup {
    let mut drive = small();
    drive.cylinders = 20_000;
    drive.zones.truncate(1);
    let zone = &mut drive.zones[0];
    (zone.first_cylinder, zone.last_cylinder) = (0, 19_999);
    (zone.sectors, zone.track_skew, zone.cylinder_skew) = (200, 20, 30);
    (zone.offset, zone.empty, zone.spares) = (0, 0, 0);
    (zone.slips, zone.defects) = (vec![], vec![]);
    drive.sectors = 20_000 * u64::from(drive.heads) * 200;
    drive.buffer.segments = 4;
    drive.buffer.segment_sectors = 512;
    drive.buffer.read_ahead = birthmark_storage::drive::ReadAhead::Most;
    drive.buffer.read_ahead_sectors = 512;
    let blocks = 2048 / readers;
    Setup {
        drive,
        files: (0..readers)
            .map(|file| File::contiguous(file * (blocks * 32 + 96), blocks))
            .collect(),
        order: HostOrder::Elevator,
        tags: None,
        cluster: ClusterRules { version: Version::V4, block: 16 * KB, cluster: 8, buffers: 4096 },
        link_bytes_per_second: 54_000_000,
        bytes: 32 * KB * KB,
        readers,
        strides: 1,
        seed: 1,
        at,
    }
}

fn local() -> At {
    At::Local(local::Local { processor_per_block: 90_000 })
}

pub(in crate::bench) fn nfs(change: impl FnOnce(&mut Nfs)) -> At {
    let table = TableRules {
        entries: 64,
        probes: 4,
        slots: Slots::Scattered(3),
        victim: Victim::LeastUsed,
    };
    let mut nfs = Nfs {
        call_bytes: 8 * KB,
        transport: Transport::Udp { window: 32 },
        iods: 8,
        iod_delay: 60_000,
        reader_delay: 10_000,
        client_send: 25_000,
        client_receive: 30_000,
        client_copy: 40_000,
        client_busy: 0,
        latency: 20_000,
        wire: 70_000,
        nfsds: 8,
        server_receive: 25_000,
        server_answer: 60_000,
        heuristic: Choice::Default4,
        table: Some(table),
        windows: vec![0, 5_000_000],
    };
    change(&mut nfs);
    At::Nfs(Box::new(nfs))
}

fn rate(outcome: &Outcome) -> f64 {
    32e9 / *outcome.ends.last().unwrap() as f64
}

#[test]
fn all_is_read_once_whoever_reads() {
    for readers in SETS {
        let found = run(&setup(readers, local())).unwrap();
        assert_eq!((found.ends.len() as u64, found.calls), (readers, 2048));
        assert!(found.ends.is_sorted());
        let link = 2048 * (16 * KB * 1_000_000_000 / 54_000_000);
        assert_eq!(found.busy.link, link, "each block passes the link once");
        let found = run(&setup(readers, nfs(|_| {}))).unwrap();
        assert_eq!((found.ends.len() as u64, found.calls), (readers, 4096));
        let answer = 8 * KB * 1_000_000_000 / 54_000_000;
        let twice = link + 4096 * answer;
        let again = twice..=twice + found.resent * answer;
        assert!(again.contains(&found.busy.link), "and again to the network");
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let own = setup(8, nfs(|_| {}));
    assert_eq!(run(&own).unwrap(), run(&own).unwrap());
    assert_ne!(run(&own).unwrap().ends, run(&Setup { seed: 2, ..own }).unwrap().ends);
}

#[test]
fn an_elevator_stays_with_a_file_and_sweeps_do_not() {
    let spread = |order| {
        let found = run(&Setup { order, ..setup(8, local()) }).unwrap();
        (found.ends[7] as f64 / found.ends[0] as f64, rate(&found))
    };
    let (elevator, sweeps) = (spread(HostOrder::Elevator), spread(HostOrder::NCscan));
    assert!(elevator.0 > 4.0 && sweeps.0 < 1.5, "{elevator:?} {sweeps:?}");
    assert!(sweeps.1 < 0.8 * elevator.1, "{elevator:?} {sweeps:?}");
}

#[test]
fn a_drive_with_tags_is_fair_to_many_and_does_as_well_for_one() {
    let of = |readers, tags| run(&Setup { tags, ..setup(readers, local()) }).unwrap();
    let tags = Some(Tags::Fifo { depth: 64 });
    assert_eq!(of(1, tags).ends, of(1, None).ends);
    let fair = of(8, tags);
    assert!((fair.ends[7] as f64) < 1.2 * fair.ends[0] as f64);
    assert!(rate(&fair) < rate(&of(8, None)));
}

#[test]
fn calls_overtake_each_other_only_where_several_threads_send_them() {
    let overtaken = |iods| run(&setup(4, nfs(|own| own.iods = iods))).unwrap().overtaken;
    assert_eq!((overtaken(0), overtaken(1)), (0, 0));
    assert!(overtaken(8) > 10);
    let found = run(&setup(2, nfs(|own| own.transport = Transport::Tcp))).unwrap();
    assert!(found.in_order[0] < 4096 - 10);
    assert!(found.in_order[1] > 4096 - 4, "5 ms are enough: {:?}", found.in_order);
}

#[test]
fn cursors_read_ahead_at_several_places() {
    let strides = |heuristic| {
        let own = setup(1, nfs(|own| own.heuristic = heuristic));
        rate(&run(&Setup { strides: 4, ..own }).unwrap())
    };
    let (default, cursors) = (strides(Choice::Default4), strides(Choice::Cursors(8)));
    assert!(cursors > 1.15 * default, "{default} {cursors}");
    assert!((strides(Choice::SlowDown) / default - 1.0).abs() < 0.15);
}

#[test]
fn a_table_that_ejects_slows_a_busy_server_down() {
    let table = |entries| {
        let with = |own: &mut Nfs| own.table.as_mut().unwrap().entries = entries;
        run(&setup(32, nfs(with))).unwrap()
    };
    let (small, large) = (table(8), table(1017));
    assert!(small.ejected > 0 && large.ejected == 0);
    assert!(small.counts < large.counts);
    assert!(rate(&small) < 0.9 * rate(&large), "{} {}", rate(&small), rate(&large));
}

#[test]
fn what_cannot_be_is_named() {
    let error = |change: fn(&mut Setup)| {
        let mut own = setup(8, local());
        change(&mut own);
        run(&own).unwrap_err().to_string()
    };
    assert!(error(|own| own.files.truncate(7)).starts_with("files: expected one for each"));
    assert!(error(|own| own.readers = 3).starts_with("readers: expected 1, 2"));
    assert!(error(|own| own.bytes = 7).starts_with("bytes: expected"));
    assert!(error(|own| own.strides = u64::MAX).starts_with("strides: expected 1 to 64"));
    assert!(error(|own| own.at = nfs(|own| own.wire = u64::MAX)).starts_with("nfs: times"));
    assert!(error(|own| own.at = nfs(|own| own.call_bytes = 32 * KB)).contains("call_bytes"));
    assert!(error(|own| own.strides = 2).starts_with("strides: expected 1,"));
    assert!(error(|own| own.drive.rpm = 0.0).starts_with("drive: rpm: expected"));
    let beyond = |own: &mut Setup| own.files[7].extents[0].sector = own.drive.sectors - 1;
    assert!(error(beyond).contains("sectors from"));
    assert!(error(|own| own.at = nfs(|own| own.nfsds = 0)).starts_with("nfs.nfsds: expected"));
}

#[test]
fn calls_without_room_wait_for_the_timer() {
    let found = |transport| run(&setup(8, nfs(|nfs| nfs.transport = transport))).unwrap();
    let (window, stream) = (found(Transport::Udp { window: 4 }), found(Transport::Tcp));
    assert!(window.parts.network > 10 * stream.parts.network, "{window:?} {stream:?}");
    assert!(window.overtaken > 2 * stream.overtaken, "{window:?} {stream:?}");
}
