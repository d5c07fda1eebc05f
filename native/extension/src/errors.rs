//! The exceptions of an extension module, and the exception for each error of the crates.
//!
//! `birthmark_native.Error` is the base of all. Each is also the corresponding builtin, so that
//! callers without knowledge of these modules can catch `ValueError`. Every exception has a `reason`,
//! one of its module's `REASONS`. Errors of the operating system are `OSError`s, whose subclasses
//! Python chooses by their number.

use pyo3::exceptions::{PyIsADirectoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};
use std::fmt::Display;
use std::io;
use std::path::Path;

/// An exception.
pub struct Exception {
    /// Its name.
    pub name: &'static str,
    /// The module that has it.
    pub module: &'static str,
    /// How it is made; `None`: that module has made it.
    pub made: Option<Made>,
    /// The class, made or found on first use.
    pub class: PyOnceLock<Py<PyType>>,
}

/// How an exception is made.
pub struct Made {
    /// Its description.
    pub doc: &'static str,
    /// Its base; itself for the base of all.
    pub base: &'static Exception,
    /// Its builtin bases besides.
    pub builtins: fn(Python<'_>) -> Vec<Bound<'_, PyType>>,
}

impl Exception {
    /// An exception that another module has made.
    pub const fn of(module: &'static str, name: &'static str) -> Exception {
        Exception { name, module, made: None, class: PyOnceLock::new() }
    }

    /// The class.
    pub fn class<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyType>> {
        let class = self.class.get_or_try_init(py, || {
            let class = match &self.made {
                Some(made) => self.make(py, made)?,
                None => py.import(self.module)?.getattr(self.name)?,
            };
            Ok::<_, PyErr>(class.cast_into::<PyType>()?.unbind())
        })?;
        Ok(class.bind(py))
    }

    fn make<'py>(&self, py: Python<'py>, made: &Made) -> PyResult<Bound<'py, PyAny>> {
        let mut bases = (made.builtins)(py);
        if !std::ptr::eq(self, made.base) {
            bases.insert(0, made.base.class(py)?.clone());
        }
        let members = PyDict::new(py);
        members.set_item("__module__", self.module)?;
        members.set_item("__doc__", made.doc)?;
        members.set_item("reason", "")?;
        py.get_type::<PyType>().call1((self.name, PyTuple::new(py, bases)?, members))
    }
}

