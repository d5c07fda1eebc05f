use super::*;
use birthmark_learn::certainty::Word;

/// A header of this content, which begins behind the checksum.
fn image(content: &[u8]) -> Vec<u8> {
    let mut bytes = format::MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((20 + content.len() as u32).to_le_bytes());
    let mut crc = flate2::Crc::new();
    crc.update(&bytes);
    crc.update(content);
    bytes.extend(crc.sum().to_le_bytes());
    bytes.extend(content);
    bytes
}

/// One predicate, `a`, of these cuts, and no sections.
fn smallest_of(steps: u32, cuts: [u16; 4]) -> Vec<u8> {
    let end = format::HEADER_SIZE + format::PREDICATE_ENTRY;
    let header = [1, format::HEADER_SIZE, 0, steps, 0, 0, end, end, 1];
    let mut content: Vec<u8> = header.iter().flat_map(|n| n.to_le_bytes()).collect();
    for _ in 0..format::SCOPES * format::POINTS {
        content.extend([end, 0].iter().flat_map(|n| n.to_le_bytes()));
        content.extend(cuts.iter().flat_map(|n| n.to_le_bytes()));
    }
    content.push(b'a');
    image(&content)
}

/// One that abstains.
fn smallest() -> Vec<u8> {
    smallest_of(1, [NEVER, NEVER, 0, 0])
}

#[test]
fn the_smallest_image_has_a_predicate_that_abstains() {
    let image = Image::read(&smallest()).unwrap();
    assert_eq!(image.predicates()[0].key, "a");
    assert!(image.predicates()[0].abstains);
    assert_eq!(image.lookup(&Create::default()), Answers::default());
}

#[test]
fn every_flipped_bit_and_every_other_length_is_refused() {
    let whole = smallest();
    for bit in 0..8 * whole.len() {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(Image::read(&bytes).is_err(), "bit {bit}");
    }
    for size in 0..whole.len() {
        assert_eq!(Image::read(&whole[..size]).unwrap_err(), ImageError::Truncated);
    }
    let longer = [&whole[..], &[0]].concat();
    assert_eq!(Image::read(&longer).unwrap_err(), ImageError::Trailing);
}

#[test]
fn faults_are_distinguished() {
    let mut newer = smallest();
    newer[8] = 5;
    assert_eq!(Image::read(&newer).unwrap_err(), ImageError::Newer);
    let mut older = smallest();
    older[8] = 3;
    assert_eq!(Image::read(&older).unwrap_err(), ImageError::Older);
    let mut other = smallest();
    other[0] = b'b';
    assert_eq!(Image::read(&other).unwrap_err(), ImageError::NoImage);
    let mut damaged = smallest();
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(Image::read(&damaged).unwrap_err(), ImageError::Checksum);
    assert_eq!(Image::read(&image(&[0; 28])).unwrap_err(), ImageError::Malformed);
    let implied = smallest_of(1, [0, 0, 0, 4]);
    assert_eq!(Image::read(&implied).unwrap_err(), ImageError::Malformed);
    let of = |steps| Image::read(&smallest_of(steps, [0; 4]));
    assert_eq!(of(STEPS_MAX).unwrap().steps(), STEPS_MAX);
    assert_eq!(of(STEPS_MAX + 1).unwrap_err(), ImageError::Costly);
    assert_eq!(of(0).unwrap_err(), ImageError::Costly);
}

#[test]
fn cuts_can_be_moved_suppressed_and_restored() {
    let image = Image::read(&smallest_of(1, [0, NEVER, 0, 0])).unwrap();
    let mut answers = Vec::new();
    let mut answer = |change| {
        image.change(0, format::SCOPE_NOTHING, change);
        let yes = image.answer(&Create::default(), &mut answers)[0];
        assert_eq!(yes, image.lookup(&Create::default())[0]);
        (yes, answers[0].word)
    };
    assert_eq!(answer(Change::Calibrated), (1, Word::Unsure));
    assert_eq!(answer(Change::Moved(0)), (1, Word::Yes));
    assert_eq!(answer(Change::Moved(1)), (0, Word::Unsure));
    assert_eq!(answer(Change::Suppressed), (0, Word::Unsure));
    assert_eq!(answer(Change::Calibrated), (1, Word::Unsure));
}

#[test]
fn no_lookup_takes_more_steps_than_its_image_declares() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../layout_hint/fuzz/corpus/check");
    let names: [&[u8]; 4] = [b"inbox.lock", &[b'.'; 255], &[b'a'; 255], b""];
    let mut most = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let image = Image::read(&std::fs::read(file.unwrap().path()).unwrap()).unwrap();
        for name in names.map(Some).into_iter().chain([None]) {
            for value in [None, Some(0), Some(0o600)] {
                let create = Create { name, values: [value; 4], ..Create::default() };
                let (_, steps) = counted(|| image.lookup(&create));
                assert!(steps <= image.steps().into(), "{steps} of {}", image.steps());
                most = most.max(steps);
            }
        }
    }
    assert!(most > 100);
}
