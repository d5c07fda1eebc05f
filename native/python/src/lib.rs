//! The extension module `birthmark_native._native`: convert, call, wrap. `birthmark_native/_native.pyi`
//! documents it for Python.

/// Lives are many small allocations that come and go: following them takes a quarter less time.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod anonymize;
mod arrays;
mod captures;
mod certainty;
mod components;
mod contract;
mod errors;
mod follow;
mod forest;
mod grow;
mod history;
mod image;
mod instants;
mod invalid;
mod live;
mod lives;
mod scan;
mod serve;
mod service;
mod text;
mod trace;

#[pyo3::pymodule]
mod _native {
    use super::{contract, errors};
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        anonymize::{PyMapping, TextRewriter},
        captures::PyCaptureWriter,
        certainty::PyCertainty,
        components::{
            count_components, decide_components, match_components, name_components,
            prune_components, rank_components, score_components, whole_names,
        },
        contract::{Hint, Member},
        follow::{FollowedPiece, Follower},
        forest::{encode_names, fnv1a, PyForest},
        grow::{PySample, PyTrees},
        history::{fold_shapes, HistoryKeeper},
        image::PyImage,
        instants::PyInstants,
        live::{handle_inode, PyHistoryChanges, PySharedHistory, PySharedHistoryWriter},
        lives::{LivesBuilder, PyLiveHistory},
        scan::{ScanCounter, ScanMerger},
        serve::{check_object, check_uncompressed, files_of, requested, PyAnswerer, PyTally},
        service::PyHttpService,
        text::{PyTextWriter, PyTraceLines},
        trace::{operations_schema, PyChunk, PyTrace},
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("OPS", birthmark_trace::schema::OPS.to_vec())?;
        errors::register(module)?;
        contract::register(module)
    }
}
