//! The extension module `birthmark_native._native`: convert, call, wrap. `birthmark_native/_native.pyi`
//! documents it for Python.

/// Lives are many small allocations that come and go: following them takes a quarter less time.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod acceptor;
mod anonymize;
mod arrays;
mod captures;
mod certainty;
mod components;
mod contract;
mod errors;
mod ffs;
mod follow;
mod forest;
mod grow;
mod history;
mod hook;
mod image;
mod instants;
mod invalid;
mod layout;
mod live;
mod lives;
mod scan;
mod serve;
mod storage;
mod storage_attached;
mod storage_bench;
mod storage_replay;
mod storage_server;
mod storage_stack;
mod storage_theory;
mod text;
mod trace;

#[pyo3::pymodule]
mod _native {
    use super::{contract, errors};
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::{
        acceptor::PyAcceptor,
        anonymize::{PyMapping, TextRewriter},
        captures::PyCaptureWriter,
        certainty::PyCertainty,
        components::{
            count_components, decide_components, match_components, name_components,
            prune_components, rank_components, score_components, whole_names,
        },
        contract::{Hint, Member},
        ffs::{check_recording, Checked},
        follow::{FollowedPiece, Follower},
        forest::{encode_names, fnv1a, PyForest},
        grow::{PySample, PyTrees},
        history::{fold_shapes, HistoryKeeper},
        hook::PyHook,
        image::PyImage,
        instants::PyInstants,
        layout::{layout_geometry, layout_region, LayoutRun, LayoutTrace},
        live::{handle_inode, PyHistoryChanges, PySharedHistory, PySharedHistoryWriter},
        lives::{LivesBuilder, PyLiveHistory},
        scan::{ScanCounter, ScanMerger},
        serve::{check_object, files_of, requested, PyAnswerer, PyTally},
        storage::check_drive,
        storage::storage_validate,
        storage_attached::storage_attached,
        storage_bench::{
            storage_bench, storage_counts, storage_ejections, storage_files, storage_stream,
        },
        storage_replay::storage_replay,
        storage_server::{PyStorageReuse, PyStorageServer},
        storage_stack::storage_stack,
        storage_theory::storage_theory,
        text::{PyTextWriter, PyTraceLines},
        trace::PyTrace,
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("OPS", birthmark_trace::schema::OPS.to_vec())?;
        errors::register(module)?;
        contract::register(module)
    }
}
