//! A compiled model in a file, as `birthmark image` writes it: what it answers about a file that is
//! being created, and how likely each answer is (`docs/image-format.md`).
//!
//! ```no_run
//! use birthmark_model::{Create, Model};
//!
//! # fn main() -> Result<(), birthmark_model::ModelError> {
//! let model = Model::open("published.model")?;
//! let create = Create { name: Some(b"conftest.c"), ..Create::default() };
//! for (predicate, said) in model.predicates().iter().zip(model.say(&create)) {
//!     println!("{} {:?} {:?}", predicate.key, said.word, said.probability);
//! }
//! # Ok(())
//! # }
//! ```

mod file;
#[cfg(test)]
mod tests;

pub use birthmark_image::{Answers, Create, Image, ImageError, Predicate};
pub use birthmark_learn::certainty::{CertaintyError, Word};
pub use birthmark_learn::encode::fnv1a;

use birthmark_answer::Levels;
use birthmark_learn::certainty;
use file::Parts;
use std::path::{Path, PathBuf};

/// An image, and what says how sure its answers are, if the file has that.
///
/// It never changes: threads may ask it at the same time.
pub struct Model {
    image: Image,
    levels: Option<Levels>,
}

/// What is said of one predicate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Said {
    /// The answer.
    pub word: Word,
    /// How likely it holds, above 0 and below 1; none where that is not known.
    pub probability: Option<f64>,
}

/// Why bytes are no model.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The image is none.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The file is shorter than it says, or says what cannot be.
    #[error("malformed: expected parts that lie in the file, one after the other")]
    Parts,
    /// Not the bytes that were written.
    #[error("damaged: the checksum does not match")]
    Checksum,
    /// A version that is not known here.
    #[error("a model file of version {0}, expected {version}", version = file::VERSION)]
    Version(u32),
    /// What says how sure the answers are cannot be read.
    #[error("probabilities: {0}")]
    Certainty(#[from] CertaintyError),
    /// It is about other predicates or levels than the images.
    #[error("probabilities: expected those of the image's predicates")]
    Levels,
}

/// Why there is no model at a path.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: std::io::Error,
    },
    /// It is no model.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        error: FileError,
    },
}

impl Model {
    /// Reads a file that `birthmark image` wrote, with probabilities or without.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is no model.
    pub fn open(path: impl AsRef<Path>) -> Result<Model, ModelError> {
        let path = path.as_ref();
        let failed = |error| ModelError::Read { path: path.into(), error };
        let bytes = std::fs::read(path).map_err(failed)?;
        Model::read(&bytes).map_err(|error| ModelError::File { path: path.into(), error })
    }

    /// Reads the bytes of such a file.
    ///
    /// # Errors
    ///
    /// If they are no model.
    pub fn read(bytes: &[u8]) -> Result<Model, FileError> {
        match Parts::of(bytes)? {
            Some(parts) => {
                let image = Image::read(parts.image)?;
                let levels = parts.levels(image.predicates())?;
                Ok(Model { image, levels: Some(levels) })
            }
            None => Ok(Model { image: Image::read(bytes)?, levels: None }),
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

    /// Whether it says how likely answers are.
    pub fn has_probabilities(&self) -> bool {
        self.levels.is_some()
    }

    /// The answers of all predicates, a bit for each: those of `bm_lookup` in C.
    pub fn lookup(&self, create: &Create) -> Answers {
        self.image.lookup(create)
    }

    /// What is said of each predicate, with how likely it holds, without contradictions.
    ///
    /// Without probabilities it is yes where the bit is set, else no.
    pub fn say(&self, create: &Create) -> Vec<Said> {
        let Some(levels) = &self.levels else {
            let answers = self.image.lookup(create);
            let bit = |place: usize| answers[place / 64] >> (place % 64) & 1 != 0;
            let plain = |place| Said {
                word: if bit(place) { Word::Yes } else { Word::No },
                probability: None,
            };
            return (0..self.predicates().len()).map(plain).collect();
        };
        let mut said = Vec::with_capacity(self.predicates().len());
        levels.say(create, |create| self.image.lookup(create), false, &mut said);
        said.into_iter().map(Said::of).collect()
    }
}

impl Said {
    fn of(said: certainty::Said) -> Said {
        let share = f64::from(said.probability) / f64::from(certainty::STEPS);
        Said { word: said.word, probability: (said.probability != 0).then_some(share) }
    }
}
