use super::*;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus as Random;

#[test]
fn nothing_is_read_beyond_what_is_missing() {
    assert_eq!(Nothing.fetch(&(5..9)), Fetch { sectors: 5..9, until: 9 });
}

#[test]
fn a_unit_is_read_whole_and_waited_for() {
    let unit = Unit { sectors: 128 };
    assert_eq!(unit.fetch(&(130..140)), Fetch { sectors: 128..256, until: 256 });
    assert_eq!(unit.fetch(&(128..256)), Fetch { sectors: 128..256, until: 256 });
    assert_eq!(unit.fetch(&(255..257)), Fetch { sectors: 128..384, until: 384 });
}

#[test]
fn what_is_read_ahead_is_not_waited_for() {
    assert_eq!(Ahead { sectors: 64 }.fetch(&(5..9)), Fetch { sectors: 5..73, until: 9 });
}

#[test]
fn the_longer_a_run_the_more_is_read_behind_it() {
    let mut runs = Runs::new(32, 1, 2, 512);
    let mut ahead = |sectors: Range<u64>| {
        runs.seen(&sectors);
        let fetch = runs.fetch(&sectors);
        assert_eq!((fetch.sectors.start, fetch.until), (sectors.start, sectors.end));
        fetch.sectors.end - sectors.end
    };
    assert_eq!([ahead(0..16), ahead(16..32)], [64, 64], "one segment");
    assert_eq!([ahead(32..64), ahead(64..128)], [128, 256]);
    assert_eq!(ahead(128..1_280), 512, "no more than that");
    assert_eq!(ahead(0..8), 64, "the run has left its first segment");
}

#[test]
fn below_the_trigger_nothing_is_read_behind() {
    let mut runs = Runs::new(32, 2, 2, 512);
    runs.seen(&(0..32));
    assert_eq!(runs.fetch(&(0..32)).sectors, 0..32);
    runs.seen(&(32..64));
    assert_eq!(runs.fetch(&(32..64)).sectors, 32..192);
}

#[test]
fn runs_are_those_of_a_list_of_64_segments() {
    let mut random = Random::seed_from_u64(3);
    let (mut runs, mut list) = (Runs::new(1, 1, 1, 1_000), Vec::<(u64, u64)>::new());
    for _ in 0..20_000 {
        let segment = random.next_u64() % 150;
        runs.seen(&(segment..segment + 1));
        if let Some(at) = list.iter().position(|own| own.0 == segment) {
            let own = list.remove(at);
            list.push(own);
        } else {
            let before = list.iter().position(|own| own.0 + 1 == segment);
            let run = before.map_or(0, |at| list.remove(at).1) + 1;
            if list.len() == 64 {
                list.remove(0);
            }
            list.push((segment, run));
        }
        let (segment, run) = list[list.len() - 1];
        assert_eq!(runs.fetch(&(segment..segment + 1)).sectors.end, segment + 1 + run);
    }
}
