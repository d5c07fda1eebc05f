//! Arrays that a crate makes for Python, or what is raised instead.

use super::errors::{raise, Raised};
use arrow_array::{Array, BooleanArray};
pub use birthmark_extension::arrays::*;
use pyo3::prelude::*;

/// An array for Python, or what is raised instead.
pub fn given<A: Array, E: Raised>(made: Result<A, E>) -> PyResult<Column> {
    made.map(column).map_err(raise)
}

/// Columns of truth values, or what is raised instead.
pub fn columns<E: Raised>(made: Result<Vec<BooleanArray>, E>) -> PyResult<Vec<Column>> {
    made.map(|columns| columns.into_iter().map(column).collect()).map_err(raise)
}
