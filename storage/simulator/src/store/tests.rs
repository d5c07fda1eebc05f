use super::*;
use crate::cluster::Version;
use crate::drive::small;
use crate::drive::Request;
use crate::queue::Fcfs;

const RULES: ClusterRules =
    ClusterRules { version: Version::V4, block: 512, cluster: 2, buffers: 4096 };

/// A file of `blocks` blocks, each a sector, at the beginning of a small drive.
fn store(blocks: u64, per_block: u64) -> Store {
    let files = vec![File::contiguous(0, blocks)];
    let drive = Drive::new(&small()).unwrap();
    Store::new(files, RULES, Box::<Fcfs>::default(), drive, per_block).unwrap()
}

fn wanted(block: u64, count: u64) -> Wanted {
    Wanted { file: 0, block, bytes: 512, count }
}

/// Process all events; return when each task's block was there, and its waiting times.
fn notifications(store: &mut Store, events: &mut Events<StoreEvent>) -> Vec<(u64, Ready)> {
    let (mut ready, mut all) = (Vec::new(), Vec::new());
    while let Some((now, event)) = events.pop() {
        store.happen(now, event, events, &mut ready);
        all.extend(ready.drain(..).map(|own| (now, own)));
    }
    all
}

#[test]
fn a_task_is_notified_with_its_waiting_times_when_its_block_is_there() {
    let (mut own, mut events) = (store(10, 1_000), Events::default());
    assert!(!own.ask(0, wanted(3, 0), 7, &mut events));
    let service = Drive::new(&small()).unwrap();
    let request = Request { sector: 3, sectors: 1, write: false };
    let service = service.clone().serve(request, 0).unwrap();
    let ready = notifications(&mut own, &mut events);
    assert_eq!(ready.len(), 1);
    let (at, ready) = ready[0];
    assert_eq!((at, ready.task), (service.response() + 1_000, 7));
    assert_eq!((ready.parts.all(), ready.parts.link), (at, 1_000));
    assert_eq!(ready.parts.rotation, service.rotation);
    assert!(own.ask(at, wanted(3, 0), 7, &mut events), "now it is there");
    assert!(events.pop().is_none());
}

#[test]
fn who_comes_late_waits_for_the_rest() {
    let (mut own, mut events) = (store(10, 0), Events::default());
    own.ask(0, wanted(3, 0), 1, &mut events);
    own.ask(5, wanted(3, 0), 2, &mut events);
    let ready = notifications(&mut own, &mut events);
    assert_eq!(ready.len(), 2);
    assert_eq!(ready[0].1.parts.all(), ready[1].1.parts.all() + 5);
    assert_eq!(ready[0].0, ready[1].0);
}

#[test]
fn a_block_that_was_under_way_begins_the_next_cluster_once_it_is_there() {
    let (mut own, mut events) = (store(10, 0), Events::default());
    // 0 is waited for, 1 and 2 are read ahead, both marked.
    own.ask(0, wanted(0, 9), 1, &mut events);
    own.ask(0, wanted(1, 9), 2, &mut events);
    assert!(!own.memory.held_blocks(3));
    let ready = notifications(&mut own, &mut events);
    assert_eq!(ready.iter().map(|own| own.1.task).collect::<Vec<_>>(), [1, 2]);
    assert!(own.memory.held_blocks(3), "3 was read behind 2");
}

#[test]
fn the_last_block_of_a_file_is_read_by_itself() {
    let (mut own, mut events) = (store(4, 0), Events::default());
    own.ask(0, wanted(3, 9), 1, &mut events);
    assert_eq!(notifications(&mut own, &mut events).len(), 1);
    assert!(!own.memory.held_blocks(2));
}

#[test]
fn metadata_is_read_first_and_once() {
    let extents = vec![Extent { sector: 0, blocks: 2 }, Extent { sector: 60, blocks: 8 }];
    let maps = vec![Map { sector: 50, blocks: 2..10 }];
    let drive = Drive::new(&small()).unwrap();
    let order = Box::<Fcfs>::default();
    let mut own = Store::new(vec![File { extents, maps }], RULES, order, drive, 0).unwrap();
    let mut events = Events::default();
    own.ask(0, wanted(2, 0), 1, &mut events);
    own.ask(0, wanted(4, 0), 2, &mut events);
    let ready = notifications(&mut own, &mut events);
    let mut alone = Drive::new(&small()).unwrap();
    let mut now = 0;
    for (sector, read) in [(50, None), (60, Some(ready[0])), (62, Some(ready[1]))] {
        let request = Request { sector, sectors: 1, write: false };
        now += alone.serve(request, now).unwrap().response();
        if let Some((at, ready)) = read {
            assert_eq!((at, ready.parts.all()), (now, now));
        }
    }
    assert!(own.ask(now, wanted(2, 0), 1, &mut events));
}

#[test]
fn files_beyond_the_drive_are_refused() {
    let files = vec![File::contiguous(small().sectors - 1, 2)];
    let drive = Drive::new(&small()).unwrap();
    assert!(Store::new(files, RULES, Box::<Fcfs>::default(), drive, 0).is_err());
}

impl Memory {
    fn held_blocks(&self, block: u64) -> bool {
        self.place(0, block) != Place::Drive
    }
}
