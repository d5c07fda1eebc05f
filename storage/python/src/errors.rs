//! The exceptions of `birthmark.storage.native`, and the exception for each error of the crates.

use birthmark_extension::errors::Exception;
pub use birthmark_extension::errors::BROKEN;
use birthmark_extension::{raised, reasons, single, variants};
use birthmark_storage::drive::ParameterError;
use birthmark_storage::server::ServerError;
use pyo3::prelude::*;

/// A drive, a server or a trace is invalid; declared beside the drives' parameters.
static STORAGE: Exception = Exception::of("birthmark.layout_hint.native", "StorageError");

raised!();

variants! {
    ServerError {
        Least: STORAGE,
        Warm: STORAGE,
        Classes: STORAGE,
        Region: STORAGE,
        Work: STORAGE,
        => Drive,
    }
}

reasons! {
    BAD_DRIVE "Drive" STORAGE;
    BAD_SERVER_JSON "ServerJson" STORAGE;
    BAD_CALLS "Calls" STORAGE;
}

single! {
    ParameterError => BAD_DRIVE,
}

/// Adds `REASONS`.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let others = OTHERS.iter().map(|reason| (reason.word, reason.exception));
    birthmark_extension::errors::register(module, &[], VARIANTS.iter().copied().chain(others))
}
