//! The extension module `birthmark.storage._native`: convert, call, wrap. `_native.pyi` beside it documents it for Python.

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod errors;
mod server;

#[pyo3::pymodule]
mod _native {
    use super::errors;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::server::{PyStorageReuse, PyStorageServer};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        errors::register(module)
    }
}
