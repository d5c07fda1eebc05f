//! The exceptions of `birthmark.layout_hint.native`, and the exception for each error of the crates.

use arrow_schema::ArrowError;
use birthmark_columns::ColumnError;
pub use birthmark_extension::errors::{system, BROKEN};
use birthmark_extension::errors::{DEFECT, ERROR, IMAGE, TABLE};
use birthmark_extension::{exceptions, raised, raised_at, reasons, single, variants};
use birthmark_hook::Refused;
use birthmark_image::ImageError;
use birthmark_sim::ffs::{GeometryError, RegionError};
use birthmark_sim::layout::Error as LayoutError;
use birthmark_storage::drive::ParameterError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

exceptions! {
    "birthmark.layout_hint.native" ERROR;
    GEOMETRY "GeometryError" (PyValueError)
        "A file system or a region of it cannot have these sizes.";
    LAYOUT "LayoutError" (PyValueError)
        "A simulation of a layout has an invalid configuration.";
    STORAGE "StorageError" (PyValueError)
        "A drive or a trace is invalid, or the drive cannot serve the trace.";
    RECORDING "RecordingError" (PyValueError)
        "A file is not a recording of an allocator.";
}

raised!();
raised_at!();

variants! {
    ColumnError { Missing: TABLE, Type: TABLE, Null: TABLE, }
    ImageError {
        Truncated: IMAGE,
        NoImage: IMAGE,
        Newer: IMAGE,
        Trailing: IMAGE,
        Checksum: IMAGE,
        Malformed: IMAGE,
        Older: IMAGE,
        Costly: IMAGE,
    }
    Refused { NoHint: IMAGE, Oversize: IMAGE, => Image, }
    RegionError {
        Beyond: GEOMETRY,
        Groups: GEOMETRY,
        Inodes: GEOMETRY,
        Unmade: GEOMETRY,
        Empty: GEOMETRY,
    }
    LayoutError {
        Column: TABLE,
        Row: TABLE,
        Bytes: GEOMETRY,
        Allocator: LAYOUT,
        Space: GEOMETRY,
        Arrow: DEFECT,
        => Geometry,
        => Region,
        => Drive,
        => Image,
    }
}

reasons! {
    BAD_GEOMETRY "Geometry" GEOMETRY;
    BAD_RECORDING "Recording" RECORDING;
    BAD_DRIVE "Drive" STORAGE;
    BAD_DRIVE_JSON "StorageJson" STORAGE;
    BAD_JSON "Json" LAYOUT;
    NO_KERNEL "NoKernel" GEOMETRY;
    NO_VERDICTS "NoVerdicts" LAYOUT;
    TWO_SOURCES "TwoSources" LAYOUT;
}

single! {
    ArrowError => BROKEN,
    GeometryError => BAD_GEOMETRY,
    ParameterError => BAD_DRIVE,
}

/// Adds the exceptions and `REASONS`.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let others = OTHERS.iter().map(|reason| (reason.word, reason.exception));
    birthmark_extension::errors::register(
        module,
        EXCEPTIONS,
        VARIANTS.iter().copied().chain(others),
    )
}
