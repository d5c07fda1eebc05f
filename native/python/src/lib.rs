//! The extension module `birthmark_native._native`: convert, call, wrap. `birthmark_native/_native.pyi`
//! documents it for Python.

use pyo3::prelude::*;

mod anonymize;
mod arrays;
mod captures;
mod certainty;
mod components;
mod contract;
mod errors;
mod ffs;
mod forest;
mod history;
mod hook;
mod image;
mod invalid;
mod layout;
mod lives;
mod lobby;
mod scan;
mod serve;
mod text;
mod trace;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    errors::register(module)?;
    trace::register(module)?;
    module.add_class::<lives::LivesBuilder>()?;
    module.add_class::<lobby::PyLobby>()?;
    module.add_class::<scan::ScanCounter>()?;
    module.add_class::<scan::ScanMerger>()?;
    anonymize::register(module)?;
    module.add_class::<captures::PyCaptureWriter>()?;
    module.add_class::<text::PyTextWriter>()?;
    module.add_class::<text::PyTraceLines>()?;
    module.add_class::<image::PyImage>()?;
    module.add_class::<hook::PyHook>()?;
    module.add_class::<certainty::PyCertainty>()?;
    components::register(module)?;
    contract::register(module)?;
    ffs::register(module)?;
    forest::register(module)?;
    history::register(module)?;
    layout::register(module)?;
    serve::register(module)?;
    Ok(())
}
