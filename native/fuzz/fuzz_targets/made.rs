//! What the targets that read images share: images made right, and creates.
#![allow(dead_code)] // no target needs all of it

use birthmark_image::{Create, VERSION};

/// Bytes of an image's header.
pub const HEADER: usize = 48;
/// Bytes of a create before its history and name.
const FIXED: usize = 19;

/// Puts one, two or four words of the bytes in the place of others: nodes and whole trees come to
/// be shared, predicates to be repeated, chains to be long.
pub fn share(bytes: &mut [u8], seed: u32) {
    let from = seed.wrapping_mul(0x9e37_79b1);
    let to = from.wrapping_mul(0x0100_0193);
    let width = 4 << ((from >> 30) % 3);
    if let Some(last) = bytes.len().checked_sub(width) {
        let place = |random: u32| 4 * ((random >> 8) as usize % (last / 4 + 1));
        bytes.copy_within(place(from)..place(from) + width, place(to));
    }
}

/// An image of this content, whose header is right. It has as many bytes as a header, or more.
pub fn image(content: &[u8]) -> Vec<u8> {
    let mut image = content.to_vec();
    image[..8].copy_from_slice(b"BMIMAGE\n");
    image[8..12].copy_from_slice(&VERSION.to_le_bytes());
    image[12..16].copy_from_slice(&(content.len() as u32).to_le_bytes());
    let crc = crc32(crc32(!0, &image[..16]), &image[20..]);
    image[16..20].copy_from_slice(&(!crc).to_le_bytes());
    image
}

/// A CRC-32 with these bytes added; it begins and ends with its bits turned round.
pub fn crc32(crc: u32, bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| crc >> 1 ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
    bytes.iter().fold(crc, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit))
}

/// The create that bytes are: what is known, hour, numbers, the history's bytes, history, name.
pub fn create(bytes: &[u8]) -> Option<Create<'_>> {
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

/// The number of 4 bytes that bytes begin with.
pub fn number(bytes: &[u8]) -> u32 {
    (0..4).fold(0, |number, i| number | u32::from(bytes[i]) << (8 * i))
}
