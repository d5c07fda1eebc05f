//! The extension module `birthmark.layout_hint.native`: convert, call, wrap. `native.pyi` beside it documents it for Python.

#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod drive;
mod errors;
mod hook;
mod layout;
mod recording;

#[pyo3::pymodule]
mod native {
    use super::errors;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        drive::check_drive,
        hook::PyHook,
        layout::{layout_geometry, layout_region, LayoutRun, LayoutTrace},
        recording::{check_recording, Checked},
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        errors::register(module)
    }
}
