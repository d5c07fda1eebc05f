//! The structures of `layout_hint/include/birthmark_hint.h`, shared with C: inputs and outputs of
//! the core, and messages between the helper and the device. `device.c` checks the offsets of their
//! members.

use birthmark_contract::hints::{self, NAME_MAX};
use birthmark_contract::image::{KNOWN_GID, KNOWN_HOUR, KNOWN_MODE, KNOWN_NAME, KNOWN_UID};
use serde::Serialize;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

pub use birthmark_contract::hints::HINT_VERSION as VERSION;

/// The longest image, bytes.
pub const IMAGE_MAX: usize = hints::IMAGE_MAX as usize;

/// Commands of a device: `BM_CMD_…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Take an image.
    Load = 1,
    /// Return the whole state.
    Status = 2,
    /// Set the configuration.
    Config = 3,
    /// Accept the verdict on a question.
    Answer = 4,
    /// Drop all decisions.
    Flush = 5,
    /// Return pending questions: only in frames.
    Read = 6,
}

macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident $size:literal { $($member:ident: $type:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
        #[repr(C)]
        #[allow(missing_docs)]
        pub struct $name { $(pub $member: $type),* }
        const _: () = assert!(size_of::<$name>() == $size);
    )*};
}

structures! {
    /// `struct bm_frame`.
    Frame 8 { code: u32, length: u32 }
    /// `struct bm_load`.
    Load 24 { version: u32, size: u32, data: u64, status: u32, generation: u32 }
    /// `struct bm_config`.
    Config 48 {
        version: u32, mode: u32, policy: u32, region_mode: u32, region_start: u64,
        region_length: u64, fsid: [i32; 2], hot_blocks: u32, region_inodes: u32,
    }
    /// `struct bm_decision`.
    Decision 16 { version: u32, verdict: u32, id: u64 }
    /// `struct bm_flush`.
    Flush 8 { version: u32, generation: u32 }
    /// `struct bm_wait`.
    Wait 16 { version: u32, count: u32, milliseconds: u32, zero: u32 }
    /// `struct bm_region`.
    Region 48 {
        mode: u32, cg: u32, inode_low: u32, inode_high: u32, fragment_low: u64,
        fragment_high: u64, inodes_used: u64, fragments_used: u64,
    }
    /// `struct bm_state`.
    State 376 {
        version: u32, generation: u32, image_size: u32, image_checksum: u32, image_hints: u32,
        questions: u32, decisions: u32, zero: u32, config: Config, region: Region,
        counters: Counters,
    }
    /// `struct bm_question`.
    Question 296 {
        id: u64, version: u32, generation: u32, known: u32, mode: u32, uid: u32, gid: u32,
        hour: u32, directory: u16, name_len: u16, name: [u8; NAME_MAX as usize + 1],
    }
}

/// `struct bm_counters`.
#[repr(C)]
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Serialize,
    FromBytes,
    IntoBytes,
    Immutable,
    KnownLayout,
)]
pub struct Counters {
    /// Creates.
    pub asked: u64,
    /// Verdicts that were followed, by bit: name, directory, write.
    pub hinted: [u64; 3],
    /// Creates in table mode without an image.
    pub without_image: u64,
    /// By `enum bm_outcome`.
    pub outcomes: [u64; 7],
    /// Creates in query mode with a known decision.
    pub cache_hits: u64,
    /// ... without one.
    pub cache_misses: u64,
    /// ... with a pending question.
    pub cache_waits: u64,
    /// Questions that went into the queue.
    pub questions_queued: u64,
    /// The queue was full, or the name too long.
    pub questions_dropped: u64,
    /// Answers to pending questions.
    pub answers_taken: u64,
    /// Other answers.
    pub answers_stale: u64,
    /// Images taken.
    pub images_loaded: u64,
    /// Images refused, by status.
    pub images_refused: [u64; 11],
}

const _: () = assert!(size_of::<Counters>() == 8 * COUNTERS.len());

/// The names of the numbers in [`Counters`] in reports; "" for one that is always 0.
pub const COUNTERS: [&str; 31] = [
    "asked",
    "hinted_name",
    "hinted_dir",
    "hinted_write",
    "without_image",
    "inode_placed",
    "block_placed",
    "no_region",
    "inodes_full",
    "blocks_full",
    "block_taken",
    "too_large",
    "cache_hits",
    "cache_misses",
    "cache_waits",
    "questions_queued",
    "questions_dropped",
    "answers_taken",
    "answers_stale",
    "images_loaded",
    "",
    "images_refused_truncated",
    "images_refused_no_image",
    "images_refused_newer",
    "images_refused_trailing",
    "images_refused_checksum",
    "images_refused_malformed",
    "images_refused_older",
    "images_refused_costly",
    "images_refused_no_hint",
    "images_refused_oversize",
];

impl Question {
    /// The name, if it is known.
    pub fn name(&self) -> Option<&[u8]> {
        let name = self.name.get(..usize::from(self.name_len))?;
        (self.known & KNOWN_NAME != 0).then_some(name)
    }

    /// Mode, uid, gid and hour, if known (`BM_KNOWN_…`).
    pub fn numbers(&self) -> [Option<u32>; 4] {
        [
            (KNOWN_MODE, self.mode),
            (KNOWN_UID, self.uid),
            (KNOWN_GID, self.gid),
            (KNOWN_HOUR, self.hour),
        ]
        .map(|(bit, number)| (self.known & bit != 0).then_some(number))
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.directory != 0
    }
}
