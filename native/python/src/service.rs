//! `HttpService`, for Python.

use super::errors::{NO_SOCKET, NO_TIME};
use super::serve::PyAnswerer;
use birthmark_service::{
    take_descriptor, Answered, Config, Entry, Hints, Limits, Line, Model, Page, PathAccess,
    Service, Timed, Token,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::{HashMap, HashSet};
use std::os::fd::RawFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

/// A path: its scope, whether it is open, and the method that changes something.
type PyPath = (Option<String>, bool, Option<String>);
/// A page: header fields and HTML.
type PyPage = (Vec<(String, String)>, Vec<u8>);
/// An answered request for the log: model, format, body, answers, verdict, rows and time.
type PyEntry<'py> = (u64, &'static str, Bound<'py, PyBytes>, Bound<'py, PyBytes>, u8, u64, f64);
/// A line of the access log: request, method, route, path, status, seconds and bytes.
type PyLine = (String, String, String, String, u16, f64, usize);
/// The tokens by hash: names and scopes.
type PyTokens = HashMap<Vec<u8>, (String, Vec<String>)>;
/// Hints: the answerer, the image and its tag.
type PyHints<'py> = (PyRef<'py, PyAnswerer>, Vec<u8>, String);

/// The settings of a service; `serving/server/front.py` makes them.
#[derive(FromPyObject)]
pub struct PyConfig {
    threads: usize,
    max_requests: usize,
    max_connections: usize,
    max_body_bytes: usize,
    bodies: usize,
    queue_seconds: f64,
    timeout_seconds: f64,
    idle_seconds: f64,
    paths: HashMap<String, PyPath>,
    known_hosts: Vec<String>,
    with_tokens: bool,
    routes: HashSet<String>,
    bounds: Vec<f64>,
    access_log: bool,
    log_share: Option<f64>,
    upstream: PathBuf,
    no_model: String,
    process: String,
    certificate: Option<(Vec<u8>, Vec<u8>)>,
}

impl PyConfig {
    fn into_config(self) -> PyResult<Config> {
        let time =
            |seconds| Duration::try_from_secs_f64(seconds).map_err(|error| NO_TIME.because(error));
        let limits = Limits {
            max_requests: self.max_requests,
            max_connections: self.max_connections,
            max_body_bytes: self.max_body_bytes,
            bodies: self.bodies,
            queue: time(self.queue_seconds)?,
            timeout: time(self.timeout_seconds)?,
            idle: time(self.idle_seconds)?,
        };
        let path = |(path, (scope, is_open, changed_by)): (String, PyPath)| {
            (path, PathAccess { scope, is_open, changed_by })
        };
        Ok(Config {
            threads: self.threads,
            limits,
            paths: self.paths.into_iter().map(path).collect(),
            known_hosts: self.known_hosts,
            with_tokens: self.with_tokens,
            routes: self.routes,
            bounds: self.bounds,
            access_log: self.access_log,
            log_share: self.log_share,
            upstream: self.upstream,
            no_model: self.no_model,
            process: self.process,
            certificate: self.certificate,
        })
    }
}

#[pyclass(name = "HttpService", frozen)]
pub struct PyHttpService {
    service: Service,
}

#[pymethods]
impl PyHttpService {
    #[new]
    fn new(config: PyConfig) -> PyResult<PyHttpService> {
        Ok(PyHttpService { service: Service::new(config.into_config()?)? })
    }

    fn accept(&self, listener: RawFd, is_unix: bool) -> PyResult<()> {
        let listener = take_descriptor(listener)
            .ok_or_else(|| NO_SOCKET.because("expected a file descriptor"))?;
        Ok(self.service.accept(listener, is_unix)?)
    }

    fn pass_on(&self, pages: HashMap<String, PyPage>) {
        let page = |(kind, (headers, html)): (String, PyPage)| (kind, Page { headers, html });
        self.service.pass_on(pages.into_iter().map(page).collect());
    }

    #[pyo3(signature = (number, version, answerer, hints=None))]
    fn publish(
        &self,
        number: u64,
        version: String,
        answerer: PyRef<'_, PyAnswerer>,
        hints: Option<PyHints<'_>>,
    ) {
        let answerer = Arc::clone(&answerer.answerer);
        let hints = hints
            .map(|(answerer, image, etag)| Hints::new(Arc::clone(&answerer.answerer), image, etag));
        self.service.publish(Model { number, version, answerer, hints });
    }

    /// By the SHA-256 of their texts; None: their file cannot be read.
    fn set_tokens(&self, tokens: Option<PyTokens>) {
        let token = |(hash, (name, scopes))| (hash, Token { name, scopes });
        self.service.set_tokens(tokens.map(|tokens| tokens.into_iter().map(token).collect()));
    }

    fn set_certificate(&self, certificate: &[u8], key: &[u8]) -> PyResult<()> {
        self.service.set_certificate(certificate, key).map_err(PyValueError::new_err)
    }

    fn requests(&self) -> (Vec<Timed>, u64) {
        self.service.requests()
    }

    fn connections(&self) -> usize {
        self.service.connections()
    }

    fn parked(&self) -> usize {
        self.service.parked()
    }

    fn take_lines(&self) -> Vec<PyLine> {
        let line = |line: Line| {
            let Line { request, method, route, path, status, seconds, bytes } = line;
            (request, method, route, path, status, seconds, bytes)
        };
        self.service.take_lines().into_iter().map(line).collect()
    }

    fn take_log<'py>(&self, py: Python<'py>) -> (Vec<PyEntry<'py>>, u64) {
        let (entries, dropped) = self.service.take_log();
        let entry = |Entry { model, body, answered, rows, time }: Entry| {
            let (format, answers, verdict) = match answered {
                Answered::Json(answers) => ("json", answers, 0),
                Answered::Arrow(answers) => ("arrow", answers, 0),
                Answered::Hint(verdict) => ("hint", Vec::new(), verdict),
            };
            let [body, answers] = [&*body, &answers].map(|bytes| PyBytes::new(py, bytes));
            let time = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
            (model.number, format, body, answers, verdict, rows, time)
        };
        (entries.into_iter().map(entry).collect(), dropped)
    }

    fn stop(&self, py: Python<'_>, longest: f64) -> PyResult<()> {
        let longest = Duration::try_from_secs_f64(longest);
        let longest = longest.map_err(|error| NO_TIME.because(error))?;
        py.detach(|| self.service.stop(longest));
        Ok(())
    }
}
