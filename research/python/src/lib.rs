//! The extension module `birthmark.research.native`: convert, call, wrap. `native.pyi` beside it documents it for Python.

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod attached;
mod bench;
mod block_replay;
mod errors;
mod stack;
mod theory;
mod validate;

#[pyo3::pymodule]
mod native {
    use super::errors;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        attached::storage_attached,
        bench::{storage_bench, storage_counts, storage_ejections, storage_files, storage_stream},
        block_replay::storage_replay,
        stack::storage_stack,
        theory::storage_theory,
        validate::storage_validate,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        errors::register(module)
    }
}
