//! Stations and issue models come within 1 % of queueing theory.

use birthmark_research::theory::{compare, Case, Comparison};

const CUSTOMERS: usize = 4_000_000;

fn near(case: Case) {
    let Comparison { found, expected } = compare(case, CUSTOMERS, 1);
    assert!((found / expected - 1.0).abs() < 0.01, "{case:?}: {found}, expected {expected}");
}

/// Values from textbooks.
#[test]
fn theory_is_as_in_textbooks() {
    let expected = |case| compare(case, 1, 1).expected;
    assert_eq!(expected(Case::Mm1 { load: 0.5 }), 2.0);
    assert_eq!(expected(Case::Md1 { load: 0.5 }), 1.5);
    assert_eq!(expected(Case::Mmc { places: 1, load: 0.5 }), 2.0);
    let three_of_four = expected(Case::Mmc { places: 4, load: 3.0 });
    assert!((three_of_four - 1.509_433_962).abs() < 1e-8, "{three_of_four}");
    // With one client nobody waits; with two that never think one always does.
    assert_eq!(expected(Case::Repair { clients: 1, think: 4.0 }), 1.0);
    assert_eq!(expected(Case::Repair { clients: 2, think: 0.0 }), 2.0);
}

#[test]
fn one_place_with_exponential_work_is_m_m_1() {
    [0.3, 0.6, 0.8].into_iter().for_each(|load| near(Case::Mm1 { load }));
}

#[test]
fn one_place_with_equal_work_is_m_d_1() {
    [0.3, 0.6, 0.8].into_iter().for_each(|load| near(Case::Md1 { load }));
}

#[test]
fn several_places_are_m_m_c() {
    near(Case::Mmc { places: 4, load: 3.0 });
}

#[test]
fn clients_that_think_are_the_machine_repair_model() {
    let cases = [(1, 4.0), (5, 4.0), (12, 8.0)];
    cases.into_iter().for_each(|(clients, think)| near(Case::Repair { clients, think }));
}
