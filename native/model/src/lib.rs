//! A compiled model in a file, as `birthmark models image` writes it: predictions for a file that
//! is being created, with probabilities (`docs/image-format.md`).
//!
//! ```no_run
//! use birthmark_model::{Create, Model};
//!
//! # fn main() -> Result<(), birthmark_model::ModelError> {
//! let model = Model::open("published.model")?;
//! let create = Create { name: Some(b"conftest.c"), ..Create::default() };
//! for (predicate, answer) in model.predicates().iter().zip(model.answer(&create)) {
//!     println!("{} {:?} {:?}", predicate.key, answer.word, answer.probability);
//! }
//! # Ok(())
//! # }
//! ```

#[cfg(test)]
mod tests;

pub use birthmark_image::{Answers, Create, Image, ImageError, Predicate};
pub use birthmark_learn::certainty::Word;
pub use birthmark_learn::encode::fnv1a;

use birthmark_image::regular;
use birthmark_learn::certainty;
use std::path::{Path, PathBuf};

/// An image.
///
/// It is immutable: threads may use it at the same time.
pub struct Model {
    image: Image,
}

/// The answer about one predicate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreeWayAnswer {
    /// The answer.
    pub word: Word,
    /// The probability of a yes, above 0 and below 1; none if unknown.
    pub probability: Option<f64>,
}

/// The first bytes of what earlier releases wrote with probabilities.
const OLDER: &[u8] = b"BMMODEL\n";

/// Invalid bytes of a model.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The image is invalid.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// An earlier release wrote it.
    #[error("a model file of an earlier release: write it again with birthmark models image")]
    Older,
}

/// An error in opening a model.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        error: std::io::Error,
    },
    /// It is not a model.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        error: FileError,
    },
}

impl Model {
    /// Reads a file that `birthmark models image` wrote.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is not a regular file, is longer than 1 GiB, or is not a model.
    pub fn open(path: impl AsRef<Path>) -> Result<Model, ModelError> {
        let path = path.as_ref();
        let failed = |error| ModelError::Read { path: path.into(), error };
        let bytes = regular::read(path, regular::LONGEST).map_err(failed)?;
        Model::read(&bytes).map_err(|error| ModelError::File { path: path.into(), error })
    }

    /// Reads the bytes of such a file.
    ///
    /// # Errors
    ///
    /// If they are not a model.
    pub fn read(bytes: &[u8]) -> Result<Model, FileError> {
        match bytes.starts_with(OLDER) {
            true => Err(FileError::Older),
            false => Ok(Model { image: Image::read(bytes)? }),
        }
    }

    /// The predicates, in the order of the answers.
    pub fn predicates(&self) -> &[Predicate] {
        self.image.predicates()
    }

    /// The place of a predicate, by its key; none if the model does not have it.
    pub fn place(&self, key: &str) -> Option<usize> {
        self.predicates().iter().position(|predicate| predicate.key == key)
    }

    /// Whether answers have probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.image.has_probabilities()
    }

    /// The answers of all predicates, a bit for each: those of `bm_lookup` in C.
    pub fn lookup(&self, create: &Create) -> Answers {
        self.image.lookup(create)
    }

    /// The consistent answers about each predicate, with probabilities.
    pub fn answer(&self, create: &Create) -> Vec<ThreeWayAnswer> {
        let mut answers = Vec::with_capacity(self.predicates().len());
        self.image.answer(create, &mut answers);
        answers.into_iter().map(ThreeWayAnswer::of).collect()
    }
}

impl ThreeWayAnswer {
    fn of(answer: certainty::ThreeWayAnswer) -> ThreeWayAnswer {
        let certainty::ThreeWayAnswer { word, probability } = answer;
        let share = f64::from(probability) / f64::from(certainty::STEPS);
        ThreeWayAnswer { word, probability: (probability != 0).then_some(share) }
    }
}
