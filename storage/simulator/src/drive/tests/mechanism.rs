//! Seeks, rotation, and the order in which sectors pass.

use super::*;

const READ: Access = Access { write: false, unordered: false };
const WRITE: Access = Access { write: true, unordered: false };
const UNORDERED: Access = Access { write: false, unordered: true };

fn mechanism() -> Mechanism {
    Mechanism::new(&small()).unwrap()
}

#[test]
fn a_run_waits_for_its_first_sector_and_lasts_as_long_as_all_pass() {
    let run = mechanism().pass(3, 4, ms(1.0), 0, READ);
    let expected =
        Run { seek: 0, rotation: ms(2.0), start: ms(3.0), sectors: 4, end: ms(7.0), early: 0 };
    assert_eq!(run, expected);
}

#[test]
fn a_sector_that_has_just_begun_comes_again_a_revolution_later() {
    let run = mechanism().pass(3, 1, ms(3.0) + 1, 0, READ);
    assert_eq!((run.rotation, run.start), (ms(10.0) - 1, ms(13.0)));
}

#[test]
fn heads_are_switched_while_the_arm_moves_and_writes_settle_after_both() {
    let seek = |sector, access| mechanism().pass(sector, 1, 0, 0, access).seek;
    assert_eq!(seek(10, READ), ms(0.5)); // the other head
    assert_eq!(seek(20, READ), ms(1.0)); // the next cylinder
    assert_eq!(seek(30, READ), ms(1.0)); // both
    assert_eq!(seek(30, WRITE), ms(1.25));
    assert_eq!(seek(0, WRITE), 0);
}

#[test]
fn skews_let_reading_go_on_without_losing_a_revolution() {
    let mut mechanism = mechanism();
    let mut end = 0;
    let waits = [0, 10, 20, 30].map(|track| {
        let run = mechanism.pass(track, 10, end, 0, READ);
        end = run.end;
        run.seek + run.rotation
    });
    // a switch of heads, a cylinder, a switch: skews of 1, 2 and 1 sectors
    assert_eq!(waits, [0.0, 1.0, 2.0, 1.0].map(ms));
}

#[test]
fn a_write_waits_until_its_data_are_there() {
    let run = mechanism().pass(3, 1, 0, ms(3.5), WRITE);
    assert_eq!((run.rotation, run.start), (ms(13.0), ms(13.0)));
}

#[test]
fn sectors_in_any_order_take_at_most_a_revolution_once_the_head_is_there() {
    // Sectors 2 to 7 are asked for, and the head comes in the middle of 4: 5 to 7, then 2 to 4.
    let run = mechanism().pass(2, 6, ms(4.5), 0, UNORDERED);
    assert_eq!((run.early, run.start, run.end), (3, ms(12.0), ms(15.0)));
    // It comes before 2, or behind 7: none is early.
    for at in [1.5, 8.5] {
        let run = mechanism().pass(2, 6, ms(at), 0, UNORDERED);
        assert_eq!((run.early, run.end - run.start), (0, ms(6.0)));
    }
}

#[test]
fn writes_have_a_seek_curve_of_their_own_if_there_is_one() {
    let mut drive = small();
    drive.write_seek = vec![(1, 1.5), (3, 2.5)];
    let mechanism = Mechanism::new(&drive).unwrap();
    let seek = |sector, access| mechanism.clone().pass(sector, 1, 0, 0, access).seek;
    assert_eq!((seek(20, READ), seek(20, WRITE)), (ms(1.0), ms(1.75)));
}
