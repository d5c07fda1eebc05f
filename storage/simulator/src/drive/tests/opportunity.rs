//! Opportunistic reading of passing sectors, and reading ahead.

use super::*;

const READ: Access = Access { write: false, unordered: false };

fn mechanism() -> Mechanism {
    Mechanism::new(&small()).unwrap()
}

#[test]
fn what_passes_while_the_head_waits_is_before_the_target_or_at_the_tracks_end() {
    let own = mechanism();
    // Tracks of 10 sectors, each of 1 ms.
    assert_eq!(own.passed_over(6, 0), [6..6, 10..10]);
    assert_eq!(own.passed_over(6, ms(2.5)), [4..6, 10..10]);
    assert_eq!(own.passed_over(6, ms(8.0)), [0..6, 8..10]);
    assert_eq!(own.passed_over(6, ms(9.9)), [0..6, 7..10]);
    assert_eq!(own.passed_over(12, ms(3.0)), [10..12, 19..20]);
}

#[test]
fn the_arm_that_leaves_as_late_as_it_may_is_there_as_early() {
    for sector in [0, 5, 17, 33, 41, 79] {
        for at in [0.0, 1.3, 4.9, 22.2].map(ms) {
            let mut own = mechanism();
            own.pass(3, 4, 0, 0, READ);
            let slack = own.slack(sector, at);
            let soon = own.reach(sector, at, false);
            assert_eq!(own.reach(sector, at + slack, false) + slack, soon, "{sector} {at}");
            let late = own.reach(sector, at + slack + 200_000, false) + slack + 200_000;
            assert!(slack == 0 || late > soon, "{sector} {at}");
        }
    }
}

#[test]
fn reading_on_is_as_far_as_time_was_however_often_it_is_asked() {
    let end = ms(90.0);
    let all = |step: u64| {
        let mut own = mechanism();
        let mut ahead = ReadOn { next: 4, limit: 27, at: ms(4.0) };
        let (mut read, mut until) = (4, 0);
        while until < end {
            until += step;
            let passed = ahead.read(&mut own, until);
            assert_eq!(passed.start, read);
            read = passed.end;
            assert!(own.free() <= until + ms(2.0));
        }
        assert!(ahead.is_over());
        (read, ahead.at)
    };
    assert_eq!(all(end), all(ms(0.7)));
    assert_eq!(all(end).0, 27);
}

#[test]
fn what_has_not_passed_wholly_is_not_read() {
    let (mut own, mut ahead) = (mechanism(), ReadOn { next: 4, limit: 9, at: ms(4.0) });
    assert_eq!(ahead.read(&mut own, ms(6.9)), 4..6);
    assert_eq!((ahead.at, own.free()), (ms(6.0), ms(6.0)));
    assert_eq!(ahead.read(&mut own, ms(9.0)), 6..9);
}
