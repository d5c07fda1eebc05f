//! Loads made up by chance, in the manner of those that were traced (Hsu and Smith, section 2).
//!
//! - [`Shape`]: what a load is like.
//! - [`Load`]: its requests, when each came and was done on the machine on which it would have been
//!   traced, and what had been read and written before.

mod episodes;
mod generate;
mod pace;
mod random;
mod recent;
mod shape;

pub use generate::Load;
pub use shape::{Depth, Pace, Places, Shape, ShapeError};
