//! All reads are sequential.

use super::{Read, Rule, MOST};

/// Always reads ahead as far as possible: the baseline of Ellard and Seltzer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Always;

impl Rule for Always {
    type Known = ();

    fn begin(&self, _: &Read) {}

    fn seen(&self, (): &mut (), _: &Read) -> u32 {
        MOST
    }
}
