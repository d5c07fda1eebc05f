//! The extension module `birthmark.storage.native`: convert, call, wrap. `native.pyi` beside it documents it for Python.

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod errors;
mod server;

#[pyo3::pymodule]
mod native {
    use super::errors;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::server::{PyStorageReuse, PyStorageServer};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        errors::register(module)
    }
}
