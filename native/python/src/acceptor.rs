//! `Acceptor`, for Python.

use super::errors::{CLOSED, NO_SOCKET, NO_TIME};
use birthmark_acceptor::{take_descriptor, Acceptor, Address, Limits};
use pyo3::prelude::*;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[pyclass(name = "Acceptor", frozen)]
pub struct PyAcceptor {
    acceptor: Mutex<Option<Acceptor>>,
}

impl PyAcceptor {
    fn acceptor(&self) -> MutexGuard<'_, Option<Acceptor>> {
        self.acceptor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open<T>(&self, with: impl FnOnce(&Acceptor) -> T) -> PyResult<T> {
        self.acceptor().as_ref().map(with).ok_or_else(|| CLOSED.because("it is closed"))
    }
}

#[pymethods]
impl PyAcceptor {
    #[new]
    fn new(
        listener: RawFd,
        connections: usize,
        ready: usize,
        idle_seconds: f64,
        busy: Vec<u8>,
        tls: bool,
    ) -> PyResult<PyAcceptor> {
        let idle =
            Duration::try_from_secs_f64(idle_seconds).map_err(|error| NO_TIME.because(error))?;
        let listener = take_descriptor(listener)
            .ok_or_else(|| NO_SOCKET.because("expected a file descriptor"))?;
        let acceptor = Acceptor::open(listener, Limits { connections, ready, idle, busy, tls })?;
        Ok(PyAcceptor { acceptor: Mutex::new(Some(acceptor)) })
    }

    fn fileno(&self) -> PyResult<RawFd> {
        self.open(|acceptor| acceptor.notify_rx().as_raw_fd())
    }

    fn take_ready(&self, most: usize) -> PyResult<Vec<(RawFd, Address)>> {
        let raw = |(address, socket): (Address, OwnedFd)| (socket.into_raw_fd(), address);
        self.open(|acceptor| acceptor.take_ready(most).into_iter().map(raw).collect())
    }

    fn set_active_connections(&self, connections: usize) -> PyResult<()> {
        self.open(|acceptor| acceptor.set_active_connections(connections))
    }

    fn take_refused(&self) -> PyResult<u64> {
        self.open(Acceptor::take_refused)
    }

    fn close(&self, py: Python<'_>) {
        let acceptor = self.acceptor().take();
        py.detach(|| drop(acceptor));
    }
}
