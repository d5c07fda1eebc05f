use super::*;

/// A header, and a directory and a table of predicates as the counts in it say.
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

/// One predicate, `a`, and no sections.
fn smallest() -> Vec<u8> {
    smallest_of(0)
}

/// The same, that declares so many steps.
fn smallest_of(steps: u32) -> Vec<u8> {
    let numbers = [1_u32, 40, 0, steps, 0, 48, 0x0001_0001];
    let mut content: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    content.push(b'a');
    image(&content)
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
    newer[8] = 4;
    assert_eq!(Image::read(&newer).unwrap_err(), ImageError::Newer);
    let mut older = smallest();
    older[8] = 2;
    assert_eq!(Image::read(&older).unwrap_err(), ImageError::Older);
    let mut other = smallest();
    other[0] = b'b';
    assert_eq!(Image::read(&other).unwrap_err(), ImageError::NoImage);
    let mut damaged = smallest();
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(Image::read(&damaged).unwrap_err(), ImageError::Checksum);
    assert_eq!(Image::read(&image(&[0; 20])).unwrap_err(), ImageError::Malformed);
    assert_eq!(Image::read(&smallest_of(STEPS_MAX)).unwrap().steps(), STEPS_MAX);
    assert_eq!(Image::read(&smallest_of(STEPS_MAX + 1)).unwrap_err(), ImageError::Costly);
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
