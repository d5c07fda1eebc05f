use super::*;
use crate::bench::tests::{nfs, setup};
use crate::bench::{run as run_bench, At};

#[test]
fn processes_that_wait_for_room_wake_up_together_when_half_of_the_queue_is_done() {
    let own = setup(8, nfs(|nfs| nfs.iods = 2));
    let At::Nfs(machines) = &own.at else { panic!("a run over NFS") };
    let mut events = Events::default();
    let mut calls = Calls { since: vec![0; 4096], parts: Parts::default() };
    let mut client = Client::new(&own, machines, &mut events);
    // Two go to the threads, four into the queue, and two processes wait.
    let mut now = 0;
    for reader in 0..8 {
        client.happen(now, Event::Step(reader), &mut calls, &mut events);
    }
    let mut woken = |call| {
        let mut events = Events::default();
        now += 1_000_000;
        client.happen(now, Event::Got(call), &mut calls, &mut events);
        std::iter::from_fn(|| events.pop())
            .filter(|(_, event)| matches!(event, Event::Step(_)))
            .count()
    };
    let per_reader = 4096 / 8;
    assert_eq!(woken(1), 0, "three still wait in the queue");
    assert_eq!(woken(per_reader + 1), 2);
}

#[test]
fn late_calls_leave_again_over_udp_and_none_is_read_twice() {
    let found = run_bench(&setup(32, nfs(|_| {}))).unwrap();
    assert!(found.resent > 0);
    assert_eq!((found.ends.len(), found.calls), (32, 4096));
    let found = run_bench(&setup(32, nfs(|nfs| nfs.transport = Transport::Tcp))).unwrap();
    assert_eq!(found.resent, 0);
}

#[test]
fn who_shares_the_processor_with_others_waits_for_their_slices() {
    let time = |busy| {
        let found = run_bench(&setup(1, nfs(|nfs| nfs.client_busy = busy))).unwrap();
        found.ends[0]
    };
    let (alone, with_four) = (time(0), time(4));
    assert!(with_four > alone + 300_000_000, "{alone} {with_four}");
}
