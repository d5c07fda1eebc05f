//! The extension module `birthmark._native`: convert, call, wrap. `birthmark/_native.pyi`
//! documents it for Python.

mod components;

use pyo3::prelude::*;

mod lives;
mod trace;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    components::register(module)?;
    trace::register(module)?;
    module.add_class::<lives::LivesBuilder>()?;
    Ok(())
}
