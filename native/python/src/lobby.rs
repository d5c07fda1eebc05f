//! `Lobby`, for Python.

use super::errors::{CLOSED, NO_SOCKET, NO_TIME};
use birthmark_hook::take_descriptor;
use birthmark_lobby::{Lobby, Rules};
use pyo3::prelude::*;
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[pyclass(name = "Lobby", frozen)]
pub struct PyLobby {
    lobby: Mutex<Option<Lobby>>,
}

impl PyLobby {
    fn lobby(&self) -> MutexGuard<'_, Option<Lobby>> {
        self.lobby.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open<T>(&self, with: impl FnOnce(&Lobby) -> T) -> PyResult<T> {
        self.lobby().as_ref().map(with).ok_or_else(|| CLOSED.because("it is closed"))
    }
}

#[pymethods]
impl PyLobby {
    #[new]
    fn new(
        listener: RawFd,
        connections: usize,
        ready: usize,
        idle_seconds: f64,
        busy: Vec<u8>,
    ) -> PyResult<PyLobby> {
        let idle =
            Duration::try_from_secs_f64(idle_seconds).map_err(|error| NO_TIME.because(error))?;
        let listener = take_descriptor(listener)
            .ok_or_else(|| NO_SOCKET.because("expected a file descriptor"))?;
        let lobby = Lobby::open(listener, Rules { connections, ready, idle, busy })?;
        Ok(PyLobby { lobby: Mutex::new(Some(lobby)) })
    }

    fn fileno(&self) -> PyResult<RawFd> {
        self.open(|lobby| lobby.bell().as_raw_fd())
    }

    fn let_in(&self, most: usize) -> PyResult<Vec<RawFd>> {
        self.open(|lobby| lobby.let_in(most).into_iter().map(IntoRawFd::into_raw_fd).collect())
    }

    fn inside(&self, connections: usize) -> PyResult<()> {
        self.open(|lobby| lobby.inside(connections))
    }

    fn take_refused(&self) -> PyResult<u64> {
        self.open(Lobby::take_refused)
    }

    fn close(&self, py: Python<'_>) {
        let lobby = self.lobby().take();
        py.detach(|| drop(lobby));
    }
}
