//! Warnings of values that were probably meant otherwise.

use super::reader::Shape;
use super::File;

/// The most warnings in an answer.
const MOST: usize = 8;

/// Warnings of the files of a body, in their order, up to eight.
#[derive(Default)]
pub struct Warnings {
    files: u64,
    found: Vec<(u64, String)>,
}

impl Warnings {
    /// Adds the next file of the body.
    #[inline]
    pub fn add(&mut self, file: &File) {
        if self.found.len() < MOST {
            self.found.extend(file.warning().map(|why| (self.files, why)));
        }
        self.files += 1;
    }

    /// Returns the sentences; in a list each begins with the place of its file.
    pub fn sentences(self, shape: Shape) -> Vec<String> {
        let sentence = |(place, why): (u64, String)| match shape {
            Shape::List => format!("[{place}].{why}"),
            Shape::One => why,
        };
        self.found.into_iter().map(sentence).collect()
    }
}
