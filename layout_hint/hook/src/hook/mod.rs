//! The hook, its verdicts and its errors.

mod ffi;
mod outcome;
#[cfg(test)]
mod tests;

pub use ffi::{Hook, SyncCounters, SyncSettings};
pub use outcome::Outcome;

use crate::wire::Question;
use birthmark_contract::hints;
use birthmark_image::ImageError;
use std::time::Instant;

/// Source of verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// None: every create is cold.
    Off = 0,
    /// From the image.
    Table = 1,
    /// From answers to questions, cached by the kind of create.
    Query = 2,
}

/// A model's verdict on a create: bits, `BM_HOT_...` of `birthmark_hint.h`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict(pub u8);

impl Verdict {
    /// Neither hot.
    pub const COLD: Self = Self(0);
    /// `HotName`: a file that will be hot.
    pub const NAME: Self = Self(hints::HOT_NAME);
    /// `HotDir`: a directory that will hold hot files.
    pub const DIR: Self = Self(hints::HOT_DIR);
    /// `HotWrite`: a file that will be written much.
    pub const WRITE: Self = Self(hints::HOT_WRITE);
    /// All of them.
    pub const ALL: Self = Self(hints::ALL);

    /// Whether any bit of `other` is set.
    pub fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Why there is no answer in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Not within the deadline.
    Late,
    /// No connection, or it ended.
    Gone,
    /// A malformed answer.
    Bad,
}

/// Why an image was refused: the one before stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not an image.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// It cannot give a hint.
    #[error("{}", hints::REFUSED_TEXTS[0])]
    NoHint,
    /// It is too large.
    #[error("{}", hints::REFUSED_TEXTS[1])]
    Oversize,
}

/// The way to a service that answers one question.
pub trait Asker: Send {
    /// Returns the verdict; waits until `deadline` at most.
    ///
    /// # Errors
    ///
    /// The reason for which there is no answer.
    fn ask(&mut self, question: &Question, deadline: Instant) -> Result<Verdict, Failure>;
}
