//! The exceptions of `birthmark_native`, and the exception for each error of the crates.
//!
//! [`Error`](ERROR) is the base of all. Each is also the corresponding builtin, so that callers
//! without knowledge of this module can catch `ValueError`. Every exception has a `reason`, one of
//! `REASONS`. Errors of the operating system are `OSError`s, whose subclasses Python chooses by
//! their number.

use arrow_schema::ArrowError;
use birthmark_columns::ColumnError;
use birthmark_hook::Refused;
use birthmark_image::ImageError;
use birthmark_learn::certainty::CertaintyError;
use birthmark_learn::components::ComponentError;
use birthmark_learn::forest::ForestError;
use birthmark_learn::grow::SampleError;
use birthmark_learn::history::Error as HistoryError;
use birthmark_live::CreateError as SharedHistoryError;
use birthmark_sim::ffs::{GeometryError, RecordingError, RegionError};
use birthmark_sim::layout::Error as LayoutError;
use birthmark_storage::attached::load::AuspexError;
use birthmark_storage::attached::{AttachedError, RunError as AttachedRunError};
use birthmark_storage::closed::LoopError;
use birthmark_storage::drive::{OutsideError, ParameterError};
use birthmark_storage::measured::MeasuredError;
use birthmark_storage::replay::ReplayError;
use birthmark_storage::server::ServerError;
use birthmark_storage::srt::SrtError;
use birthmark_storage::traces::TraceError as BlockTraceError;
use birthmark_tables::anonymize::Error as AnonymizeError;
use birthmark_tables::lives::{Error as LivesError, SpillError};
use birthmark_tables::snapshot::SnapshotError;
use birthmark_trace::capture::write::WriteError as CaptureWriteError;
use birthmark_trace::capture::CaptureError;
use birthmark_trace::decoder::DecodeError;
use birthmark_trace::text::write::WriteError as TextWriteError;
use birthmark_trace::trace::TraceError;
use pyo3::exceptions::{
    PyException, PyIsADirectoryError, PyOSError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::fmt::Display;
use std::io;
use std::path::Path;

/// An exception: its name, its description, and its builtin bases besides [`ERROR`].
pub struct Exception {
    name: &'static str,
    doc: &'static str,
    builtins: fn(Python<'_>) -> Vec<Bound<'_, PyType>>,
    class: PyOnceLock<Py<PyType>>,
}

impl Exception {
    /// The class, made on first use.
    fn class<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyType>> {
        let class = self.class.get_or_try_init(py, || {
            let mut bases = (self.builtins)(py);
            if self.name != ERROR.name {
                bases.insert(0, ERROR.class(py)?.clone());
            }
            let members = PyDict::new(py);
            members.set_item("__module__", "birthmark_native")?;
            members.set_item("__doc__", self.doc)?;
            members.set_item("reason", "")?;
            let made =
                py.get_type::<PyType>().call1((self.name, PyTuple::new(py, bases)?, members))?;
            Ok::<_, PyErr>(made.cast_into::<PyType>()?.unbind())
        })?;
        Ok(class.bind(py))
    }
}

macro_rules! exceptions {
    ($($place:ident $name:literal ($($builtin:ty),+) $doc:literal;)+) => {
        $(
            #[doc = $doc]
            static $place: Exception = Exception {
                name: $name,
                doc: $doc,
                builtins: |py| vec![$(py.get_type::<$builtin>()),+],
                class: PyOnceLock::new(),
            };
        )+

        const EXCEPTIONS: &[&Exception] = &[$(&$place),+];
    };
}

exceptions! {
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
    GEOMETRY "GeometryError" (PyValueError)
        "A file system or a region of it cannot have these sizes.";
    LAYOUT "LayoutError" (PyValueError)
        "A replay of a layout has an invalid configuration.";
    STORAGE "StorageError" (PyValueError)
        "A drive or a trace is invalid, or the drive cannot serve the trace.";
    RECORDING "RecordingError" (PyValueError)
        "A file is not a recording of an allocator.";
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

/// A reason for a refusal.
pub struct Reason {
    word: &'static str,
    exception: &'static Exception,
}

impl Reason {
    /// The exception with a message.
    pub fn because(&self, message: impl Display) -> PyErr {
        Python::attach(|py| {
            let made = || {
                let error = self.exception.class(py)?.call1((message.to_string(),))?;
                error.setattr("reason", self.word)?;
                Ok(PyErr::from_value(error))
            };
            made().unwrap_or_else(|error| error)
        })
    }
}

/// The exception for an error of a crate.
pub enum Cause<'a> {
    /// An exception of this module.
    Reason(&'static Reason),
    /// The operating system's error.
    System(&'a io::Error),
}

/// An error of a crate.
pub trait Raised: Display {
    /// The exception for it.
    fn cause(&self) -> Cause<'_>;
}

/// Raises an error unchanged.
pub fn raise(error: impl Raised) -> PyErr {
    match error.cause() {
        Cause::Reason(reason) => reason.because(&error),
        Cause::System(_) => PyOSError::new_err(error.to_string()),
    }
}

/// Raises an error that concerns a file.
pub fn raise_at(path: &Path, error: impl Raised) -> PyErr {
    match error.cause() {
        Cause::Reason(reason) => reason.because(format!("{}: {error}", path.display())),
        Cause::System(error) => system(path, error),
    }
}

/// Raises the operating system's error about a file.
pub fn system(path: &Path, error: &io::Error) -> PyErr {
    let path = path.display().to_string();
    match error.raw_os_error() {
        Some(code) => {
            let text = error.to_string();
            let reason = text.trim_end_matches(&format!(" (os error {code})")).to_owned();
            PyOSError::new_err((code, reason, path))
        }
        None if error.kind() == io::ErrorKind::IsADirectory => {
            let message = format!("{path}: is a directory; expected a trace file");
            PyIsADirectoryError::new_err(message)
        }
        None => PyOSError::new_err(format!("{path}: {error}")),
    }
}

/// A reason for each variant: the compiler refuses a crate's new error until it is listed here. A
/// variant that holds another error is raised as that one (`=>`), or, if it is the system's, as
/// such (`!`).
macro_rules! variants {
    ($($error:ident {
        $($variant:ident: $exception:ident,)*
        $(=> $inner:ident,)*
        $(! $system:ident,)*
    })+) => {
        $(impl Raised for $error {
            fn cause(&self) -> Cause<'_> {
                match self {
                    $($error::$variant { .. } => {
                        const WORD: &str =
                            concat!(stringify!($error), ".", stringify!($variant));
                        static REASON: Reason = Reason { word: WORD, exception: &$exception };
                        Cause::Reason(&REASON)
                    })*
                    $($error::$inner(inner) => inner.cause(),)*
                    $($error::$system(error) => Cause::System(error),)*
                }
            }
        })+

        /// The reasons that are errors of the crates.
        const VARIANTS: &[(&str, &Exception)] = &[$($(
            (concat!(stringify!($error), ".", stringify!($variant)), &$exception),
        )*)+];
    };
}

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
    Refused { NoHint: IMAGE, Oversize: IMAGE, => Image, }
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
    MeasuredError { Line: STORAGE, Empty: STORAGE, ! Io, }
    LoopError { Outside: STORAGE, Late: STORAGE, }
    BlockTraceError { Empty: STORAGE, Line: STORAGE, Unknown: STORAGE, => Srt, ! Io, }
    SrtError { Header: STORAGE, Record: STORAGE, ! Io, }
    ReplayError { Outside: STORAGE, Untimed: STORAGE, Empty: STORAGE, => Trace, }
    AuspexError { Line: STORAGE, ! Io, }
    AttachedError { Value: STORAGE, => Drive, }
    AttachedRunError { => System, => Trace, => Drive, }
    ServerError {
        Least: STORAGE,
        Warm: STORAGE,
        Classes: STORAGE,
        Region: STORAGE,
        Work: STORAGE,
        => Drive,
    }
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

/// Reasons without a variant of an enumeration: errors that are not enumerations, and refusals
/// before a crate is called.
macro_rules! reasons {
    ($($place:ident $word:literal $exception:ident;)+) => {
        $(
            #[allow(missing_docs)]
            pub static $place: Reason = Reason { word: $word, exception: &$exception };
        )+

        const OTHERS: &[&Reason] = &[$(&$place),+];
    };
}

reasons! {
    BAD_GEOMETRY "Geometry" GEOMETRY;
    BAD_RECORDING "Recording" RECORDING;
    BAD_DRIVE "Drive" STORAGE;
    BAD_DRIVE_JSON "StorageJson" STORAGE;
    BAD_STORAGE_SETUP "StorageSetup" STORAGE;
    BAD_STORAGE_STACK "StorageStack" STORAGE;
    BAD_SERVER_JSON "ServerJson" STORAGE;
    BAD_CALLS "Calls" STORAGE;
    BAD_JSON "Json" LAYOUT;
    BAD_REQUEST "Request" REQUEST;
    UNDECODED "Decoder" TRACE;
    NO_TEXT "NoText" TRACE;
    NO_KERNEL "NoKernel" GEOMETRY;
    NO_KEY "NoKey" ARGUMENT;
    NO_TREATMENT "NoTreatment" ARGUMENT;
    NO_SOCKET "NoSocket" ARGUMENT;
    NO_LIMIT "NoLimit" ARGUMENT;
    NO_STATE "NoState" ARGUMENT;
    NO_SUBJECT "NoSubject" ARGUMENT;
    NO_TIME "NoTime" ARGUMENT;
    NO_VERDICTS "NoVerdicts" LAYOUT;
    NO_NUMBERS "NoNumbers" TABLE;
    TWO_SOURCES "TwoSources" LAYOUT;
    UNEQUAL_NODES "UnequalNodes" FOREST;
    UNEQUAL_LEVELS "UnequalLevels" CERTAINTY;
    OTHER_LEVELS "OtherLevels" CERTAINTY;
    NO_BYTES "NoBytes" IMAGE;
    NO_CERTAINTY "NoCertainty" STATE;
    NULLS "Nulls" ARGUMENT;
    WRONG_TYPE "Type" TYPE;
    CLOSED "Closed" STATE;
    ENDED "Ended" STATE;
    NOT_YET "NotYet" STATE;
    BROKEN "Broken" DEFECT;
}

macro_rules! single {
    ($($error:ident => $reason:ident,)+) => {
        $(impl Raised for $error {
            fn cause(&self) -> Cause<'_> {
                Cause::Reason(&$reason)
            }
        })+
    };
}

single! {
    ArrowError => BROKEN,
    GeometryError => BAD_GEOMETRY,
    ParameterError => BAD_DRIVE,
    OutsideError => BROKEN,
    RecordingError => BAD_RECORDING,
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

/// Adds the exceptions and `REASONS`, which maps each reason to its exception.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    for exception in EXCEPTIONS {
        module.add(exception.name, exception.class(py)?)?;
    }
    let reasons = PyDict::new(py);
    for (word, exception) in VARIANTS {
        reasons.set_item(word, exception.class(py)?)?;
    }
    for reason in OTHERS {
        reasons.set_item(reason.word, reason.exception.class(py)?)?;
    }
    module.add("REASONS", reasons)
}
