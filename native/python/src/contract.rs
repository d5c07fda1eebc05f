//! The contract for Python: members of a create, hints, and the layout of an image.

use birthmark_contract::create::{self, Kind, MEMBERS};
use birthmark_contract::hints::{self, HINTS};
use birthmark_contract::{image, Group};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use pyo3::PyClass;

/// A member of a create.
#[pyclass(frozen, get_all)]
pub struct Member {
    name: &'static str,
    column: Option<&'static str>,
    kind: &'static str,
    most: Option<u64>,
    octal: bool,
    needed: bool,
    files: bool,
    hints: bool,
    meaning: &'static str,
    forms: Vec<&'static str>,
    texts: Vec<&'static str>,
}

impl From<create::Member> for Member {
    fn from(member: create::Member) -> Self {
        let (kind, most) = match member.kind {
            Kind::Name { most } => ("name", Some(most as u64)),
            Kind::Number { most, .. } => ("number", Some(most.into())),
            Kind::Text { most } => ("text", Some(most as u64)),
            Kind::Time => ("time", None),
            Kind::Bytes { len } => ("bytes", Some(len as u64)),
            Kind::Opaque { most } => ("opaque", Some(most as u64)),
            Kind::Path { most } => ("path", Some(most as u64)),
            Kind::Inode => ("inode", Some(u64::MAX)),
            Kind::Flag => ("flag", None),
        };
        Member {
            name: member.name,
            column: member.column,
            kind,
            most,
            octal: matches!(member.kind, Kind::Number { octal: true, .. }),
            needed: member.needed,
            files: member.files,
            hints: member.hints,
            meaning: member.meaning,
            forms: member.forms().to_vec(),
            texts: member.texts.to_vec(),
        }
    }
}

/// A kind of hint.
#[pyclass(frozen, get_all)]
pub struct Hint {
    key: &'static str,
    bit: u8,
    of_directory: bool,
    meaning: &'static str,
}

/// Adds the declarations to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("MEMBERS", PyTuple::new(py, each(py, MEMBERS.map(Member::from))?)?)?;
    let mut place = 0..;
    let hints = HINTS.map(|hint| Hint {
        key: hint.key,
        bit: 1 << place.next().unwrap_or_default(),
        of_directory: hint.of_directory,
        meaning: hint.meaning,
    });
    module.add("HINTS", PyTuple::new(py, each(py, hints)?)?)?;
    module.add("MOST_FILES", create::FILES)?;
    module.add("HISTORY_BYTES", create::HISTORY_BYTES)?;
    module.add("BM_MAGIC", PyBytes::new(py, &image::MAGIC))?;
    image::GROUPS.iter().chain([&hints::LIMITS]).try_for_each(|group| add(module, group))
}

fn each<T, const N: usize>(py: Python<'_>, declared: [T; N]) -> PyResult<Vec<Py<T>>>
where
    T: PyClass + Into<PyClassInitializer<T>>,
{
    declared.into_iter().map(|each| Py::new(py, each)).collect()
}

fn add(module: &Bound<'_, PyModule>, group: &Group) -> PyResult<()> {
    group
        .constants
        .iter()
        .try_for_each(|number| module.add(format!("BM_{}", number.name), number.value))
}
