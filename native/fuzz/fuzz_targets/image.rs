//! Any content behind a header that is made right, and a create: no panic, no endless loop, and of
//! what is read as an image, no answer of a predicate that there is not.
//!
//! The image is as long as its header says; what follows is the create.
#![no_main]

use birthmark_native::image::{Create, Image, VERSION};
use libfuzzer_sys::fuzz_target;

/// Bytes of a create before its history and name.
const FIXED: usize = 19;

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
    let answers = create(&bytes[size..]).map(|create| image.lookup(&create)).unwrap_or_default();
    for bit in image.predicates().len()..256 {
        assert_eq!(answers[bit / 64] >> (bit % 64) & 1, 0);
    }
});

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
        values: [value(0), value(1), value(2), value(3)],
        hour: known(4).then_some(fixed[1]),
    })
}

fn number(bytes: &[u8]) -> u32 {
    (0..4).fold(0, |number, i| number | u32::from(bytes[i]) << (8 * i))
}
