//! The extension module `birthmark._native`: convert, call, wrap. `birthmark/_native.pyi`
//! documents it for Python.

use pyo3::prelude::*;

mod anonymize;
mod components;
mod lives;
mod trace;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    trace::register(module)?;
    module.add_class::<lives::LivesBuilder>()?;
    anonymize::register(module)?;
    components::register(module)?;
    Ok(())
}