/// A reason for a refusal.
pub struct Reason {
    /// The word for it.
    pub word: &'static str,
    /// The exception that is raised.
    pub exception: &'static Exception,
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
    /// An exception of an extension module.
    Reason(&'static Reason),
    /// The operating system's error.
    System(&'a io::Error),
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

/// Adds a module's exceptions and its `REASONS`, which maps each reason to its exception.
pub fn register(
    module: &Bound<'_, PyModule>,
    exceptions: &[&Exception],
    reasons: impl Iterator<Item = (&'static str, &'static Exception)>,
) -> PyResult<()> {
    let py = module.py();
    for exception in exceptions {
        module.add(exception.name, exception.class(py)?)?;
    }
    let words = PyDict::new(py);
    for (word, exception) in reasons {
        words.set_item(word, exception.class(py)?)?;
    }
    module.add("REASONS", words)
}

/// The name of the core's extension module, which has the exceptions that all modules raise.
pub const CORE: &str = "birthmark_native";

/// The base of all exceptions.
pub static ERROR: Exception = Exception::of(CORE, "Error");
/// A table that cannot be used.
pub static TABLE: Exception = Exception::of(CORE, "TableError");
/// An unusable compiled image.
pub static IMAGE: Exception = Exception::of(CORE, "ImageError");
static ARGUMENT: Exception = Exception::of(CORE, "ArgumentError");
static TYPE: Exception = Exception::of(CORE, "ArrayTypeError");
/// A contradiction within a module.
pub static DEFECT: Exception = Exception::of(CORE, "DefectError");

/// An argument has nulls.
pub static NULLS: Reason = Reason { word: "Nulls", exception: &ARGUMENT };
/// An argument is an array of another type.
pub static WRONG_TYPE: Reason = Reason { word: "Type", exception: &TYPE };
/// A module has contradicted itself.
pub static BROKEN: Reason = Reason { word: "Broken", exception: &DEFECT };

/// Declares a module's exceptions: `PLACE "Name" (builtin bases) "description";`, after the name of
/// the module and their base.
#[macro_export]
macro_rules! exceptions {
    (
        $module:literal $base:ident;
        $($place:ident $name:literal ($($builtin:ty),+) $doc:literal;)+
    ) => {
        $(
            #[doc = $doc]
            static $place: $crate::errors::Exception = $crate::errors::Exception {
                name: $name,
                module: $module,
                made: Some($crate::errors::Made {
                    doc: $doc,
                    base: &$base,
                    builtins: |py| vec![$(py.get_type::<$builtin>()),+],
                }),
                class: ::pyo3::sync::PyOnceLock::new(),
            };
        )+

        const EXCEPTIONS: &[&$crate::errors::Exception] = &[$(&$place),+];
    };
}

/// Declares a module's own `Raised`, the trait of errors that it raises, and `raise`.
#[macro_export]
macro_rules! raised {
    () => {
        /// An error of a crate.
        pub trait Raised: ::std::fmt::Display {
            /// The exception for it.
            fn cause(&self) -> $crate::errors::Cause<'_>;
        }

        /// Raises an error unchanged.
        pub fn raise(error: impl Raised) -> ::pyo3::PyErr {
            match error.cause() {
                $crate::errors::Cause::Reason(reason) => reason.because(&error),
                $crate::errors::Cause::System(_) => {
                    ::pyo3::exceptions::PyOSError::new_err(error.to_string())
                }
            }
        }
    };
}

/// Declares `raise_at`, which raises an error that concerns a file.
#[macro_export]
macro_rules! raised_at {
    () => {
        /// Raises an error that concerns a file.
        pub fn raise_at(path: &::std::path::Path, error: impl Raised) -> ::pyo3::PyErr {
            match error.cause() {
                $crate::errors::Cause::Reason(reason) => {
                    reason.because(format!("{}: {error}", path.display()))
                }
                $crate::errors::Cause::System(error) => $crate::errors::system(path, error),
            }
        }
    };
}

/// A reason for each variant: the compiler refuses a crate's new error until it is listed here. A
/// variant that holds another error is raised as that one (`=>`), or, if it is the system's, as
/// such (`!`).
#[macro_export]
macro_rules! variants {
    ($($error:ident {
        $($variant:ident: $exception:ident,)*
        $(=> $inner:ident,)*
        $(! $system:ident,)*
    })+) => {
        $(impl Raised for $error {
            fn cause(&self) -> $crate::errors::Cause<'_> {
                match self {
                    $($error::$variant { .. } => {
                        const WORD: &str =
                            concat!(stringify!($error), ".", stringify!($variant));
                        static REASON: $crate::errors::Reason =
                            $crate::errors::Reason { word: WORD, exception: &$exception };
                        $crate::errors::Cause::Reason(&REASON)
                    })*
                    $($error::$inner(inner) => inner.cause(),)*
                    $($error::$system(error) => $crate::errors::Cause::System(error),)*
                }
            }
        })+

        /// The reasons that are errors of the crates.
        const VARIANTS: &[(&str, &$crate::errors::Exception)] = &[$($(
            (concat!(stringify!($error), ".", stringify!($variant)), &$exception),
        )*)+];
    };
}

/// Reasons without a variant of an enumeration: errors that are not enumerations, and refusals
/// before a crate is called.
#[macro_export]
macro_rules! reasons {
    ($($place:ident $word:literal $exception:ident;)+) => {
        $(
            #[allow(missing_docs)]
            pub static $place: $crate::errors::Reason =
                $crate::errors::Reason { word: $word, exception: &$exception };
        )+

        const OTHERS: &[&$crate::errors::Reason] = &[$(&$place),+];
    };
}

/// The one reason for each error that is no enumeration.
#[macro_export]
macro_rules! single {
    ($($error:ident => $reason:ident,)+) => {
        $(impl Raised for $error {
            fn cause(&self) -> $crate::errors::Cause<'_> {
                $crate::errors::Cause::Reason(&$reason)
            }
        })+
    };
}
