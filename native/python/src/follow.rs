//! `birthmark_native.Follower`: a trace followed in a thread, piece by piece.

use super::arrays::Batch;
use super::errors::{raise_at, BROKEN};
use super::trace::{batches, counted, PyChunk};
use birthmark_trace::budget::{Budget, DEFAULT};
use birthmark_trace::follow::{Follow, Piece, Place, Resume};
use birthmark_trace::trace::TraceError;
use crossbeam_channel::{bounded, Receiver, RecvTimeoutError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Pieces decoded ahead of the consumer.
const AHEAD: usize = 2;
/// How often an idle source is reported.
const QUIET: Duration = Duration::from_millis(100);

type PlaceTuple = (String, i64, u64);

struct Item {
    piece: Piece,
    refused: Vec<(String, String)>,
    files: u64,
    missed: u64,
    format: Option<&'static str>,
}

#[pyclass(module = "birthmark_native")]
pub struct Follower {
    path: PathBuf,
    items: Receiver<Result<Item, TraceError>>,
    stop: Arc<AtomicBool>,
}

fn place((file, began, offset): PlaceTuple) -> Place {
    Place { file, began, offset }
}

#[pymethods]
impl Follower {
    #[new]
    #[pyo3(signature = (
        path, stride, resume = None, until_idle = None, gather = 0.0, memory = DEFAULT
    ))]
    fn new(
        path: PathBuf,
        stride: i64,
        resume: Option<(PlaceTuple, PlaceTuple, i64)>,
        until_idle: Option<f64>,
        gather: f64,
        memory: usize,
    ) -> PyResult<Follower> {
        let resume = resume.map(|(from, until, clock)| {
            let (from, until) = (place(from), place(until));
            Resume { from, until, clock }
        });
        let until_idle = until_idle.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let mut follow = Follow::open(&path, resume, stride, until_idle, Budget::new(memory))
            .map_err(|error| raise_at(&path, TraceError::Io(error)))?;
        follow.gather_for(Duration::try_from_secs_f64(gather).unwrap_or_default());
        let (sender, items) = bounded(AHEAD);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let mut sent = Instant::now();
        thread::spawn(move || loop {
            if stopped.load(Ordering::Relaxed) {
                follow.stop();
            }
            let item = follow.next_piece().map(|piece| Item {
                piece,
                refused: follow.take_refused(),
                files: follow.files(),
                missed: follow.missed(),
                format: follow.format(),
            });
            let nothing = |item: &Item| item.piece.is_nothing() && item.refused.is_empty();
            if item.as_ref().is_ok_and(nothing) && sent.elapsed() < QUIET {
                continue;
            }
            sent = Instant::now();
            let last = item.as_ref().map_or(true, |item| item.piece.ended);
            if sender.send(item).is_err() || last {
                return;
            }
        });
        Ok(Follower { path, items, stop })
    }

    #[pyo3(signature = (timeout))]
    fn next_piece(&self, py: Python<'_>, timeout: f64) -> PyResult<Option<FollowedPiece>> {
        let timeout = Duration::try_from_secs_f64(timeout).unwrap_or_default();
        match py.detach(|| self.items.recv_timeout(timeout)) {
            Ok(Ok(mut item)) => {
                let chunk = Py::new(py, PyChunk(std::mem::take(&mut item.piece.chunk)))?;
                Ok(Some(FollowedPiece { item, chunk }))
            }
            Ok(Err(error)) => Err(raise_at(&self.path, error)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                Err(BROKEN.because(format_args!("{}: decoding has ended", self.path.display())))
            }
        }
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[pyclass(module = "birthmark_native")]
pub struct FollowedPiece {
    item: Item,
    chunk: Py<PyChunk>,
}

#[pymethods]
impl FollowedPiece {
    #[getter]
    fn chunk(&self, py: Python<'_>) -> Py<PyChunk> {
        self.chunk.clone_ref(py)
    }

    #[getter]
    fn settled(&self) -> Vec<Batch> {
        batches(&self.item.piece.settled)
    }

    #[getter]
    fn place(&self) -> PlaceTuple {
        let Place { file, began, offset } = self.item.piece.place.clone();
        (file, began, offset)
    }

    #[getter]
    fn clock(&self) -> Option<i64> {
        self.item.piece.clock
    }

    #[getter]
    fn resumed(&self) -> bool {
        self.item.piece.resumed
    }

    #[getter]
    fn idle(&self) -> bool {
        self.item.piece.idle
    }

    #[getter]
    fn ended(&self) -> bool {
        self.item.piece.ended
    }

    #[getter]
    fn stopped(&self) -> bool {
        self.item.piece.stopped
    }

    #[getter]
    fn refused(&self) -> Vec<(String, String)> {
        self.item.refused.clone()
    }

    #[getter]
    fn files(&self) -> u64 {
        self.item.files
    }

    #[getter]
    fn missed(&self) -> u64 {
        self.item.missed
    }

    #[getter]
    fn format(&self) -> Option<&'static str> {
        self.item.format
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.item.piece.counts.as_ref().map_or(0, |counts| counts.bytes)
    }

    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some((counts, format)) = self.item.piece.counts.as_ref().zip(self.item.format) else {
            return Ok(None);
        };
        counted(py, counts, format).map(Some)
    }
}
