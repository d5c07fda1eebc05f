//! The extension module `birthmark._native`: convert, call, wrap. `birthmark/_native.pyi`
//! documents it for Python.

mod lives;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<lives::LivesBuilder>()?;
    Ok(())
}
