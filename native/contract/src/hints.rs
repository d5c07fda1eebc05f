//! What a file system is hinted to of a create, and what the hook in it and its helper agree on.

use crate::group::{group, same};

/// A kind of hint. Its place among [`HINTS`] is its bit in a verdict.
#[derive(Clone, Copy, Debug)]
pub struct Hint {
    /// The predicate that says it.
    pub key: &'static str,
    /// What C calls it.
    pub name: &'static str,
    /// Whether it is asked of directories; if not, of all else.
    pub of_directory: bool,
    /// What it says of the create.
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

/// The bit of the hint that a predicate says.
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

/// The bits that a verdict on a directory, or on something else, can have.
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
    /// What the hook and its helper agree on.
    LIMITS: u32 {
        /// of what is below
        HINT_VERSION = 2,
        /// bytes of an image
        IMAGE_MAX = 16 << 20,
        /// bytes of a name in a question
        NAME_MAX = 255,
        /// of a file that are placed, usually
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
/// What each of [`REFUSED`] says to people.
pub const REFUSED_TEXTS: [&str; 2] =
    ["neither of the predicates HotName and HotDir", "more than the 16 MB that an image may have"];
