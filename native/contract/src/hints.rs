//! Hints about creates for file systems, and the protocol of the hook and its helper.

use crate::group::{group, same};

/// A kind of hint. Its place among [`HINTS`] is its bit in a verdict.
#[derive(Clone, Copy, Debug)]
pub struct Hint {
    /// Its predicate.
    pub key: &'static str,
    /// Its name in C.
    pub name: &'static str,
    /// Whether it is about directories, or about all else.
    pub of_directory: bool,
    /// The meaning for the create.
    pub meaning: &'static str,
}

/// The hints, in the order of a verdict's bits.
pub const HINTS: [Hint; 3] = [
    Hint { key: "HotName", name: "NAME", of_directory: false, meaning: "the name will be hot" },
    Hint { key: "HotDir", name: "DIR", of_directory: true, meaning: "it will hold such names" },
    Hint { key: "HotWrite", name: "WRITE", of_directory: false, meaning: "it will be written" },
];

/// All bits.
pub const ALL: u8 = (1 << HINTS.len()) - 1;
/// The bit of `HotName`.
pub const HOT_NAME: u8 = bit("HotName");
/// The bit of `HotDir`.
pub const HOT_DIR: u8 = bit("HotDir");
/// The bit of `HotWrite`.
pub const HOT_WRITE: u8 = bit("HotWrite");

/// The bit of a predicate's hint.
///
/// # Panics
///
/// If there is none.
const fn bit(key: &str) -> u8 {
    let mut place = 0;
    while place < HINTS.len() {
        if same(HINTS[place].key, key) {
            return 1 << place;
        }
        place += 1;
    }
    panic!("there is no such hint")
}

/// The possible bits of a verdict on a directory, or on something else.
pub const fn asked_of(directory: bool) -> u8 {
    let (mut bits, mut place) = (0, 0);
    while place < HINTS.len() {
        if HINTS[place].of_directory == directory {
            bits |= 1 << place;
        }
        place += 1;
    }
    bits
}

group! {
    /// The protocol of the hook and its helper.
    LIMITS: u32 {
        /// of the declarations below
        HINT_VERSION = 2,
        /// bytes of an image
        IMAGE_MAX = 16 << 20,
        /// bytes of a name in a question
        NAME_MAX = 255,
        /// blocks of a file to place, by default
        HOT_BLOCKS = 256,
    }
}
group! {
    /// Why an image was refused, beyond what bm_image_check() says (enum bm_status of birthmark.h).
    REFUSED: u32 {
        /// neither HotName nor HotDir
        NO_HINT = 9,
        /// more than BM_IMAGE_MAX bytes
        OVERSIZE = 10,
        STATUSES = 11,
    }
}
/// The messages of [`REFUSED`].
pub const REFUSED_TEXTS: [&str; 2] =
    ["neither of the predicates HotName and HotDir", "more than the 16 MB that an image may have"];
