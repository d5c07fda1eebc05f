//! The exceptions of `birthmark.research.native`, and the exception for each error of the crates.

use birthmark_extension::errors::Exception;
pub use birthmark_extension::errors::{system, BROKEN};
use birthmark_extension::{raised, raised_at, reasons, single, variants};
use birthmark_research::attached::load::AuspexError;
use birthmark_research::attached::{AttachedError, RunError as AttachedRunError};
use birthmark_research::closed::LoopError;
use birthmark_research::measured::MeasuredError;
use birthmark_research::replay::ReplayError;
use birthmark_research::srt::SrtError;
use birthmark_research::traces::TraceError as BlockTraceError;
use birthmark_storage::drive::{OutsideError, ParameterError};
use pyo3::prelude::*;

/// A drive, a server or a trace is invalid; declared beside the drives' parameters.
static STORAGE: Exception = Exception::of("birthmark.layout_hint.native", "StorageError");

raised!();
raised_at!();

variants! {
    MeasuredError { Line: STORAGE, Empty: STORAGE, ! Io, }
    LoopError { Outside: STORAGE, Late: STORAGE, }
    BlockTraceError { Empty: STORAGE, Line: STORAGE, Unknown: STORAGE, => Srt, ! Io, }
    SrtError { Header: STORAGE, Record: STORAGE, ! Io, }
    ReplayError { Outside: STORAGE, Untimed: STORAGE, Empty: STORAGE, => Trace, }
    AuspexError { Line: STORAGE, ! Io, }
    AttachedError { Value: STORAGE, => Drive, }
    AttachedRunError { => System, => Trace, => Drive, }
}

reasons! {
    BAD_DRIVE "Drive" STORAGE;
    BAD_DRIVE_JSON "StorageJson" STORAGE;
    BAD_STORAGE_SETUP "StorageSetup" STORAGE;
    BAD_STORAGE_STACK "StorageStack" STORAGE;
}

single! {
    ParameterError => BAD_DRIVE,
    OutsideError => BROKEN,
}

/// Adds `REASONS`.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let others = OTHERS.iter().map(|reason| (reason.word, reason.exception));
    birthmark_extension::errors::register(module, &[], VARIANTS.iter().copied().chain(others))
}
