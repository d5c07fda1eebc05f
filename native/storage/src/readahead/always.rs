//! All reads are sequential.

use super::{Read, Rule, MOST};

/// Whatever is read, as much is read ahead as can be: what Ellard and Seltzer compare with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Always;

impl Rule for Always {
    type Known = ();

    fn begin(&self, _: &Read) {}

    fn seen(&self, (): &mut (), _: &Read) -> u32 {
        MOST
    }
}
