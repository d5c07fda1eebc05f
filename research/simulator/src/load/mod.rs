//! Random loads, in the manner of traced ones (Hsu and Smith, section 2).
//!
//! - [`Shape`]: parameters of a load.
//! - [`Load`]: its requests, their arrivals and completions on the traced machine, and the history
//!   before.

mod episodes;
mod generate;
mod pace;
mod random;
mod recent;
mod shape;

pub use generate::Load;
pub use shape::{Depth, Pace, Places, Shape, ShapeError};
