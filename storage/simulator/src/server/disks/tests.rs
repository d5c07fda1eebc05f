//! Pieces of data, and what a device and an arm do with them.

use super::super::disk::Spent;
use super::super::parameters::Kind;
use super::super::work::Work;
use super::*;
use crate::drive::small;

fn flash(count: usize) -> Disks {
    let mut read = Work::constant(100.0);
    read.per_byte = 1.0;
    let kind = Kind::Flash { channels: 2, read, write: Work::constant(500.0) };
    Disks::new(&Parameters { count, stripe: 8192, kind, region: 0, hints: 0 }, 1).unwrap()
}

#[test]
fn data_is_striped_over_the_disks_and_nothing_is_lost() {
    for count in [1, 3] {
        let mut disks = flash(count);
        let pieces = disks.pieces(5, 4096, 150_000);
        assert_eq!(pieces.iter().map(|own| own.bytes).sum::<u64>(), 150_000);
        assert_eq!(pieces.len() == 1, count == 1, "{pieces:?}");
        assert!(pieces.windows(2).all(|pair| pair[1].disk == (pair[0].disk + 1) % count));
    }
}

#[test]
fn what_is_flushed_is_one_request_of_each_device_and_one_of_each_place_for_an_arm() {
    let runs = [(0, 4096), (40_960, 4096), (81_920, 8192)];
    let mut pieces = flash(2).pieces_of(5, &runs, true);
    assert_eq!(pieces.iter().map(|own| own.bytes).sum::<u64>(), 16_384);
    pieces.dedup_by_key(|own| own.disk);
    assert_eq!(pieces.len(), 2);
    let kind = Kind::Drive(Box::new(small()));
    let mut disks =
        Disks::new(&Parameters { count: 1, stripe: 1 << 20, kind, region: 0, hints: 0 }, 1)
            .unwrap();
    let sizes: Vec<u64> = disks.pieces_of(5, &runs, true).iter().map(|own| own.bytes).collect();
    assert_eq!(sizes, [4096, 4096, 8192, FILE_BLOCK]);
    assert_eq!(disks.pieces_of(5, &runs, false).len(), 3);
}

#[test]
fn a_device_does_as_much_at_a_time_as_it_has_channels() {
    let mut disks = flash(1);
    let piece = Piece { disk: 0, at: 0, bytes: 512 };
    for number in 0..3 {
        disks.push(number, piece, number == 1, 10);
    }
    let (first, second) = (disks.begin(0, 10).unwrap(), disks.begin(0, 10).unwrap());
    assert_eq!((first.number, first.end), (0, 10 + 100 + 512));
    assert_eq!((second.number, second.end), (1, 10 + 500));
    assert_eq!(disks.begin(0, 20), None);
    disks.done(0);
    let third = disks.begin(0, 510).unwrap();
    assert_eq!((third.number, third.spent.queue), (2, 500));
    assert_eq!(disks.busy(), 612 + 500 + 612);
}

#[test]
fn an_arm_takes_one_request_at_a_time_and_tells_where_its_time_went() {
    let kind = Kind::Drive(Box::new(small()));
    let mut disks =
        Disks::new(&Parameters { count: 1, stripe: 1 << 20, kind, region: 0, hints: 0 }, 1)
            .unwrap();
    disks.push(0, Piece { disk: 0, at: 5120, bytes: 512 }, false, 0);
    disks.push(1, Piece { disk: 0, at: 0, bytes: 512 }, false, 0);
    let first = disks.begin(0, 0).unwrap();
    let Spent { queue, seek, rotation, transfer } = first.spent;
    assert_eq!(queue + seek + rotation + transfer, first.end);
    assert_eq!(disks.begin(0, 1), None);
    disks.done(0);
    assert_eq!(disks.begin(0, first.end).unwrap().number, 1 - first.number);
}
