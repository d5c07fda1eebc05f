//! Any content behind a header that is made right, and a create: no panic, no endless loop, and of
//! what is read as an image, no answer of a predicate that there is not, no more steps than it
//! declares, and three-way answers with probabilities below 1.
//!
//! The image is as long as its header says; what follows is the create.
#![no_main]

mod made;

#[cfg(fuzzing)]
use birthmark_image::counted;
use birthmark_image::{Image, STEPS_NAME};
use birthmark_learn::certainty::STEPS;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use made::{create, image, number, share};

/// Steps are counted only in a build for the fuzzer: elsewhere, as in clippy's, there are none.
#[cfg(not(fuzzing))]
fn counted<T>(run: impl FnOnce() -> T) -> (T, u64) {
    (run(), 0)
}

fuzz_target!(|bytes: &[u8]| {
    let _ = Image::read(bytes);
    if bytes.len() < made::HEADER {
        return;
    }
    let declared = number(&bytes[12..]) as usize;
    let size =
        if (made::HEADER..=bytes.len()).contains(&declared) { declared } else { bytes.len() };
    let Ok(image) = Image::read(&image(&bytes[..size])) else {
        return;
    };
    let create = create(&bytes[size..]).unwrap_or_default();
    let mut three_way = Vec::new();
    assert_eq!(image.answer(&create, &mut three_way), image.lookup(&create));
    assert_eq!(three_way.len(), image.predicates().len());
    assert!(three_way.iter().all(|answer| answer.probability < STEPS));
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
