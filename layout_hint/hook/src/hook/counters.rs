//! What the hook counts, as `birthmark_hint.h` and `bm_sync.h` have it.

use serde::Serialize;

/// `struct bm_counters`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Creates.
    pub asked: u64,
    /// Verdicts that were followed, by bit: name, directory, write.
    pub hinted: [u64; 3],
    /// Asked in table mode without an image.
    pub without_image: u64,
    /// By [`super::Outcome`].
    pub outcomes: [u64; 7],
    /// Asked in query mode: the decision was known.
    pub cache_hits: u64,
    /// It was not.
    pub cache_misses: u64,
    /// It was asked for already.
    pub cache_waits: u64,
    /// Questions that went into the queue.
    pub questions_queued: u64,
    /// The queue was full, or the name too long.
    pub questions_dropped: u64,
    /// Answers to questions that waited.
    pub answers_taken: u64,
    /// Other answers.
    pub answers_stale: u64,
    /// Images taken.
    pub images_loaded: u64,
    /// Images refused, by status.
    pub images_refused: [u64; 11],
}

/// `struct bm_state`, but for the settings and the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Grows when decisions are forgotten.
    pub generation: u32,
    /// Bytes of the image; 0 if there is none.
    pub image_size: u32,
    /// Questions in the queue.
    pub questions: u32,
    /// Decisions known.
    pub decisions: u32,
    /// What was counted.
    pub counters: Counters,
}

/// `struct bm_sync_counters`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SyncCounters {
    /// Questions answered.
    pub answered: u64,
    /// Not within the deadline.
    pub late: u64,
    /// No connection, or it ended.
    pub gone: u64,
    /// Answers that were not as they should be.
    pub bad: u64,
    /// Creates that the open breaker let go unasked.
    pub unasked: u64,
    /// Times that the breaker opened.
    pub opened: u64,
    /// Questions sent while it was open.
    pub probes: u64,
}
