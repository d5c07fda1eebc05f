//! Any parts of a model file, behind a directory and checksums that are made right, and a create: no
//! panic, no endless loop, and an accepted model answers each of its predicates, with
//! probabilities above 0 and below 1.
//!
//! The file ends with its last part; what follows is the create.
#![no_main]

mod made;

use birthmark_model::Model;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use made::{crc32, create, image, number};
use std::ops::Range;

/// Bytes before the directory of parts, and of a row of it.
const HEADER: usize = 24;
const ENTRY: usize = 8;
/// Where the checksum stands, and what it is of begins.
const AT_CHECKSUM: usize = 12;
const AT_COUNT: usize = 16;
/// No seed has more parts: above, the number is taken for any other.
const PARTS: usize = 16;

fuzz_target!(|bytes: &[u8]| {
    let _ = Model::read(bytes);
    let Some((parts, rest)) = split(bytes) else { return };
    let Ok(model) = Model::read(&laid(&made_right(&parts))) else { return };
    let create = create(rest).unwrap_or_default();
    let answers = model.answer(&create);
    assert_eq!(answers.len(), model.predicates().len());
    for probability in answers.iter().filter_map(|answer| answer.probability) {
        assert!(0.0 < probability && probability < 1.0, "{probability}");
    }
    let answers = model.lookup(&create);
    for bit in model.predicates().len()..256 {
        assert_eq!(answers[bit / 64] >> (bit % 64) & 1, 0);
    }
});

// Changes one part, or the create, and lays out the file again: else whatever makes a part longer
// would move those behind it away from where the directory says that they are.
fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| {
    let found = split(&bytes[..size]).filter(|_| !seed.is_multiple_of(8));
    let Some((mut parts, create)) = found else {
        return fuzzer_mutate(bytes, size, most);
    };
    parts.push(create);
    let chosen = seed as usize / 8 % parts.len();
    let changed = changed(parts[chosen], most - size);
    parts[chosen] = &changed;
    let create = parts.pop().unwrap_or_default();
    let file = [&laid(&parts), create].concat();
    let size = file.len().min(most);
    bytes[..size].copy_from_slice(&file[..size]);
    size
});

/// A part otherwise than it was, and longer by no more than `room`.
fn changed(part: &[u8], room: usize) -> Vec<u8> {
    let mut bytes = part.to_vec();
    bytes.resize(part.len() + room.clamp(1, part.len() + 64), 0);
    let most = bytes.len();
    let size = fuzzer_mutate(&mut bytes, part.len(), most);
    bytes.truncate(size);
    bytes
}

/// The parts of a file as its directory tells them, and what follows; none if they do not lie in it.
fn split(bytes: &[u8]) -> Option<(Vec<&[u8]>, &[u8])> {
    let count = number(bytes.get(AT_COUNT..HEADER)?) as usize % PARTS;
    let rows = bytes.get(HEADER..HEADER + ENTRY * count)?;
    let range = |row: &[u8]| -> Range<usize> {
        let begin = number(row) as usize;
        begin..begin.saturating_add(number(&row[4..]) as usize)
    };
    let ranges: Vec<_> = rows.chunks_exact(ENTRY).map(range).collect();
    let end = ranges.iter().map(|range| range.end).max().unwrap_or(HEADER);
    let parts = ranges.into_iter().map(|range| bytes.get(range)).collect::<Option<_>>()?;
    Some((parts, &bytes[end..]))
}

/// The same parts, with the headers of all that are long enough for an image made right.
fn made_right<'a>(parts: &[&'a [u8]]) -> Vec<Vec<u8>> {
    let right = |(place, part): (usize, &&'a [u8])| match place {
        1.. if part.len() >= made::HEADER => image(part),
        _ => part.to_vec(),
    };
    parts.iter().enumerate().map(right).collect()
}

/// A model file of these parts.
fn laid(parts: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut file = [&b"BMMODEL\n"[..], &1_u32.to_le_bytes(), &[0; 4]].concat();
    file.extend((parts.len() as u32).to_le_bytes());
    file.extend([0; 4]);
    let mut begin = HEADER + ENTRY * parts.len();
    for part in parts.iter().map(AsRef::as_ref) {
        file.extend((begin as u32).to_le_bytes());
        file.extend((part.len() as u32).to_le_bytes());
        begin += part.len();
    }
    parts.iter().for_each(|part| file.extend(part.as_ref()));
    let checksum = !crc32(!0, &file[AT_COUNT..]);
    file[AT_CHECKSUM..AT_COUNT].copy_from_slice(&checksum.to_le_bytes());
    file
}
