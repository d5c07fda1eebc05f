//! Any content behind a header that is made right, and a create: no panic, no endless loop, and of
//! what is read as an image, no answer of a predicate that there is not, and no more steps than it
//! declares.
//!
//! The image is as long as its header says; what follows is the create.
#![no_main]

#[cfg(fuzzing)]
use birthmark_image::counted;
use birthmark_image::{Create, Image, STEPS_NAME, VERSION};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

/// Bytes of a create before its history and name.
const FIXED: usize = 19;

/// Steps are counted only in a build for the fuzzer: elsewhere, as in clippy's, there are none.
#[cfg(not(fuzzing))]
fn counted<T>(run: impl FnOnce() -> T) -> (T, u64) {
    (run(), 0)
}

fuzz_target!(|bytes: &[u8]| {
    let _ = Image::read(bytes);
    if bytes.len() < 40 {
        return;
    }
    let said = number(&bytes[12..]) as usize;
    let size = if (40..=bytes.len()).contains(&said) { said } else { bytes.len() };
    let Ok(image) = Image::read(&made_right(&bytes[..size])) else {
        return;
    };
    let create = create(&bytes[size..]).unwrap_or_default();
    let (answers, steps) = counted(|| image.lookup(&create));
    let long = create.name.is_some_and(|name| name.len() > STEPS_NAME as usize);
    assert!(long || steps <= u64::from(image.steps()), "{steps} steps");
    for bit in image.predicates().len()..256 {
        assert_eq!(answers[bit / 64] >> (bit % 64) & 1, 0);
    }
});

fuzz_mutator!(|bytes: &mut [u8], size: usize, most: usize, seed: u32| {
    if !seed.is_multiple_of(4) {
        return fuzzer_mutate(bytes, size, most);
    }
    share(&mut bytes[..size], seed);
    size
});

/// Puts one, two or four words of the bytes in the place of others: nodes and whole trees come to
/// be shared, predicates to be repeated, chains to be long.
fn share(bytes: &mut [u8], seed: u32) {
    let from = seed.wrapping_mul(0x9e37_79b1);
    let to = from.wrapping_mul(0x0100_0193);
    let width = 4 << ((from >> 30) % 3);
    if let Some(last) = bytes.len().checked_sub(width) {
        let place = |random: u32| 4 * ((random >> 8) as usize % (last / 4 + 1));
        bytes.copy_within(place(from)..place(from) + width, place(to));
    }
}

fn made_right(content: &[u8]) -> Vec<u8> {
    let mut image = content.to_vec();
    image[..8].copy_from_slice(b"BMIMAGE\n");
    image[8..12].copy_from_slice(&VERSION.to_le_bytes());
    image[12..16].copy_from_slice(&(content.len() as u32).to_le_bytes());
    let crc = crc32(crc32(!0, &image[..16]), &image[20..]);
    image[16..20].copy_from_slice(&(!crc).to_le_bytes());
    image
}

fn crc32(crc: u32, bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    bytes.iter().fold(crc, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit))
}

fn create(bytes: &[u8]) -> Option<Create<'_>> {
    let (fixed, rest) = bytes.split_at_checked(FIXED)?;
    let known = |bit: usize| fixed[0] >> bit & 1 == 1;
    let value = |i: usize| known(i).then(|| number(&fixed[2 + 4 * i..]));
    let (history, name) = rest.split_at(rest.len().min(usize::from(fixed[18])));
    Some(Create {
        name: (!known(7)).then_some(name),
        history: (!known(6)).then_some(history),
        name_history: None,
        values: [value(0), value(1), value(2), value(3)],
        hour: known(4).then_some(fixed[1]),
    })
}

fn number(bytes: &[u8]) -> u32 {
    (0..4).fold(0, |number, i| number | u32::from(bytes[i]) << (8 * i))
}
