//! The exceptions of `birthmark_native`, and the exception for each error of the core's crates.

use arrow_schema::ArrowError;
use birthmark_columns::ColumnError;
pub use birthmark_extension::errors::{system, Cause};
use birthmark_extension::{exceptions, raised, raised_at, reasons, single, variants};
use birthmark_image::ImageError;
use birthmark_learn::certainty::CertaintyError;
use birthmark_learn::components::ComponentError;
use birthmark_learn::forest::ForestError;
use birthmark_learn::grow::SampleError;
use birthmark_learn::history::Error as HistoryError;
use birthmark_live::CreateError as SharedHistoryError;
use birthmark_tables::anonymize::Error as AnonymizeError;
use birthmark_tables::lives::{Error as LivesError, SpillError};
use birthmark_tables::snapshot::SnapshotError;
use birthmark_trace::capture::write::WriteError as CaptureWriteError;
use birthmark_trace::capture::CaptureError;
use birthmark_trace::decoder::DecodeError;
use birthmark_trace::text::write::WriteError as TextWriteError;
use birthmark_trace::trace::TraceError;
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;

exceptions! {
    "birthmark_native" ERROR;
    ERROR "Error" (PyException)
        "A refusal by this module. `reason` is the word in `REASONS` for the fault.";
    TRACE "TraceError" (PyValueError)
        "A file is not a trace, or not a readable one.";
    TABLE "TableError" (PyValueError)
        "A table lacks a column, has one of the wrong type, or has an invalid row.";
    ANONYMIZE "AnonymizeError" (PyValueError)
        "A mapping of anonymized names is damaged, or cannot exempt a value that it has mapped.";
    IMAGE "ImageError" (PyValueError)
        "Bytes are not a usable compiled image.";
    RULE "RuleError" (PyValueError)
        "Rules over the components of names are inconsistent or invalid.";
    FOREST "ForestError" (PyValueError)
        "Nodes are not a forest, or rows do not fit it or cannot train one.";
    CERTAINTY "CertaintyError" (PyValueError)
        "A description of a model's certainty is invalid.";
    REQUEST "InvalidRequestError" (PyValueError)
        "A request is invalid. `is_json`, `field` and `found` describe the fault.";
    ARGUMENT "ArgumentError" (PyValueError)
        "A function cannot take this argument.";
    TYPE "ArrayTypeError" (PyTypeError)
        "An array is of the wrong type.";
    STATE "StateError" (PyRuntimeError, PyValueError)
        "An object is used too early or too late.";
    SPILL "SpillError" (PyOSError)
        "The temporary file of idle lives cannot be used.";
    SNAPSHOT "SnapshotError" (PyValueError)
        "A file is not a snapshot, or is damaged.";
    DEFECT "DefectError" (PyRuntimeError)
        "This module has contradicted itself: a defect, whatever the input.";
}

raised!();
raised_at!();

variants! {
    TraceError {
        Empty: TRACE,
        Unrecognized: TRACE,
        AfterClock: TRACE,
        Arrow: DEFECT,
        => Decoder,
        ! Io,
    }
    CaptureError {
        NotACapture: DEFECT,
        CutHeader: TRACE,
        Version: TRACE,
        SnoopVersion: TRACE,
        LinkType: TRACE,
        Datalink: TRACE,
        NoTimes: TRACE,
    }
    ColumnError { Missing: TABLE, Type: TABLE, Null: TABLE, }
    CaptureWriteError { => Rows, ! Io, }
    TextWriteError { Host: TABLE, => Rows, }
    LivesError { Finished: STATE, Arrow: DEFECT, => Column, => Spill, => Snapshot, }
    SnapshotError { Other: SNAPSHOT, Damaged: SNAPSHOT, ! Io, }
    SpillError { File: SPILL, Record: SPILL, }
    AnonymizeError {
        Damaged: ANONYMIZE,
        Column: TABLE,
        Mapped: ANONYMIZE,
        Arrow: TABLE,
        ! Io,
    }
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
    ComponentError { Rule: RULE, Bounds: RULE, Labels: TABLE, Long: TABLE, Arrow: DEFECT, }
    ForestError {
        Root: FOREST,
        Column: FOREST,
        Child: FOREST,
        Scores: FOREST,
        Outputs: FOREST,
        Matrix: FOREST,
    }
    SampleError { Empty: FOREST, Rows: FOREST, }
    HistoryError { Few: ARGUMENT, Long: TABLE, Damaged: TABLE, Arrow: DEFECT, => Column, }
    SharedHistoryError { Locked: STATE, Shared: ARGUMENT, NotRegular: ARGUMENT, Room: ARGUMENT, ! Io, }
    CertaintyError { Json: CERTAINTY, Levels: CERTAINTY, Assignments: CERTAINTY, }
}

reasons! {
    BAD_REQUEST "Request" REQUEST;
    UNDECODED "Decoder" TRACE;
    NO_TEXT "NoText" TRACE;
    NO_KEY "NoKey" ARGUMENT;
    NO_TREATMENT "NoTreatment" ARGUMENT;
    NO_SOCKET "NoSocket" ARGUMENT;
    NO_LIMIT "NoLimit" ARGUMENT;
    NO_STATE "NoState" ARGUMENT;
    NO_SUBJECT "NoSubject" ARGUMENT;
    NO_TIME "NoTime" ARGUMENT;
    NO_NUMBERS "NoNumbers" TABLE;
    UNEQUAL_NODES "UnequalNodes" FOREST;
    UNEQUAL_LEVELS "UnequalLevels" CERTAINTY;
    OTHER_THRESHOLDS "OtherThresholds" ARGUMENT;
    OTHER_POINT "OtherPoint" ARGUMENT;
    NULLS "Nulls" ARGUMENT;
    WRONG_TYPE "Type" TYPE;
    ENDED "Ended" STATE;
    NOT_YET "NotYet" STATE;
    BROKEN "Broken" DEFECT;
}

single! {
    ArrowError => BROKEN,
}

/// A decoder's error, with its own reasons if they are known.
impl Raised for DecodeError {
    fn cause(&self) -> Cause<'_> {
        match self.downcast_ref::<CaptureError>() {
            Some(error) => error.cause(),
            None => Cause::Reason(&UNDECODED),
        }
    }
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
