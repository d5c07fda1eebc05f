//! Seek times lie on straight lines between the points of the curve.

use super::*;

#[test]
fn a_point_is_met_exactly_and_to_stay_takes_nothing() {
    let curve = SeekCurve::new(&[(1, 0.831), (2, 1.003), (5, 1.268)]);
    let times = [0, 1, 2, 5].map(|distance| curve.time(distance));
    assert_eq!(times, [0, 831_000, 1_003_000, 1_268_000]);
}

#[test]
fn between_and_beyond_points_it_goes_straight_on() {
    let curve = SeekCurve::new(&[(1, 1.0), (3, 2.0), (7, 3.0)]);
    assert_eq!([2, 4, 5, 6].map(|d| curve.time(d)), [1.5, 2.25, 2.5, 2.75].map(ms));
    assert_eq!(curve.time(11), ms(4.0));
    let falling = SeekCurve::new(&[(1, 1.0), (2, 0.5)]);
    assert_eq!([3, 4, 9].map(|d| falling.time(d)), [0, 0, 0]);
}

#[test]
fn one_point_is_the_time_of_every_distance() {
    let curve = SeekCurve::new(&[(1, 1.5)]);
    assert_eq!([0, 1, 9].map(|d| curve.time(d)), [0.0, 1.5, 1.5].map(ms));
}
